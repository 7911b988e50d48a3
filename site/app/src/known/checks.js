// Compares files with what is known about them.
import { MksumError, Spec } from "mksum/fetch";
import { formatsFor } from "./claims.js";
import { folderOf, Finder } from "./matching.js";

/**
 * @typedef {import("./recognise.js").Known} Known
 * @typedef {import("./sum-lines.js").Entry} Entry
 *
 * @typedef {object} Subject A file as far as it is compared.
 * @property {string} path
 * @property {number} size
 * @property {ReadonlyMap<string, string>} roots
 * @property {ReadonlyMap<string, string>} refused
 * @property {string | undefined} error
 */

/**
 * The result of a comparison.
 *
 * @typedef {object} Verdict
 * @property {"match" | "mismatch" | "pending" | "unable"} state
 * @property {string} text One sentence.
 * @property {string} [format]
 * @property {string} [expected]
 * @property {string} [found]
 * @property {boolean} [others] Whether more formats can be tried.
 */

/** Unlikely formats are tried without being asked for if the file is no longer than this, in bytes. */
const SHORT = 1 << 28;

/** More files than this are not hashed in unlikely formats without being asked for. */
const FEW = 16;

/** @type {Map<string, { format: string } | { message: string }>} */
const parsed = new Map();

/** Returns a format in its canonical form, or an error as text. @param {string} format @returns {{ format: string } | { message: string }} */
export function canonical(format) {
    const known = parsed.get(format);
    if (known) return known;
    /** @type {{ format: string } | { message: string }} */
    let found;
    try {
        found = { format: Spec.parse(format).text };
    } catch (error) {
        found = { message: error instanceof MksumError ? error.message : String(error) };
        // The engine may be loaded later.
        if (error instanceof MksumError && error.code === "not-loaded") return found;
    }
    parsed.set(format, found);
    return found;
}

/** Returns the canonical formats of a claim, without those that the engine for browsers does not have. @param {import("./claims.js").Claim} claim @param {number} len */
function canonicalFor(claim, len) {
    const { first, others } = formatsFor(claim, len);
    return { first: allCanonical(first), others: allCanonical(others) };
}

/** @param {string[]} formats */
function allCanonical(formats) {
    return formats.map(canonical).flatMap((found) => ("format" in found ? [found.format] : []));
}

/** What is known, by file. */
export class Checks {
    /**
     * @param {readonly Subject[]} subjects
     * @param {readonly Known[]} known
     */
    constructor(subjects, known) {
        /** @private @type {readonly Subject[]} */
        this.subjects = subjects;
        /** All roots, once they are needed. @private @type {Set<string> | undefined} */
        this.roots = undefined;
        /** @private @type {Map<Subject, { entry: Entry, format: string | undefined, message: string, source: string }[]>} */
        this.entries = new Map();
        /** Lines of sum files without a file. @type {{ entry: Entry, source: string }[]} */
        this.missing = [];
        /** @private @type {(Known & { kind: "claim" })[]} */
        this.claims = known.filter((own) => own.kind === "claim");
        const finder = new Finder(subjects);
        for (const own of known) {
            if (own.kind !== "sums") continue;
            for (const entry of own.entries) {
                const only = subjects.length === 1 && own.entries.length === 1 && entry.path === "-" ? subjects[0] : undefined;
                const subject = /** @type {Subject | undefined} */ (finder.find(entry.path, folderOf(own.name))) ?? only;
                if (!subject) {
                    this.missing.push({ entry, source: own.name });
                    continue;
                }
                const spec = this.formatOf(entry);
                const list = this.entries.get(subject) ?? [];
                list.push({ entry, ...spec, source: own.name });
                this.entries.set(subject, list);
            }
        }
    }

    /** @private @param {Entry} entry @returns {{ format: string | undefined, message: string }} */
    formatOf(entry) {
        if (entry.range) return { format: undefined, message: "the line is about a part of the file, which this page does not check: use mksum -c" };
        if (entry.format.startsWith("dir:") || entry.format === "dir") {
            return { format: undefined, message: "the line is about a directory, which this page does not check: use mksum -c" };
        }
        const found = canonical(entry.format);
        if ("format" in found) return { format: found.format, message: "" };
        return { format: undefined, message: `${found.message}. Use mksum -c for formats that browsers do not have.` };
    }

    /**
     * Returns the formats in which a file must be hashed to be compared.
     *
     * @param {Subject} subject
     * @param {boolean} thorough Whether unlikely formats are tried for long files too.
     * @returns {string[]}
     */
    formatsOf(subject, thorough) {
        const formats = (this.entries.get(subject) ?? []).flatMap(({ format }) => (format ? [format] : []));
        if (this.claims.length > 0) this.roots ??= new Set(this.subjects.flatMap(({ roots }) => [...roots.values()]));
        for (const { claim } of this.claims) {
            const { first, others } = canonicalFor(claim, subject.size);
            formats.push(...first);
            const tried = first.every((format) => subject.roots.has(format) || subject.refused.has(format));
            const isShort = subject.size <= SHORT && this.subjects.length <= FEW;
            if (tried && !this.roots?.has(claim.text) && (thorough || isShort)) formats.push(...others);
        }
        return formats;
    }

