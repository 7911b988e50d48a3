// Helpers to create, join and compare bytes.

const PERIOD = 251;

/** Returns `length` bytes, each its index modulo 251, as in `vectors/`. */
export function pattern(length) {
    const bytes = new Uint8Array(length);
    for (let at = 0; at < Math.min(length, PERIOD); at++) bytes[at] = at;
    // Doubles what is there, because every process creates its own: a loop over 10 MB takes longer than starting one.
    for (let filled = PERIOD; filled < length; filled *= 2) bytes.copyWithin(filled, 0, filled);
    return bytes;
}

/** Returns bytes as a string of characters 0 to 255, which libraries older than typed arrays need. */
export function binaryString(bytes) {
    let string = "";
    // A few thousand at a time, because the arguments of a call are on the stack.
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
 * Returns the output of a library as lowercase hexadecimal digits: it is a typed array, an ArrayBuffer, an array of bytes, or
 * already hexadecimal.
 */
export function hexadecimal(output) {
    if (typeof output === "string") return output;
    const bytes = output instanceof ArrayBuffer ? new Uint8Array(output) : output;
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The salt of every derived key. */
export const SALT = pattern(16);

/** Returns password `number`, 16 bytes. */
export function password(number) {
    return new TextEncoder().encode(`password ${String(number).padStart(7, "0")}`);
}
