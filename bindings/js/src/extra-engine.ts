// The module of `mksum/extra`: `extra/src/lib.rs`.
import { type OwnBytes, unexpected } from "./bytes.js";
import { failure, MksumError } from "./errors.js";
import { compile, compileSync } from "./source.js";

interface Exports {
    readonly memory: WebAssembly.Memory;
    readonly room: (len: number) => number;
    readonly answer: () => number;
    readonly forget_answer: (len: number) => void;
    readonly begin: (hash: number, length: number, key: number, salt: number, personal: number) => number;
    readonly append: (state: number, len: number) => void;
    readonly read: (state: number, offset: bigint, length: number) => number;
    readonly copy: (state: number) => number;
    readonly forget: (state: number) => void;
    readonly scrypt: (password: number, salt: number, logN: number, r: number, p: number, length: number) => number;
    readonly argon2: (
        kind: number, password: number, salt: number, secret: number, data: number, memory: number, passes: number, lanes: number,
        length: number,
    ) => number;
}

/** The bytes that are passed at a time. */
const SLICE = 1 << 16;

let exports: Exports | undefined;
let broken: MksumError | undefined;

/**
 * Compiles the module asynchronously, where the host does not allow it otherwise or has no SIMD. Nothing else needs it.
 *
 * @param module A compiled module of this entry, for example imported from `mksum/extra/scalar.wasm`.
 * @throws {MksumError} `argument` if it is not such a module; `not-loaded` if the host refuses to compile; `source` if the build without
 * SIMD cannot be fetched.
 */
export async function load(module?: WebAssembly.Module): Promise<void> {
    if (module !== undefined && !(module instanceof WebAssembly.Module)) throw unexpected("expected a WebAssembly.Module", module);
    try {
        exports ??= begin(module ?? (await compile()));
    } catch (cause) {
        throw refused(cause);
    }
}

function begin(module: WebAssembly.Module): Exports {
    return new WebAssembly.Instance(module, {}).exports as unknown as Exports;
}

function refused(cause: unknown): MksumError {
    if (cause instanceof MksumError) return cause;
    return new MksumError("not-loaded", `WebAssembly could not be started: ${String(cause)}`, { cause });
}

/** Calls the module, whose states can no longer be trusted after a trap. */
export function call<T>(act: (exports: Exports) => T): T {
    if (broken) throw broken;
    try {
        exports ??= begin(compileSync());
    } catch (cause) {
        throw refused(cause);
    }
    try {
        return act(exports);
    } catch (cause) {
        const error = failure(cause);
        if (error.code === "broken") broken = error;
        throw error;
    }
}

/** Frees a state, if the module runs. Never throws: finalizers call it. */
export function release(state: number): void {
    if (!broken) exports?.forget(state);
}

/** Writes bytes one after the other to where the next call finds them. */
export function put(exports: Exports, ...parts: readonly Uint8Array[]): void {
    const total = parts.reduce((sum, part) => sum + part.length, 0);
    const room = exports.room(total);
    if (room === 0) throw new MksumError("length", `there is no memory for ${total} bytes`);
    const place = new Uint8Array(exports.memory.buffer, room, total);
    let at = 0;
    for (const part of parts) {
        place.set(part, at);
        at += part.length;
    }
}

/** Appends bytes to a state, a slice at a time. */
export function append(exports: Exports, state: number, bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += SLICE) {
        const slice = bytes.subarray(at, at + SLICE);
        put(exports, slice);
        exports.append(state, slice.length);
    }
}

/** Takes the answer of a call, and erases it in the module. */
export function taken(exports: Exports, len: number, what: string): OwnBytes {
    if (len < 0) throw new MksumError("length", `${what}: WebAssembly has not enough memory`);
    const answer = new Uint8Array(exports.memory.buffer, exports.answer(), len).slice();
    exports.forget_answer(len);
    return answer;
}
