import { MksumError } from "./errors.js";

/** Bytes in memory: a `Uint8Array` (which a `Buffer` is), another view, or a whole buffer. Shared memory is copied first. */
export type Bytes = ArrayBufferView | ArrayBufferLike;

/**
 * Returns a view of the bytes, without copying.
 *
 * @throws {MksumError} `argument` if `data` is not bytes; `detached` if its buffer is detached.
 */
export function bytesOf(data: Bytes): Uint8Array {
    if (data instanceof Uint8Array) {
        if (data.length === 0) checkAttached(data);
        return data;
    }
    if (ArrayBuffer.isView(data)) {
        let view;
        try {
            // The byteOffset of a view beyond the end of its buffer throws for a DataView, and is 0 for a typed array.
            view = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
        } catch (cause) {
            throw detached(cause);
        }
        if (view.length === 0 && "at" in data) checkAttached(data as unknown as Uint8Array);
        return view;
    }
    const tag = Object.prototype.toString.call(data);
    if (tag === "[object ArrayBuffer]" || tag === "[object SharedArrayBuffer]") {
        try {
            return new Uint8Array(data as ArrayBuffer);
        } catch (cause) {
            throw detached(cause);
        }
    }
    const hint = typeof data === "string" ? ": encode it with new TextEncoder().encode(text)" : "";
    throw new MksumError("argument", `expected a Uint8Array, found ${kind(data)}${hint}`);
}

/** Checks an empty view: if its buffer is detached, every method throws. */
function checkAttached(view: Uint8Array): void {
    try {
        view.at(0);
    } catch (cause) {
        throw detached(cause);
    }
}

function detached(cause: unknown): MksumError {
    return new MksumError("detached", "the buffer of these bytes was detached or shrunk", { cause });
}

/** Describes the type of a value, for a message. */
export function kind(value: unknown): string {
    if (value === null || value === undefined) return String(value);
    if (typeof value !== "object") return `a ${typeof value}`;
    return value.constructor?.name ?? "an object";
}

/**
 * Checks that a value is an integer from `least` to `most`.
 *
 * @throws {MksumError} `argument` if it is not a number; `length` if it is out of range.
 */
export function integer(value: number, name: string, least = 0, most = Number.MAX_SAFE_INTEGER): number {
    if (typeof value !== "number") throw new MksumError("argument", `${name}: expected a number, found ${kind(value)}`);
    if (!Number.isSafeInteger(value) || value < least || value > most) {
        throw new MksumError("length", `${name}: expected an integer from ${least} to ${most}, found ${value}`);
    }
    return value;
}