    /**
     * Returns the verdicts about a file.
     *
     * @param {Subject} subject
     * @returns {Verdict[]}
     */
    verdictsOf(subject) {
        if (subject.error) return [];
        return [
            ...(this.entries.get(subject) ?? []).map((own) => entryVerdict(subject, own)),
            ...this.claims.flatMap((own) => this.claimVerdict(subject, own.claim) ?? []),
        ];
    }

    /** @private @param {Subject} subject @param {import("./claims.js").Claim} claim @returns {Verdict | undefined} */
    claimVerdict(subject, claim) {
        for (const [format, root] of subject.roots) {
            if (root === claim.text) return { state: "match", text: `This is the ${shown(format)} of the file.`, format, expected: claim.text, found: root };
        }
        // Among several files, a digest says nothing about those that it is not of.
        if (this.subjects.length > 1) return undefined;
        const { first, others } = canonicalFor(claim, subject.size);
        if (claim.parts !== undefined && first.length === 0) {
            return { state: "mismatch", expected: claim.text, text: `No part size divides a file of ${subject.size} bytes into ${claim.parts} parts. The file has another length than the object.` };
        }
        if (claim.format && first.length === 0) return { state: "unable", text: `This page cannot compute ${shown(claim.format)}. Use the command-line tool.`, expected: claim.text };
        const known = (/** @type {string} */ format) => subject.roots.has(format) || subject.refused.has(format);
        if (!first.every(known)) return { state: "pending", text: "Comparing …", expected: claim.text };
        const left = others.filter((format) => !known(format));
        const tried = [...first, ...others].filter(known).length;
        if (left.length > 0 && subject.size <= SHORT) return { state: "pending", text: `Not ${first.map(shown).join(" or ")}. Trying ${left.length} other formats …`, expected: claim.text };
        if (claim.parts !== undefined) return { state: "mismatch", expected: claim.text, text: `None of ${tried} part sizes that fit gives this ETag or checksum.` };
        const single = first.length === 1 && others.length === 0 ? first[0] : undefined;
        return {
            state: "mismatch", expected: claim.text, others: left.length > 0,
            ...(single && subject.roots.has(single) ? { format: single, found: /** @type {string} */ (subject.roots.get(single)) } : {}),
            text: single ? `The ${shown(single)} of the file is another one.` : `The file has another digest in each of the ${tried} formats that were tried.`,
        };
    }

    /**
     * Returns whether a claim is the digest of any file: `undefined` as long as one is being hashed.
     *
     * @param {import("./claims.js").Claim} claim
     * @param {(subject: Subject) => boolean} busy
     */
    fileOf(claim, busy) {
        const found = this.subjects.find(({ roots }) => [...roots.values()].includes(claim.text));
        return found ?? (this.subjects.some(busy) ? undefined : null);
    }
}

/** @param {Subject} subject @param {{ entry: Entry, format: string | undefined, message: string, source: string }} own @returns {Verdict} */
function entryVerdict(subject, { entry, format, message, source }) {
    const place = `${source}, line ${entry.line}`;
    if (format === undefined) return { state: "unable", text: `${place}: ${message}`, expected: entry.root };
    const refused = subject.refused.get(format);
    if (refused) return { state: "mismatch", text: `${place}: ${refused}`, format, expected: entry.root };
    const found = subject.roots.get(format);
    if (found === undefined) return { state: "pending", text: `Comparing with ${place} …`, format, expected: entry.root };
    const same = found === entry.root || (/^[0-9a-fA-F]+$/.test(entry.root) && found === entry.root.toLowerCase());
    const guess = !same && entry.guessed ? ` The line does not name its format; ${shown(format)} is the most usual one of this length.` : "";
    return {
        state: same ? "match" : "mismatch", format, expected: entry.root, found,
        text: same ? `Matches ${place} (${shown(format)}).` : `Does not match ${place} (${shown(format)}).${guess}`,
    };
}

/** Returns the name of a format as people write it. @param {string} format */
export function shown(format) {
    const names = /** @type {Record<string, string>} */ ({
        md5: "MD5", sha1: "SHA-1", sha224: "SHA-224", sha256: "SHA-256", sha384: "SHA-384", sha512: "SHA-512", "sha512-256": "SHA-512/256",
        "sha3-224": "SHA3-224", "sha3-256": "SHA3-256", "sha3-384": "SHA3-384", "sha3-512": "SHA3-512", blake2b: "BLAKE2b",
        blake2s: "BLAKE2s", ripemd160: "RIPEMD160", blake3: "BLAKE3",
    });
    const etag = /^s3:md5:(.+)$/.exec(format);
    if (etag) return `S3 ETag with parts of ${etag[1]}`;
    const sum = /^s3:(\w+):(.+)$/.exec(format);
    if (sum?.[1]) return `S3 ${names[sum[1]] ?? sum[1]} checksum with parts of ${sum[2]}`;
    return names[format] ?? format;
}
