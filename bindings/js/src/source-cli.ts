// The source in the command: a module of its own beside it, with all formats and the parser of lists.
import { MksumError } from "./errors.js";
import { compileFile } from "./file.js";

/** Throws, because the module has to be read first. */
export function compileSync(): never {
    throw new MksumError("not-loaded", "WebAssembly is not loaded yet");
}

/** Reads and compiles the module. */
export async function compile(): Promise<WebAssembly.Module> {
    return compileFile(new URL("./cli.wasm", import.meta.url));
}
