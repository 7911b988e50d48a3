import type { OwnBytes } from "./bytes.js";
import { MksumError } from "./errors.js";
import { hasSimd } from "./probe.js";

/**
 * Compiles an inlined module synchronously.
 *
 * @throws {MksumError} `not-loaded` if this engine has no SIMD, which such modules need.
 */
export function compileText(encoded: string): WebAssembly.Module {
    if (hasSimd()) return new WebAssembly.Module(decoded(encoded));
    throw new MksumError("not-loaded", "this engine has no WebAssembly SIMD: call `await load()` for a build without it");
}

/** The characters of an encoded module, in order: printable ASCII without those that scripts and pages escape. */
const CHARACTERS = /* @__PURE__ */ Array.from({ length: 93 }, (_, at) => 32 + at).filter(
    (code) => !'"$<\\`'.includes(String.fromCharCode(code)),
);

/** Decodes an inlined module: see `encode` in `scripts/build.js`. */
export function decoded(text: string): OwnBytes {
    const codes = new TextEncoder().encode(text);
    const head = 2 * CHARACTERS.length;
    const often = Array.from(CHARACTERS, (_, at) => parseInt(text.slice(2 * at, 2 * at + 2), 16));
    const seldom = Array.from({ length: 256 }, (_, value) => value).filter((value) => !often.includes(value));
    // The values of characters alone, after `}` and after `~`.
    const values = new Uint8Array(3 * 128);
    CHARACTERS.forEach((code, at) => {
        for (const [table, all] of [often, seldom, seldom.slice(CHARACTERS.length)].entries()) values[table * 128 + code] = all[at]!;
    });
    let [table, len] = [0, 0];
    // In place, because a value is never shorter as text.
    for (let at = head; at < codes.length; at++) {
        const code = codes[at]!;
        if (code >= 0x7d) {
            table = (code - 0x7c) << 7;
        } else {
            codes[len++] = values[table + code]!;
            table = 0;
        }
    }
    return codes.subarray(0, len);
}
