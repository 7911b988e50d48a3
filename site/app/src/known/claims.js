// A claimed digest without a file name: a pasted checksum, an ETag, the value of a header.
import { fromBase64, hexOf, toBase64 } from "./encodings.js";
import { fitting, namedBy } from "./hash-names.js";
import { partSizes } from "./part-sizes.js";

/**
 * A claimed digest. `text` is written as the engine writes roots: lowercase hex, or S3's text with the number of parts.
 *
 * @typedef {object} Claim
 * @property {string} text
 * @property {string} [format] The format, if it was named.
 * @property {string} [hash] For a sum of parts: the hash.
 * @property {number} [parts] For a sum of parts: their number.
 */

/** The hashes of S3's sums of parts by the bytes of their digests. */
const OF_PARTS = new Map([[20, "sha1"], [32, "sha256"], [64, "sha512"]]);

/** Formats that are tried at once; the others follow if none of these matches. */
const FIRST = ["crc32", "crc32c", "crc64nvme", "md5", "sha1", "sha224", "sha256", "blake3", "sha384", "sha512", "blake2b"];

/**
 * Reads a digest with what people copy around it: quotes, a header's name, `sha256:`, `sha256-` (base64).
 *
 * @param {string} text
 * @returns {Claim | undefined}
 */
export function claimOf(text) {
    const whole = text.trim().replace(/^W\//, "");
    const quoted = /^(["'`])(.*)\1$/s.exec(whole);
    const inner = quoted?.[2]?.trim() ?? whole;
    const plain = bareClaim(inner);
    if (plain) return plain;
    // A name before it: `ETag: "…"`, `sha256:…`, `SHA-256 = …`, `sha256-…`.
    const named = /^([A-Za-z][A-Za-z0-9/_ -]*?)\s*(?:[:=]|-(?=[A-Za-z0-9+/=]+$))\s*(\S.*)$/s.exec(inner);
    if (!named?.[1] || !named[2] || named[2] === inner) return undefined;
    // A checksum in base64 is so short that only a name before it tells it from a word.
    const claim = claimOf(named[2]) ?? (/crc/i.test(named[1]) ? base64Claim(named[2]) : undefined);
    if (!claim) return undefined;
    if (claim.parts !== undefined || claim.format !== undefined) return claim;
    const words = named[1].trim();
    const format = [words.replaceAll(" ", ""), ...words.split(/[ -]/).slice(-1)].map((word) => namedBy(word, claim.text.length)).find(Boolean);
    return format === undefined ? claim : { ...claim, format };
}

/** @param {string} text @returns {Claim | undefined} */
function bareClaim(text) {
    const hex = text.replaceAll(":", "").replace(/\s+/g, "");
    // Hex digits may be grouped by colons or spaces, all groups alike.
    const grouped = /^[0-9a-fA-F]+$/.test(text) || /^([0-9a-fA-F]{2})([: ][0-9a-fA-F]{2})+$/.test(text) || /^[0-9a-fA-F]{4}( [0-9a-fA-F]{4})+$/.test(text);
    if (grouped && fitting(hex.length).length > 0) return { text: hex.toLowerCase() };
    const etag = /^([0-9a-fA-F]{32})-([1-9]\d{0,8})$/.exec(text);
    if (etag?.[1]) return { text: `${etag[1].toLowerCase()}-${etag[2]}`, hash: "md5", parts: Number(etag[2]) };
    const sum = /^([A-Za-z0-9+/]+={0,2})-([1-9]\d{0,8})$/.exec(text);
    const digest = sum?.[1] && fromBase64(sum[1]);
    const hash = digest && OF_PARTS.get(digest.length);
    if (hash && digest) return { text: `${toBase64(digest)}-${sum[2]}`, hash, parts: Number(sum[2]) };
    return text.length >= 20 ? base64Claim(text) : undefined;
}

/** @param {string} text @returns {Claim | undefined} */
function base64Claim(text) {
    const bytes = fromBase64(text);
    return bytes && fitting(2 * bytes.length).length > 0 ? { text: hexOf(bytes) } : undefined;
}

/**
 * Returns the formats that a claim about a file of `len` bytes can be in, without trees: those that are tried at once, and the others.
 *
 * @param {Claim} claim
 * @param {number} len
 * @returns {{ first: string[], others: string[] }}
 */
export function formatsFor({ text, format, hash, parts }, len) {
    if (format) return { first: [format], others: [] };
    if (parts !== undefined) return { first: partSizes(len, parts).map((size) => `s3:${hash}:${size}`), others: [] };
    const sums = fitting(text.length);
    return { first: sums.filter((name) => FIRST.includes(name)), others: sums.filter((name) => !FIRST.includes(name)) };
}
