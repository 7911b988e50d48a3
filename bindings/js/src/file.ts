import { builtin } from "./builtin.js";
import { MksumError } from "./errors.js";

/**
 * Fetches and compiles a module.
 *
 * @throws {MksumError} `source` if it cannot be fetched.
 */
export async function compileFile(url: URL): Promise<WebAssembly.Module> {
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
