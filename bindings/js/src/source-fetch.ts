import { MksumError } from "./errors.js";
import { compileFile } from "./file.js";
import { hasSimd } from "./probe.js";

/** Throws, because the module has to be fetched first. */
export function compileSync(): never {
    throw new MksumError("not-loaded", "WebAssembly is not loaded yet: call `await load()` first");
}

/** Fetches and compiles the module for this engine. */
export async function compile(): Promise<WebAssembly.Module> {
    // Two literal URLs, so that bundlers find them.
    return compileFile(hasSimd() ? new URL("./simd.wasm", import.meta.url) : new URL("./scalar.wasm", import.meta.url));
}
