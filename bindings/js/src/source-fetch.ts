import { builtin } from "./builtin.js";
import { MksumError } from "./errors.js";
import { hasSimd } from "./probe.js";

/** Throws, because the module has to be fetched first. */
export function compileSync(): never {
    throw new MksumError("not-loaded", "WebAssembly is not loaded yet: call `await load()` first");
}

/** Fetches and compiles the module for this engine. */
export async function compile(): Promise<WebAssembly.Module> {
    // Two literal URLs, so that bundlers find them.
    const url = hasSimd() ? new URL("./simd.wasm", import.meta.url) : new URL("./scalar.wasm", import.meta.url);
    if (url.protocol === "file:") {
        // Node's fetch does not support files.
        const { readFile } = (await builtin("node:fs/promises")) as typeof import("node:fs/promises");
        return WebAssembly.compile(await readFile(url));
    }
    return WebAssembly.compile(await fetched(url));
}

async function fetched(url: URL): Promise<ArrayBuffer> {
    let response;
    try {
        response = await fetch(url);
        if (response.ok) return await response.arrayBuffer();
    } catch (cause) {
        throw new MksumError("source", `${url}: cannot be fetched: ${String(cause)}`, { cause });
    }
    throw new MksumError("source", `${url}: expected WebAssembly, found status ${response.status}`);
}
