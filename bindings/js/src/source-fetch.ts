import { MksumError } from "./errors.js";
import { hasSimd } from "./probe.js";

/** Never: the module comes over the network. */
export function now(): never {
    throw new MksumError("not-loaded", "WebAssembly is not loaded yet: `await load()` first");
}

/** The module of this engine's kind, from beside this file. */
export async function later(): Promise<WebAssembly.Module> {
    // Both written out, so that bundlers see them.
    const url = hasSimd() ? new URL("./simd.wasm", import.meta.url) : new URL("./scalar.wasm", import.meta.url);
    if (url.protocol === "file:") {
        // Node's fetch reads no files.
        const { readFile } = await import(/* @vite-ignore */ "node:fs/promises");
        return WebAssembly.compile(await readFile(url));
    }
    const response = await fetch(url);
    if (!response.ok) {
        throw new MksumError("source", `${url}: expected WebAssembly, found status ${response.status}`);
    }
    return WebAssembly.compile(await response.arrayBuffer());
}
