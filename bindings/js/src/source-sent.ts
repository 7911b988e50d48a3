// The source in a worker that is started from text: the pool sends it the compiled module.
import { MksumError } from "./errors.js";

/** Throws, because no module has been sent. */
export function compileSync(): never {
    throw new MksumError("not-loaded", "no WebAssembly has been sent to this worker");
}

/** Throws, as {@link compileSync}. */
export async function compile(): Promise<never> {
    return compileSync();
}
