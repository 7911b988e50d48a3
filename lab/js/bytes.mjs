// Bytes as the study feeds, joins and compares them.

/** `length` bytes, each its index modulo 251, as in `vectors/`. */
export function pattern(length) {
    return Uint8Array.from({ length }, (_, index) => index % 251);
}

/** The bytes as a string of characters 0 to 255, as libraries from before typed arrays want it. */
export function binaryString(bytes) {
    let string = "";
    // Arguments of one call lie on the stack: a few thousand at a time.
    for (let at = 0; at < bytes.length; at += 8192)
        string += String.fromCharCode.apply(null, bytes.subarray(at, at + 8192));
    return string;
}

export function concatenated(pieces) {
    const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
    let at = 0;
    for (const piece of pieces) {
        whole.set(piece, at);
        at += piece.length;
    }
    return whole;
}

/**
 * Lower-case hexadecimal digits of what libraries return: typed arrays, ArrayBuffers, arrays of bytes, or hexadecimal
 * already.
 */
export function hexadecimal(output) {
    if (typeof output === "string") return output;
    const bytes = output instanceof ArrayBuffer ? new Uint8Array(output) : output;
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The salt of every derived key. */
export const SALT = pattern(16);

/** Password `number`, 16 bytes. */
export function password(number) {
    return new TextEncoder().encode(`password ${String(number).padStart(7, "0")}`);
}
