import { type Bytes, bytesOf, kind } from "./bytes.js";
import { MksumError } from "./errors.js";

/** Bytes from anywhere: in memory, a `Blob` or `File`, a `ReadableStream`, anything iterable (a Node stream is). */
export type Source = Bytes | Blob | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** How to go about a long computation. */
export interface Options {
    /** Ends it: the promise is rejected with the signal's reason, and the source is cancelled. */
    readonly signal?: AbortSignal | undefined;
    /** Is told the bytes done, and how many there are if that is known. */
    readonly progress?: ((done: number, total: number | undefined) => void) | undefined;
}

/** What is read of a `Blob` at a time, in bytes. */
const SLICE = 1 << 20;

/** How many bytes there are, if that is known before they are read. */
export function lengthOf(source: Source): number | undefined {
    if (source instanceof Blob) return source.size;
    return isBytes(source) ? bytesOf(source).length : undefined;
}

function isBytes(source: Source): source is Bytes {
    return ArrayBuffer.isView(source) || /ArrayBuffer\]$/.test(Object.prototype.toString.call(source));
}

/**
 * Bytes `start..end` of a `Blob` or of memory.
 *
 * @throws {MksumError} `source` if they cannot be read, or are not as many.
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
        throw new MksumError("source", `bytes ${start}..${end}: found ${bytes.length}, not ${end - start}`);
    }
    return bytes;
}

/** All bytes, slice by slice, with progress told after each and the signal heard before it. */
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
        throw new MksumError("source", `the source has ended after ${done} of ${total} bytes`);
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
            const bytes = await heard(next ?? read(source, at, end), signal);
            next = end < source.size ? read(source, end, Math.min(end + SLICE, source.size)) : undefined;
            // Its failure is told when it is waited for.
            next?.catch(() => {});
            yield bytes;
        }
        return;
    }
    if (source instanceof ReadableStream) return yield* streamed(source, signal);
    if (source && typeof source === "object" && (Symbol.asyncIterator in source || Symbol.iterator in source)) {
        return yield* iterated(source, signal);
    }
    const found = typeof source === "string" ? "a string: encode it with new TextEncoder().encode(text)" : kind(source);
    throw new MksumError("argument", `expected bytes, a Blob, a stream or an iterable, found ${found}`);
}

async function* streamed(source: ReadableStream<Uint8Array>, signal: AbortSignal | undefined) {
    const reader = source.getReader();
    let ended = false;
    try {
        for (;;) {
            const { done, value } = await heard(reader.read(), signal);
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
            const { done, value } = await heard(Promise.resolve(iterator.next()), signal);
            if (done) {
                ended = true;
                return;
            }
            yield bytesOf(value);
        }
    } finally {
        // Not waited for: a generator that is stuck in a read ends when that does.
        if (!ended) void Promise.resolve(iterator.return?.()).catch(() => {});
    }
}

/** What a promise comes to, or the signal's reason if that comes first. */
export function heard<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    if (!signal) return promise;
    return new Promise((resolve, reject) => {
        const aborted = (): void => reject(signal.reason as Error);
        if (signal.aborted) return aborted();
        signal.addEventListener("abort", aborted, { once: true });
        promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", aborted));
    });
}
