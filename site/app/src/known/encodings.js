// Digests as text: hex in either case, and base64.

/**
 * Decodes base64 with padding (RFC 4648, section 4), or returns `undefined`.
 *
 * @param {string} text
 * @returns {Uint8Array<ArrayBuffer> | undefined}
 */
export function fromBase64(text) {
    if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return undefined;
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    // Bits that are left over must be zero.
    return toBase64(bytes) === text ? bytes : undefined;
}

/** @param {Uint8Array} bytes */
export function toBase64(bytes) {
    return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

/** @param {Uint8Array} bytes */
export function hexOf(bytes) {
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

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
