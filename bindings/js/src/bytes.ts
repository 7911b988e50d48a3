import { MksumError } from "./errors.js";

/** Bytes in memory: a `Uint8Array` (which a `Buffer` is), another view, or a whole buffer. Shared memory is copied first. */
export type Bytes = ArrayBufferView | ArrayBufferLike;

/** What is hashed: bytes, or text, which is hashed as UTF-8. */
export type Data = Bytes | string;

/** A `Uint8Array` whose memory is not shared: `Uint8Array<ArrayBuffer>` since TypeScript 5.7, before which it has no parameter. */
export type OwnBytes = ReturnType<typeof Uint8Array.of>;

/**
 * Returns a view of the bytes, without copying.
 *
 * @throws {MksumError} `argument` if `data` is not bytes; `detached` if its buffer is detached.
 */
export function bytesOf(data: Bytes): Uint8Array {
    if (ArrayBuffer.isView(data)) {
        // A subclass may state another length than it has.
        const view = data instanceof Uint8Array && data.length === lengthIn.call(data) ? data : viewOf(data);
        if (view.length === 0) checkAttached(data);
        return view;
    }
    if (isBuffer(data)) {
        try {
            return new Uint8Array(data as ArrayBuffer);
        } catch (cause) {
            throw detached(cause);
        }
    }
    const hint = typeof data === "string" ? ": use TextEncoder" : "";
    throw new MksumError("argument", `expected a Uint8Array, found ${kind(data)}${hint}`);
}

/**
 * Returns the bytes that are hashed.
 *
 * @throws {MksumError} `argument` for a text with half of a surrogate pair, of which an encoder makes another character without a word;
 * otherwise as {@link bytesOf}.
 */
export function dataOf(data: Data): Uint8Array {
    if (typeof data !== "string") return bytesOf(data);
    const at = data.search(/\p{Cs}/u);
    if (at >= 0) throw new MksumError("argument", `half of a surrogate pair at ${at}`);
    return new TextEncoder().encode(data);
}

/** The prototype of all typed arrays, whose getters read the array itself and not what a subclass states. */
const TYPED = /* @__PURE__ */ Object.getPrototypeOf(Uint8Array.prototype) as Uint8Array;
// oxlint-disable-next-line typescript/unbound-method -- It is called with the array.
const lengthIn = /* @__PURE__ */ Object.getOwnPropertyDescriptor(TYPED, "length")!.get as (this: Uint8Array) => number;

/** Returns a `Uint8Array` of the bytes of any view. */
function viewOf(data: ArrayBufferView): Uint8Array {
    const prototype = Reflect.get(TYPED, Symbol.toStringTag, data) === undefined ? DataView.prototype : TYPED;
    const own = <K extends keyof ArrayBufferView>(name: K) => Reflect.get(prototype, name, data) as ArrayBufferView[K];
    try {
        // The byteOffset of a view beyond the end of its buffer throws for a DataView, and is 0 for a typed array.
        return new Uint8Array(own("buffer"), own("byteOffset"), own("byteLength"));
    } catch (cause) {
        throw detached(cause);
    }
}

/** Returns whether a value is a buffer. A `Proxy` of one is not: it has no bytes. */
function isBuffer(data: unknown): data is ArrayBufferLike {
    const is = (prototype: ArrayBufferLike | undefined): boolean => {
        if (!prototype) return false;
        try {
            Reflect.get(prototype, "byteLength", data);
            return true;
        } catch {
            return false;
        }
    };
    return is(ArrayBuffer.prototype) || is(globalThis.SharedArrayBuffer?.prototype);
}

/** Returns whether a value is bytes. */
export function isBytes(data: unknown): data is Bytes {
    return ArrayBuffer.isView(data) || isBuffer(data);
}

/** Checks an empty view: if its buffer is detached, every method throws. */
function checkAttached(view: ArrayBufferView): void {
    if (Reflect.get(TYPED, Symbol.toStringTag, view) === undefined) return;
    try {
        TYPED.at.call(view, 0);
    } catch (cause) {
        throw detached(cause);
    }
}

function detached(cause: unknown): MksumError {
    return new MksumError("detached", "the buffer of these bytes was detached or shrunk", { cause });
}

/** Returns the error for an argument of another type. */
export function unexpected(expectation: string, value: unknown): MksumError {
    return new MksumError("argument", `${expectation}, found ${kind(value)}`);
}

/**
 * Checks that options are an object with none but these. Another one is a mistake, which must not pass unseen: a key that is spelled
 * otherwise would be none.
 *
 * @throws {MksumError} `argument` if they are not.
 */
export function checkOptions(options: object, names: readonly string[]): void {
    if (typeof options !== "object" || options === null) throw unexpected("options: expected an object", options);
    for (const name in options) {
        if (!names.includes(name)) throw new MksumError("argument", `unknown option '${name}': expected one of ${names.join(", ")}`);
    }
}

/** Describes the type of a value, for a message. */
export function kind(value: unknown): string {
    if (value === null || value === undefined) return String(value);
    if (typeof value !== "object") return `a ${typeof value}`;
    try {
        return value.constructor?.name ?? "an object";
    } catch {
        // For example a revoked Proxy.
        return "an object";
    }
}

/**
 * Checks that a value is an integer from `least` to `most`.
 *
 * @throws {MksumError} `argument` if it is not a number; `length` if it is out of range.
 */
export function integer(value: number, name: string, least = 0, most = Number.MAX_SAFE_INTEGER): number {
    if (typeof value !== "number") throw unexpected(`${name}: expected a number`, value);
    if (!Number.isSafeInteger(value) || value < least || value > most) {
        throw new MksumError("length", `${name}: expected an integer from ${least} to ${most}, found ${value}`);
    }
    return value;
}
