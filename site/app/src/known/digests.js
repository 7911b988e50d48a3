// A list of digests without file names: files are looked up in it.
import { toHex } from "mksum/fetch";
import { counted } from "../text/sizes.js";
import { claimOf } from "./claims.js";

/** @typedef {import("./claims.js").Claim} Claim @typedef {import("./sum-lines.js").Malformed} Malformed */

/** Up to so many digests are compared one by one: a page that offers a file often has several of its digests. More are a list. */
export const FEW = 16;

/** After so many milliseconds of reading the page handles its events. */
const AT_ONCE = 20;

const HEX = /^[0-9a-f]+$/;

/** What stands before a digest, and the digest in hex or base64. */
const LINE = /^(.*[:=-]\s*)?(?:([0-9a-f]+)|([0-9a-z+/]+={0,2}))$/i;

/** Returns the digest of a line in hex, and what decides on its formats: all but its digits. @param {string} line */
function parsed(line) {
    const [, before = "", hex, base64] = LINE.exec(line) ?? [];
    if (hex) return { shape: `${before}${hex.length}`, digest: hex.toLowerCase() };
    try {
        return base64 ? { shape: `${before}${base64.length} in base64`, digest: toHex(Uint8Array.from(atob(base64), (one) => one.charCodeAt(0))) } : undefined;
    } catch {
        // Not base64.
        return undefined;
    }
}

/** The digests of a list, by the line on which each stands first. */
class Digests {
    /** @private @type {Map<string, number>} */
    lines = new Map();

    /** @param {string} digest @param {number} line */
    add(digest, line) {
        if (!this.lines.has(digest)) this.lines.set(digest, line);
    }

    /** Returns the line of a root, in whatever form its format prints it. @param {string} root @returns {number | undefined} */
    lineOf(root) {
        return this.lines.get(root) ?? (HEX.test(root) ? undefined : this.lines.get(claimOf(root)?.text ?? ""));
    }

    /** @param {string} root */
    has(root) {
        return this.lineOf(root) !== undefined;
    }
}

/**
 * Reads lines of which each is a digest or empty. `read` reads one. Digests that are written alike can be of the same formats, so that it reads
 * only the first of them.
 *
 * @param {readonly string[]} lines
 * @param {typeof claimOf} [read]
 * @returns {Promise<{ claims: Claim[], malformed: Malformed[] } | undefined>} `undefined` if a line is something else.
 */
export async function digestsOf(lines, read = claimOf) {
    const filled = lines.filter((line) => line !== "");
    if (filled.length <= FEW) {
        const claims = filled.flatMap((line) => read(line) ?? []);
        return claims.length === filled.length ? { claims, malformed: [] } : undefined;
    }
    const digests = new Digests();
    /** @type {Set<string>} */
    const shapes = new Set();
    /** A claim for each choice of formats. @type {Map<string, Claim>} */
    const kinds = new Map();
    /** @type {Malformed[]} */
    const malformed = [];
    let began = performance.now();
    for (const [at, own] of lines.entries()) {
        if (performance.now() - began > AT_ONCE) {
            await new Promise((resolve) => setTimeout(resolve));
            began = performance.now();
        }
        if (own === "") continue;
        const like = parsed(own);
        if (like && shapes.has(like.shape)) {
            digests.add(like.digest, at + 1);
            continue;
        }
        const claim = read(own);
        if (!claim) return undefined;
        if (claim.parts !== undefined) {
            malformed.push({ line: at + 1, message: "the ETag of an upload in parts is compared alone, not in a list" });
            continue;
        }
        if (like?.digest === claim.text) shapes.add(like.shape);
        kinds.set([...claim.first, "", ...claim.others].join(" "), claim);
        digests.add(claim.text, at + 1);
    }
    const all = [...kinds.values()];
    if (all.length === 0) return { claims: [], malformed };
    const [first, others] = [all.flatMap((own) => own.first), all.flatMap((own) => own.others)];
    return { claims: [{ text: counted(filled.length - malformed.length, "digest"), texts: digests, lineOf: (root) => digests.lineOf(root), first, others }], malformed };
}
