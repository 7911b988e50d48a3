// Compares a file with an outboard. A file of another length is compared too: damage is then also what is missing.
import { merged, total } from "./ranges.js";

/**
 * @typedef {import("./ranges.js").Range} Range
 * @typedef {object} Comparison
 * @property {import("mksum/fetch").Outboard} outboard
 * @property {string} name The outboard's name.
 * @property {"busy" | "done" | "failed"} state
 * @property {Range[]} ranges The damaged bytes of the file, in the length that the outboard states.
 * @property {Range[]} ofOutboard The bytes whose digests in the outboard are damaged.
 * @property {string | undefined} message
 */

/** Zeros in place of bytes that a file lacks. */
const ZEROS = 1 << 24;

/**
 * Returns a file with exactly `len` bytes: cut, or extended with zeros. No byte is copied.
 *
 * @param {Blob} file
 * @param {number} len
 * @returns {Blob}
 */
export function withLength(file, len) {
    if (file.size === len) return file;
    if (file.size > len) return file.slice(0, len);
    const [parts, zeros] = [/** @type {Blob[]} */ ([file]), new Blob([new Uint8Array(Math.min(ZEROS, len - file.size))])];
    for (let left = len - file.size; left > 0; left -= zeros.size) parts.push(left < zeros.size ? zeros.slice(0, left) : zeros);
    return new Blob(parts);
}

/**
 * Returns the damaged ranges of a file.
 *
 * @param {Blob} file
 * @param {import("mksum/fetch").Outboard} outboard
 * @param {import("mksum/fetch").Options} options
 * @returns {Promise<{ ranges: Range[], ofOutboard: Range[] }>}
 */
export async function compare(file, outboard, options) {
    const found = await outboard.damagedOf(withLength(file, outboard.len), options);
    const of = (/** @type {"file" | "outboard"} */ what) => found.filter((damage) => damage.of === what);
    // Zeros that stand for missing bytes are damage, even where the file had zeros.
    const missing = file.size < outboard.len ? [{ start: file.size, end: outboard.len }] : [];
    return { ranges: merged([...of("file"), ...missing]), ofOutboard: merged(of("outboard")) };
}

/**
 * Returns the number of damaged bytes.
 *
 * @param {Comparison} comparison
 */
export function damagedBytes({ ranges }) {
    return total(ranges);
}
