import { type Bytes, bytesOf, checkOptions, isBytes, kind, type OwnBytes, unexpected } from "./bytes.js";
import { MksumError } from "./errors.js";
import { pause } from "./pause.js";
import type { Spec } from "./spec.js";

/** Any source of bytes: memory, a `Blob` or `File`, a `ReadableStream`, or an iterable (which a Node stream is). */
export type Source = Bytes | Blob | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** Options of a long computation. */
export interface Options {
    /** Aborts it: the promise is rejected with the signal's reason, and the source is cancelled. */
    readonly signal?: AbortSignal | undefined;
    /** Receives the number of bytes done, and the total if it is known. */
    readonly progress?: ((done: number, total: number | undefined) => void) | undefined;
    /** Workers that read and hash a `Blob`. */
    readonly pool?: Workers | undefined;
}

/** Workers that hash pieces of trees: a `Pool`. */
export interface Workers {
    /** @internal */
    digestsOf(
        wanted: readonly { readonly spec: Spec; readonly atMost: number }[],
        file: Blob,
        options: Options,
    ): Promise<OwnBytes[]>;
}

/**
 * Returns the options. A function that has others of its own names them in `others`.
 *
 * @throws {MksumError} `argument` if there is no such option, or one has another type.
 */
export function checked(options: Options, others: readonly string[] = []): Options {
    checkOptions(options, ["signal", "progress", "pool", ...others]);
    const { signal, progress, pool } = options;
    if (pool !== undefined && typeof pool?.digestsOf !== "function") {
        throw unexpected("pool: expected a Pool", pool);
    }
    if (signal !== undefined && typeof signal?.throwIfAborted !== "function") {
        throw unexpected("signal: expected an AbortSignal", signal);
    }
    if (progress !== undefined && typeof progress !== "function") {
        throw unexpected("progress: expected a function", progress);
    }
    return options;
}

/**
 * Checks that a value is a `Blob` or `File`.
 *
 * @throws {MksumError} `argument` if it is not.
 */
export function blobOf(file: Blob): Blob {
    if (file instanceof Blob) return file;
    throw unexpected("expected a Blob or File", file);
}

/** The length of a read from a `Blob`, in bytes. */
const SLICE = 1 << 20;

/** Returns the number of bytes, if it is known before they are read. */
export function lengthOf(source: Source): number | undefined {
    if (!(source instanceof Blob)) return isBytes(source) ? bytesOf(source).length : undefined;
    try {
        return source.size;
    } catch (cause) {
        // For example a Proxy of a Blob.
        throw new MksumError("argument", `expected a Blob, found ${kind(source)}: ${String(cause)}`, { cause });
    }
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

/** The time after which others may act, in milliseconds: memory and some `Blob`s are read without a wait. */
const TURN = 10;

/** Yields all bytes in slices of `size` bytes, if it may choose. Reports progress and checks the signal after each slice. */
export async function* slices(source: Source, options: Options, size: number = SLICE): AsyncGenerator<Uint8Array, void> {
    const { signal, progress } = checked(options);
    const total = lengthOf(source);
    let [done, since] = [0, performance.now()];
    signal?.throwIfAborted();
    for await (const bytes of raw(source, signal, size)) {
        yield bytes;
        done += bytes.length;
        progress?.(done, total);
        if (performance.now() - since > TURN) {
            await pause();
            since = performance.now();
        }
        signal?.throwIfAborted();
    }
    if (total !== undefined && done !== total) {
        throw new MksumError("source", `the source ended after ${done} of ${total} bytes`);
    }
}

async function* raw(source: Source, signal: AbortSignal | undefined, size: number): AsyncGenerator<Uint8Array, void> {
    if (isBytes(source)) {
        const bytes = bytesOf(source);
        for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
        return;
    }
    if (source instanceof Blob) {
        // The next slice is read while this one is hashed.
        let next: Promise<Uint8Array> | undefined;
        for (let at = 0; at < source.size; at += size) {
            const end = Math.min(at + size, source.size);
            const bytes = await abortable(next ?? read(source, at, end), signal);
            next = end < source.size ? read(source, end, Math.min(end + size, source.size)) : undefined;
            // A failure is reported when `next` is awaited.
            next?.catch(() => {});
            yield bytes;
        }
        return;
    }
    if (source instanceof ReadableStream) {
        yield* streamed(source, signal);
    } else {
        yield* iterated(iteratorOf(source), signal);
    }
}

/** The error for a source that failed, with its own error as the cause. */
function failed(cause: unknown): MksumError {
    return cause instanceof MksumError ? cause : new MksumError("source", `the source failed: ${String(cause)}`, { cause });
}

/** An iterator whose errors are those of a source. */
interface Items<T> {
    next(): Promise<IteratorResult<T, unknown>>;
    /** Ends it early. Not awaited: a generator that is blocked in a read returns only after it. */
    end(): void;
}

/**
 * Returns the iterator of an iterable.
 *
 * @throws {MksumError} `argument` if it is none; `source` if it has no iterator now.
 */
export function iteratorOf<T>(items: AsyncIterable<T> | Iterable<T>): Items<T> {
    let iterator: AsyncIterator<T> | Iterator<T> | undefined;
    try {
        const all = items as Partial<AsyncIterable<T> & Iterable<T>> | null | undefined;
        if (typeof all === "object") iterator = all?.[Symbol.asyncIterator]?.() ?? all?.[Symbol.iterator]?.();
    } catch (cause) {
        throw failed(cause);
    }
    if (!iterator) {
        throw unexpected("expected bytes, a Blob, a stream or an iterable", items);
    }
    const found = iterator;
    return {
        next: async () => {
            try {
                return await found.next();
            } catch (cause) {
                throw failed(cause);
            }
        },
        end: () => void (async () => found.return?.())().catch(() => {}),
    };
}

async function* streamed(source: ReadableStream<Uint8Array>, signal: AbortSignal | undefined) {
    let reader: ReadableStreamDefaultReader<Uint8Array>;
    try {
        reader = source.getReader();
    } catch (cause) {
        // For example a stream that is read elsewhere.
        throw failed(cause);
    }
    const next = async () => {
        try {
            return await reader.read();
        } catch (cause) {
            throw failed(cause);
        }
    };
    let ended = false;
    try {
        for (;;) {
            const { done, value } = await abortable(next(), signal);
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

async function* iterated(iterator: Items<Uint8Array>, signal: AbortSignal | undefined) {
    let ended = false;
    try {
        for (;;) {
            const { done, value } = await abortable(iterator.next(), signal);
            if (done) {
                ended = true;
                return;
            }
            yield bytesOf(value);
        }
    } finally {
        if (!ended) iterator.end();
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
