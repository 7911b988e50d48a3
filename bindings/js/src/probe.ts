/** A module with one function that needs simd128: `(func (drop (i8x16.splat (i32.const 0))))`. */
const PROBE = /* @__PURE__ */ Uint8Array.of(
    0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, // the magic bytes, version 1
    1, 4, 1, 0x60, 0, 0, // one type: no parameters, no results
    3, 2, 1, 0, // one function of it
    10, 9, 1, 7, 0, 0x41, 0, 0xfd, 0x0f, 0x1a, 0x0b, // i32.const 0, i8x16.splat, drop, end
);

/** Returns whether this engine supports WebAssembly's 128-bit vectors. */
export function hasSimd(): boolean {
    return WebAssembly.validate(PROBE);
}
