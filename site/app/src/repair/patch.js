// Files put together from intact ranges of one file and good ranges of another. No byte is copied.
import { withLength } from "../damage/compare.js";

/** @typedef {{ readonly start: number, readonly end: number, readonly bytes: Blob }} Patch */

/**
 * Returns a file of `len` bytes in which patches replace the ranges that they are for.
 *
 * @param {Blob} file
 * @param {number} len
 * @param {readonly Patch[]} patches Sorted, without overlap.
 * @returns {Blob}
 */
export function patched(file, len, patches) {
    const whole = withLength(file, len);
    /** @type {Blob[]} */
    const parts = [];
    let at = 0;
    for (const { start, end, bytes } of patches) {
        if (bytes.size !== end - start) throw new Error(`bytes ${start}..${end} of the copy: expected ${end - start} bytes, found ${bytes.size}`);
        parts.push(whole.slice(at, start), bytes);
        at = end;
    }
    return new Blob([...parts, whole.slice(at)]);
}

/**
 * Writes patches to a file in place: the browser writes a copy, and replaces the file when all is written.
 *
 * @param {FileSystemFileHandle} handle
 * @param {File} compared The file as it was compared. If it has changed since, nothing is written.
 * @param {number} len
 * @param {readonly Patch[]} patches
 */
export async function writeInPlace(handle, compared, len, patches) {
    const current = await handle.getFile();
    if (current.size !== compared.size || current.lastModified !== compared.lastModified) {
        throw new Error("the file has changed since it was compared, so nothing was written. Choose the file again.");
    }
    const writable = await handle.createWritable({ keepExistingData: true });
    try {
        for (const { start, bytes } of patches) await writable.write({ type: "write", position: start, data: bytes });
        await writable.truncate(len);
    } catch (error) {
        await writable.abort();
        throw error;
    }
    await writable.close();
}

/**
 * Returns the damaged ranges as text, for other tools.
 *
 * @param {string} path
 * @param {readonly import("../damage/ranges.js").Range[]} ranges
 */
export function rangesText(path, ranges) {
    const lines = ranges.map(({ start, end }) => `${start}..${end}`);
    return `# Damaged ranges of ${path.replaceAll("\n", " ")}: START..END in bytes, END is not included.\n# curl --range START-$((END-1)) fetches one.\n${lines.join("\n")}\n`;
}
