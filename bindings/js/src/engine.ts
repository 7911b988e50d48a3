import { kind } from "./bytes.js";
import { current } from "./current.js";
import { MksumError } from "./errors.js";
import { Engine, type Exports, refused } from "./instance.js";
import { compile, compileSync } from "./source.js";

export { type Engine, type Exports, INPUT, OUTPUT, SHORT } from "./instance.js";

/** Frees a value in the engine, if it runs. Never throws: finalizers and `finally` call it. */
export function release(act: (exports: Exports, engine: Engine) => void): void {
    current.engine?.release(act);
}

/**
 * Returns the running instance, and starts it if it can be compiled synchronously.
 *
 * @throws {MksumError} `not-loaded` or `broken`.
 */
export function running(): Engine {
    if (!current.engine) {
        try {
            current.engine = new Engine(compileSync());
        } catch (cause) {
            throw refused(cause);
        }
    }
    return current.engine.ready();
}

/**
 * Compiles the engine asynchronously and starts it. Required once before the first call if WebAssembly is fetched or has no
 * SIMD; otherwise it saves the first call some milliseconds.
 *
 * @param module A compiled module of this package, for example from another thread, or imported from `mksum/simd.wasm`.
 * @throws {MksumError} `argument` if it is not a module of this package; `not-loaded` if the host does not compile WebAssembly;
 * `source` if WebAssembly cannot be fetched.
 */
export async function load(module?: WebAssembly.Module): Promise<void> {
    if (current.engine) return;
    if (module !== undefined) {
        try {
            current.engine = new Engine(module);
        } catch (cause) {
            throw new MksumError("argument", `expected a WebAssembly.Module of this package, found ${kind(module)}`, { cause });
        }
        return;
    }
    try {
        const compiled = await compile();
        current.engine ??= new Engine(compiled);
    } catch (cause) {
        throw refused(cause);
    }
}

/** Returns the compiled module, for example to send it to a worker. */
export async function compiled(): Promise<WebAssembly.Module> {
    await load();
    return running().module;
}
