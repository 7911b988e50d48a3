// Test inputs.
import { fromHex } from "mksum";

/** The patterns of vectors/, and a cache of their longest prefixes so far. */
const PATTERNS = { mod251: (at) => at % 251, pat: (at) => (at * 131 + (at >> 8) * 17) & 255 };
const cached = {};

/** Returns the first `len` bytes of a pattern. */
export function bytes(len, pattern = "mod251") {
    if ((cached[pattern]?.length ?? -1) < len) {
        cached[pattern] = Uint8Array.from({ length: len }, (_, at) => PATTERNS[pattern](at));
    }
    return cached[pattern].subarray(0, len);
}

/** Parses hex digits to bytes. */
export const HEX = fromHex;
