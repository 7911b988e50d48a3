// What a pasted text or a dropped file is: a digest, a sum file, an outboard or a proof.
import { MksumError, Outboard, Proof, toHex } from "mksum/fetch";
import { loaded } from "../engine.js";
import { tool } from "../internal.js";
import { textOf } from "../text/decoded.js";
import { digestsOf } from "./digests.js";
import { isOfLog, recogniseLog } from "./log-texts.js";
import { sumLines } from "./sum-lines.js";

/**
 * @typedef {{ kind: "claim", name: string, claim: import("./claims.js").Claim, malformed: import("./sum-lines.js").Malformed[] }} KnownClaim
 * @typedef {{ kind: "sums", name: string, entries: import("./sum-lines.js").Entry[], malformed: import("./sum-lines.js").Malformed[] }} KnownSums
 * @typedef {{ kind: "outboard", name: string, outboard: Outboard }} KnownOutboard
 * @typedef {{ kind: "proof", name: string, proof: Proof }} KnownProof
 * @typedef {import("./log-texts.js").KnownLogProof} KnownLogProof
 * @typedef {import("./log-texts.js").KnownTrust} KnownTrust
 * @typedef {{ kind: "unknown", name: string, message: string }} Unknown
 * @typedef {KnownClaim | KnownSums | KnownOutboard | KnownProof | KnownLogProof | KnownTrust | Unknown} Known
 */

const OUTBOARD = "894d4b540d0a1a0a";
const PROOF = toHex(new TextEncoder().encode("mksumprf"));

/** The names of lists, and what each list has: a sum in hex or base64. */
const LIST = /(^|[^a-z])(sha|shasum|md5|b2|b3|blake|check)[a-z0-9_-]*sums?([^a-z]|$)/i;
const SUM = /[0-9a-f]{8}|[a-z0-9+/]{6}==?/i;

/** The longest sum file that is read, in bytes. Outboards and proofs may be longer. */
export const LONGEST_TEXT = 1 << 26;

const HELP = "Paste a digest in hex or base64, an ETag, the lines of a sum file or the key of a log, or drop a sum file, an outboard (.mkt) or a proof.";

/**
 * Recognises a pasted text.
 *
 * @param {string} text
 * @param {string} [name] The name of the file that it comes from.
 * @returns {Promise<Known[]>} Empty for an empty text.
 */
export async function recogniseText(text, name = "") {
    const ofLog = await recogniseLog(text, name);
    if (ofLog) return [ofLog];
    try {
        await loaded();
    } catch (error) {
        return [{ kind: "unknown", name, message: error instanceof Error ? error.message : String(error) }];
    }
    return recogniseOther(text, name);
}

/** Recognises a text that is not about a log. @param {string} text @param {string} name @returns {Promise<Known[]>} */
async function recogniseOther(text, name) {
    const lines = text.split(/\r?\n/).map((line) => line.trim());
    const first = lines.find((line) => line !== "");
    if (first === undefined) return [];
    const packed = lines.join("").toLowerCase();
    if (packed.startsWith(PROOF) && /^([0-9a-f]{2})+$/.test(packed)) {
        const proof = recogniseBinary(Uint8Array.from(packed.match(/../g) ?? [], (pair) => parseInt(pair, 16)), name || "pasted proof");
        return proof ? [proof] : [];
    }
    // A sum alone in x.iso.sha256 is about x.iso.
    if (tool.loneFile(name) === "") {
        const digests = await digestsOf(lines);
        if (digests) {
            const { claims, malformed } = digests;
            if (claims.length === 0) return [{ kind: "unknown", name, message: `${name || "pasted digests"}: ${malformed[0]?.message}. ${HELP}` }];
            return claims.map((claim) => ({ kind: "claim", name, claim, malformed }));
        }
    }
    const { entries, malformed } = sumLines(text, name);
    if (entries.length > 0) return [{ kind: "sums", name: name || "pasted sums", entries, malformed }];
    const found = first.length > 60 ? `${first.slice(0, 60)}…` : first;
    return [{ kind: "unknown", name, message: `“${found}” is not a digest or a sum file that this page knows. ${HELP}` }];
}

/**
 * Recognises the content of a file.
 *
 * @param {Uint8Array} bytes
 * @param {string} name
 * @returns {Promise<Known[]>}
 */
export async function recogniseBytes(bytes, name) {
    const binary = recogniseBinary(bytes, name);
    if (binary) return [binary];
    const text = textOf(bytes);
    const known = text === undefined ? [] : await recogniseText(text, name);
    return known.length > 0 ? known : [{ kind: "unknown", name, message: `${name} is empty or not text, and neither an outboard nor a proof. ${HELP}` }];
}

/** Recognises an outboard or a proof by its first bytes. @param {Uint8Array} bytes @param {string} name @returns {Known | undefined} */
function recogniseBinary(bytes, name) {
    const magic = toHex(bytes.subarray(0, 8));
    try {
        if (magic === OUTBOARD) return { kind: "outboard", name, outboard: Outboard.open(bytes) };
        if (magic === PROOF) return { kind: "proof", name, proof: Proof.parse(bytes) };
    } catch (error) {
        if (!(error instanceof MksumError)) throw error;
        return { kind: "unknown", name, message: `${name}: ${error.message}` };
    }
    return undefined;
}

/**
 * Returns whether a dropped file is what is known about others, rather than a file to hash: by its first bytes, or by its
 * name if it has the form of a sum file.
 *
 * @param {string} name
 * @param {Uint8Array} head The first 4 KiB, at most.
 * @param {number} len
 */
export async function isKnowledge(name, head, len) {
    const magic = toHex(head.subarray(0, 8));
    if (magic === OUTBOARD || magic === PROOF) return true;
    const text = textOf(head);
    if (text !== undefined && isOfLog(text, name)) return true;
    const base = name.slice(name.lastIndexOf("/") + 1);
    if (len > LONGEST_TEXT || text === undefined || !SUM.test(text)) return false;
    try {
        await loaded();
    } catch {
        // The reason is said when the list is read.
        return LIST.test(base);
    }
    if (!LIST.test(base) && tool.loneFile(base) === "" && !tool.isManifest(base)) return false;
    // The last line of the head may be cut.
    const whole = head.length < len ? text.slice(0, text.lastIndexOf("\n")) : text;
    return (await recogniseOther(whole, base)).some(({ kind }) => kind === "sums" || kind === "claim");
}
