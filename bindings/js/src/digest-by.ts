import type { OwnBytes } from "./bytes.js";
import { type Engine, INPUT, SHORT } from "./instance.js";

/** A digest, in a new array with its own buffer. */
export type Digest = OwnBytes;

/** Returns the digest of bytes by the hash with this number. Bytes that fit the buffer take one call into the engine. */
export function digestBy(bytes: Uint8Array, engine: Engine, number: number, size: number): Digest {
    const { exports } = engine;
    let state = -1;
    try {
        if (bytes.length <= INPUT) {
            engine.input.set(bytes);
            exports.digest(number, 0, bytes.length);
            wipe(engine, bytes.length);
        } else {
            state = exports.begin(number);
            append(engine, state, bytes);
            exports.finish(state);
        }
    } catch (cause) {
        if (state >= 0) engine.release(({ forget }) => forget(state));
        return engine.fail(cause);
    }
    return engine.views().output.slice(0, size);
}

/** Appends bytes to a state, a buffer at a time. */
export function append(engine: Engine, state: number, bytes: Uint8Array): void {
    const { exports } = engine;
    for (let at = 0; at < bytes.length; at += INPUT) {
        const slice = bytes.length <= INPUT ? bytes : bytes.subarray(at, at + INPUT);
        engine.views().input.set(slice);
        exports.append(state, 0, slice.length);
    }
    wipe(engine, bytes.length);
}

/** Erases the input of calls over `len` bytes: it may be a secret. The engine itself erases a short one. */
function wipe(engine: Engine, len: number): void {
    if (len > SHORT) engine.views().input.fill(0, 0, Math.min(len, INPUT));
}
