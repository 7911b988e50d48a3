// The source on the site: a small module with all formats and the parser of lists, without SIMD, proofs and outboards.
import { MksumError } from "./errors.js";
import { compileFile } from "./file.js";

/** Throws, because the module has to be fetched first. */
export function compileSync(): never {
    throw new MksumError("not-loaded", "WebAssembly is not loaded yet: call `await load()` first");
}

/** Fetches and compiles the module. */
export async function compile(): Promise<WebAssembly.Module> {
    return compileFile(new URL("./sums.wasm", import.meta.url));
}
