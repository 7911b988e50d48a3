// The lines of sum files, as spec/sumfile.md defines them and the tool reads them, and those that the page writes.
import { tool } from "../internal.js";

/**
 * A line of a sum file: a file and its claimed root.
 *
 * @typedef {object} Entry
 * @property {number} line The number of the line, from 1.
 * @property {string} path
 * @property {string} format
 * @property {string} root
 * @property {boolean} guessed Whether the sum could also be of other formats.
 * @property {boolean} parts Whether the size of its parts has to be found.
 * @property {{ start: number, end: number }} [range] The bytes that the root is of, if it is not of the whole file.
 */

/** @typedef {{ line: number, message: string }} Malformed */

const [encoder, decoder] = [new TextEncoder(), new TextDecoder()];

/** What is said of lines for which the tool names its own options. @type {Record<string, string>} */
const REASONS = { format: "the line does not name its format", path: "a sum without the name of its file" };

/**
 * Reads all lines of a sum file.
 *
 * @param {string} text
 * @param {string} [name] The name of the sum file, which may name the hash.
 * @returns {{ entries: Entry[], malformed: Malformed[] }}
 */
export function sumLines(text, name = "") {
    /** @type {Entry[]} */
    const entries = [];
    /** @type {Malformed[]} */
    const malformed = [];
    const list = tool.Lists.open(encoder.encode(text), tool.isManifest(name) ? "1.0" : "", ["", "", "", ""], name);
    try {
        for (let next = list.next(); next.kind !== "end"; next = list.next()) {
            if (next.kind === "malformed") malformed.push({ line: next.line, message: REASONS[next.word] ?? next.why });
            else {
                const { line, path, choice, root, others, guesses, range } = next;
                entries.push({ line, path: decoder.decode(path), format: choice.text, root, guessed: others !== "", parts: guesses, ...(range && { range }) });
            }
        }
    } finally {
        list.end();
    }
    return { entries, malformed };
}

/**
 * Returns the sum file of all files that have digests, whose lines name their formats, and the number of the others.
 *
 * @param {Iterable<{ path: string, roots: ReadonlyMap<string, string>, error: string | undefined }>} files
 */
export function sumFile(files) {
    let [text, left] = ["", 0];
    for (const { path, roots, error } of files) {
        if (error || roots.size === 0) left++;
        // No program reads lines of Keccak-256.
        else for (const [format, root] of roots) if (format !== "keccak256") text += decoder.decode(tool.sumLine(tool.choice(format).tag, root, encoder.encode(path), true));
    }
    return { text, left };
}
