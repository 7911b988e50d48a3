// Inputs.
import { fromHex } from "mksum";

/** The first bytes of the patterns of vectors/, each made once. */
const PATTERNS = { mod251: (at) => at % 251, pat: (at) => (at * 131 + (at >> 8) * 17) & 255 };
const made = {};

/** Bytes of a pattern. */
export function bytes(len, pattern = "mod251") {
    if ((made[pattern]?.length ?? -1) < len) {
        made[pattern] = Uint8Array.from({ length: len }, (_, at) => PATTERNS[pattern](at));
    }
    return made[pattern].subarray(0, len);
}

/** Bytes of hex digits. */
export const HEX = fromHex;
