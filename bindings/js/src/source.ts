import { compileText, decoded } from "./decoded.js";
import { compileFile } from "./file.js";
import { hasSimd } from "./probe.js";
import { encoded } from "./simd.js";

/** Compiles the module synchronously, if this engine has SIMD. */
export function compileSync(): WebAssembly.Module {
    return compileText(encoded);
}

/** Compiles the module for this engine asynchronously. The one without SIMD is a file for all entries, which few pages ever fetch. */
export async function compile(): Promise<WebAssembly.Module> {
    return hasSimd() ? WebAssembly.compile(decoded(encoded)) : compileFile(new URL("./fetch/scalar.wasm", import.meta.url));
}
