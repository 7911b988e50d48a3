import { MksumError } from "./errors.js";

/** Bytes in memory: a `Uint8Array` (a `Buffer` is one), another view, or a whole buffer; shared memory too, copied first. */
export type Bytes = ArrayBufferView | ArrayBufferLike;

/**
 * The bytes themselves, not copied.
 *
 * @throws {MksumError} `argument` if they are none; `detached` if their buffer is gone.
 */
export function bytesOf(data: Bytes): Uint8Array {
    if (data instanceof Uint8Array) {
        if (data.length === 0) checkThere(data);
        return data;
    }
    if (ArrayBuffer.isView(data)) {
        let view;
        try {
            // A view beyond the end of its buffer has no byteOffset: a DataView throws, typed arrays tell 0.
            view = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
        } catch (cause) {
            throw detached(cause);
        }
        if (view.length === 0 && "at" in data) checkThere(data as unknown as Uint8Array);
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
    const hint = typeof data === "string" ? ": a string has no bytes of its own, use new TextEncoder().encode(text)" : "";
    throw new MksumError("argument", `expected a Uint8Array, found ${kind(data)}${hint}`);
}

/** A view without bytes may be one whose buffer is gone: every method of it then throws. */
function checkThere(view: Uint8Array): void {
    try {
        view.at(0);
    } catch (cause) {
        throw detached(cause);
    }
}

function detached(cause: unknown): MksumError {
    return new MksumError("detached", "the bytes are gone: their buffer was detached or shrunk", { cause });
}

/** What a value is, for a message. */
export function kind(value: unknown): string {
    if (value === null || value === undefined) return String(value);
    if (typeof value !== "object") return `a ${typeof value}`;
    return value.constructor?.name ?? "an object";
}

/**
 * A whole number from `least` to `most`.
 *
 * @throws {MksumError} `argument` if it is no number; `length` if it is out of range.
 */
export function whole(value: number, name: string, least = 0, most = Number.MAX_SAFE_INTEGER): number {
    if (typeof value !== "number") throw new MksumError("argument", `${name}: expected a number, found ${kind(value)}`);
    if (!Number.isSafeInteger(value) || value < least || value > most) {
        throw new MksumError("length", `${name}: expected a whole number from ${least} to ${most}, found ${value}`);
    }
    return value;
}
