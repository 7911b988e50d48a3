import { MksumError } from "./errors.js";
import { inflate } from "./inflate.js";
import { hasSimd } from "./probe.js";
import { packed } from "./simd.js";

/** The module, at once: where there is SIMD, as almost everywhere. */
export function now(): WebAssembly.Module {
    if (hasSimd()) return new WebAssembly.Module(unpacked(packed));
    throw new MksumError("not-loaded", "this engine has no WebAssembly SIMD: `await load()` once, for a build without");
}

/** The module, compiled aside: of this engine's kind. */
export async function later(): Promise<WebAssembly.Module> {
    return WebAssembly.compile(unpacked(hasSimd() ? packed : (await import("./scalar.js")).packed));
}

/** A module as it is inlined: its bytes packed by DEFLATE, in base64, and how many they are. */
export type Packed = readonly [base64: string, size: number];

function unpacked([base64, size]: Packed): Uint8Array<ArrayBuffer> {
    const binary = atob(base64);
    const bytes = new Uint8Array(binary.length);
    for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
    return inflate(bytes, size);
}
