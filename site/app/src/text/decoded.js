// The text of files.

/**
 * Decodes the text of a file: UTF-8, or UTF-16 with a byte order mark. `undefined` if it is not text.
 *
 * @param {Uint8Array} bytes
 */
export function textOf(bytes) {
    const wide = bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : bytes[0] === 0xfe && bytes[1] === 0xff ? "utf-16be" : "utf-8";
    try {
        const text = new TextDecoder(wide, { fatal: wide !== "utf-8" }).decode(bytes);
        return text.includes("\0") ? undefined : text;
    } catch {
        return undefined;
    }
}
