import { MksumError } from "./errors.js";
import { hasSimd } from "./probe.js";
import { base64 } from "./simd.js";

/** The module, at once: where there is SIMD, as almost everywhere. */
export function now(): WebAssembly.Module {
    if (hasSimd()) return new WebAssembly.Module(decoded(base64));
    throw new MksumError("not-loaded", "this engine has no WebAssembly SIMD: `await load()` once, for a build without");
}

/** The module, compiled aside: of this engine's kind. */
export async function later(): Promise<WebAssembly.Module> {
    return WebAssembly.compile(decoded(hasSimd() ? base64 : (await import("./scalar.js")).base64));
}

function decoded(text: string): Uint8Array<ArrayBuffer> {
    const binary = atob(text);
    const bytes = new Uint8Array(binary.length);
    for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
    return bytes;
}
