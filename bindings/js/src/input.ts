import { type Bytes, bytesOf, kind } from "./bytes.js";
import { MksumError } from "./errors.js";

/** Any source of bytes: memory, a `Blob` or `File`, a `ReadableStream`, or an iterable (which a Node stream is). */
export type Source = Bytes | Blob | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** Options of a long computation. */
export interface Options {
    /** Aborts it: the promise is rejected with the signal's reason, and the source is cancelled. */
    readonly signal?: AbortSignal | undefined;
    /** Receives the number of bytes done, and the total if it is known. */
    readonly progress?: ((done: number, total: number | undefined) => void) | undefined;
}

/** The length of a read from a `Blob`, in bytes. */
const SLICE = 1 << 20;

/** Returns the number of bytes, if it is known before they are read. */
export function lengthOf(source: Source): number | undefined {
    if (source instanceof Blob) return source.size;
    return isBytes(source) ? bytesOf(source).length : undefined;
}

function isBytes(source: Source): source is Bytes {
    return ArrayBuffer.isView(source) || Object.prototype.toString.call(source).endsWith("ArrayBuffer]");
}

/**
 * Reads bytes `start..end` of a `Blob` or of memory.
 *
 * @throws {MksumError} `source` if they cannot be read, or the read returns another number of bytes.
 */
export async function read(source: Blob | Bytes, start: number, end: number): Promise<Uint8Array> {
    if (!(source instanceof Blob)) return bytesOf(source).subarray(start, end);
    let bytes;
    try {
        bytes = new Uint8Array(await source.slice(start, end).arrayBuffer());
    } catch (cause) {
        throw new MksumError("source", `bytes ${start}..${end} cannot be read: ${String(cause)}`, { cause });
    }
    if (bytes.length !== end - start) {
        throw new MksumError("source", `bytes ${start}..${end}: expected ${end - start} bytes, found ${bytes.length}`);
    }
    return bytes;
}

/** Yields all bytes slice by slice. Reports progress and checks the signal after each slice. */
export async function* slices(source: Source, { signal, progress }: Options): AsyncGenerator<Uint8Array, void> {
    const total = lengthOf(source);
    let done = 0;
    signal?.throwIfAborted();
    for await (const bytes of raw(source, signal)) {
        yield bytes;
        done += bytes.length;
        progress?.(done, total);
        signal?.throwIfAborted();
    }
    if (total !== undefined && done !== total) {
        throw new MksumError("source", `the source ended after ${done} of ${total} bytes`);
    }
}

async function* raw(source: Source, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array, void> {
    if (isBytes(source)) {
        const bytes = bytesOf(source);
        for (let at = 0; at < bytes.length; at += SLICE) yield bytes.subarray(at, at + SLICE);
        return;
    }
    if (source instanceof Blob) {
        // The next slice is read while this one is hashed.
        let next: Promise<Uint8Array> | undefined;
        for (let at = 0; at < source.size; at += SLICE) {
            const end = Math.min(at + SLICE, source.size);
            const bytes = await abortable(next ?? read(source, at, end), signal);
            next = end < source.size ? read(source, end, Math.min(end + SLICE, source.size)) : undefined;
            // A failure is reported when `next` is awaited.
            next?.catch(() => {});
            yield bytes;
        }
        return;
    }
    if (source instanceof ReadableStream) {
        yield* streamed(source, signal);
    } else if (source && typeof source === "object" && (Symbol.asyncIterator in source || Symbol.iterator in source)) {
        yield* iterated(source, signal);
    } else {
        const found = typeof source === "string" ? "a string: encode it with new TextEncoder().encode(text)" : kind(source);
        throw new MksumError("argument", `expected bytes, a Blob, a stream or an iterable, found ${found}`);
    }
}

async function* streamed(source: ReadableStream<Uint8Array>, signal: AbortSignal | undefined) {
    const reader = source.getReader();
    let ended = false;
    try {
        for (;;) {
            const { done, value } = await abortable(reader.read(), signal);
            if (done) {
                ended = true;
                return;
            }
            yield bytesOf(value);
        }
    } finally {
        if (!ended) void reader.cancel(signal?.reason).catch(() => {});
        reader.releaseLock();
    }
}

async function* iterated(source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, signal: AbortSignal | undefined) {
    const iterator = Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
    let ended = false;
    try {
        for (;;) {
            const { done, value } = await abortable(Promise.resolve(iterator.next()), signal);
            if (done) {
                ended = true;
                return;
            }
            yield bytesOf(value);
        }
    } finally {
        // Not awaited: a generator that is blocked in a read returns only after it.
        if (!ended) void Promise.resolve(iterator.return?.()).catch(() => {});
    }
}

/** Settles as the promise does, or rejects with the signal's reason if that comes first. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    if (!signal) return promise;
    return new Promise((resolve, reject) => {
        const aborted = (): void => reject(signal.reason as Error);
        if (signal.aborted) return aborted();
        signal.addEventListener("abort", aborted, { once: true });
        promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", aborted));
    });
}
