import { builtin } from "./builtin.js";
import { unexpected } from "./bytes.js";
import { release, running } from "./engine.js";
import { MksumError } from "./errors.js";
import { abortable, checked, iteratorOf, lengthOf, type Options, read } from "./input.js";
import { answer, call, write } from "./memory.js";
import { decoded, Root } from "./root.js";
import { parsed, rootOf, rootsOf } from "./root-of.js";
import { Spec } from "./spec.js";

/** A file: a `Blob` or `File`, or in Node, Deno and Bun its path. */
export type FileLike = Blob | string;

/** The result for a file: its root, or the reason why it has none. */
export type FileResult<F extends FileLike = FileLike> =
    | { readonly file: F; readonly root: Root; readonly error?: undefined }
    | { readonly file: F; readonly root?: undefined; readonly error: MksumError };

/** The result for a file in several formats: its roots, in the order of the formats, or the reason why it has none. */
export type FileResults<F extends FileLike = FileLike> =
    | { readonly file: F; readonly roots: readonly Root[]; readonly error?: undefined }
    | { readonly file: F; readonly roots?: undefined; readonly error: MksumError };

/** What a slot waits for: `wasm/src/lots.rs`. */
const WANTS = 1;
const ENDED = 3;

/** The bytes that a slot takes at a time, at most, and those that are read of a file at a time. */
const ROW = 1 << 16;
const SLICE = 1 << 20;

/** The files that are in memory at a time for several formats, and the bytes of each, at most. A longer file is read in slices. */
const FILES = 16;
const SHORT = 1 << 21;

/**
 * Hashes many files and yields their results in order, in one format or in several, which share one read. Files that are hashed as one chain, plain sums (`sha256`) and single
 * leaves, are hashed side by side in the lanes of WebAssembly's vectors. A file that cannot be hashed is an `error` in its
 * result, and the others go on. The options' `progress` receives the bytes that are hashed so far.
 *
 * @throws {MksumError} `argument` if there is no such format; the signal's reason.
 */
export function hashFiles<F extends FileLike>(
    spec: Spec | string,
    files: Iterable<F> | AsyncIterable<F>,
    options?: Options,
): AsyncGenerator<FileResult<F>, void>;
export function hashFiles<F extends FileLike>(
    specs: readonly (Spec | string)[],
    files: Iterable<F> | AsyncIterable<F>,
    options?: Options,
): AsyncGenerator<FileResults<F>, void>;
export async function* hashFiles<F extends FileLike>(
    wanted: Spec | string | readonly (Spec | string)[],
    files: Iterable<F> | AsyncIterable<F>,
    options: Options = {},
): AsyncGenerator<FileResult<F> | FileResults<F>, void> {
    const formats = Array.isArray(wanted) ? parsed(wanted) : undefined;
    if (!formats) {
        yield* inLanes(Spec.parse(wanted as Spec | string), files, options);
    } else if (formats.length > 1) {
        yield* inMemory(formats, files, options);
    } else {
        for await (const { file, root, error } of inLanes(formats[0]!, files, options)) {
            yield error ? { file, error } : { file, roots: [root] };
        }
    }
}

/** Hashes many files in several formats: short ones in memory, format by format. */
async function* inMemory<F extends FileLike>(
    formats: readonly Spec[],
    files: Iterable<F> | AsyncIterable<F>,
    options: Options,
): AsyncGenerator<FileResults<F>, void> {
    const { signal, progress } = checked(options);
    const iterator = iteratorOf(files);
    let [done, ended] = [0, false];
    try {
        while (!ended) {
            const batch: { file: F; data: Blob | Uint8Array | MksumError }[] = [];
            while (batch.length < FILES) {
                const next = await abortable(iterator.next(), signal);
                if (next.done) {
                    ended = true;
                    break;
                }
                const data = await abortable(settled(begin(next.value)), signal);
                batch.push({ file: next.value, data });
            }
            // Their roots so far, by their data.
            const results = new Map<Blob | Uint8Array, Root[] | MksumError>();
            const short = batch.flatMap(({ data }) => (data instanceof Uint8Array ? [data] : []));
            for (const format of formats) {
                for await (const { file, root, error } of inLanes(format, short, { signal })) {
                    const before = results.get(file) ?? [];
                    if (!(before instanceof MksumError)) results.set(file, error ?? [...before, root]);
                }
            }
            for (const { file, data } of batch) {
                let found = data instanceof MksumError ? data : results.get(data);
                if (data instanceof Blob) found = await abortable(settled(rootsOf(formats, data, { signal })), signal);
                if (found instanceof MksumError) {
                    yield { file, error: found };
                    continue;
                }
                done += found![0]!.len;
                progress?.(done, undefined);
                yield { file, roots: found! };
            }
        }
    } finally {
        if (!ended) iterator.end();
    }
}

/** Opens a file, and reads it if it is short. */
async function begin(file: FileLike): Promise<Blob | Uint8Array> {
    const blob = (await open(file)) as Blob;
    return blob.size <= SHORT ? read(blob, 0, blob.size) : blob;
}

/** Returns a result, or an error that is about a file as a value. */
async function settled<T>(promise: Promise<T>): Promise<T | MksumError> {
    try {
        return await promise;
    } catch (error) {
        if (error instanceof MksumError) return error;
        throw error;
    }
}

/** A file, or its bytes. */
type Opened = FileLike | Uint8Array;

/** The result for it. */
type OpenedResult<F extends Opened> =
    | { readonly file: F; readonly root: Root; readonly error?: undefined }
    | { readonly file: F; readonly root?: undefined; readonly error: MksumError };

/** Hashes many files in one format, those that are a single leaf side by side. */
async function* inLanes<F extends Opened>(
    format: Spec,
    files: Iterable<F> | AsyncIterable<F>,
    options: Options,
): AsyncGenerator<OpenedResult<F>, void> {
    const { signal, progress } = checked(options);
    const iterator = iteratorOf(files);
    const lot = new Lot(format);
    const results = new Map<number, OpenedResult<F>>();
    // Files whose first bytes are being read: as many as there are slots.
    const early: Reading<F>[] = [];
    let [given, yielded, done, ended] = [0, 0, 0, false];
    const fetch = async (): Promise<void> => {
        while (!ended && early.length <= lot.size) {
            const next = await abortable(iterator.next(), signal);
            if (next.done) ended = true;
            else early.push(new Reading(given++, next.value, (len) => lot.takes(len)));
        }
    };
    const settle = ({ index, file }: Reading<F>, result: Root | MksumError): void => {
        results.set(index, result instanceof Root ? { file, root: result } : { file, error: result });
    };
    const attempt = async <T>(reading: Reading<F>, promise: Promise<T>): Promise<T | undefined> => {
        const found = await abortable(settled(promise), signal);
        if (!(found instanceof MksumError)) return found;
        settle(reading, found);
        return undefined;
    };
    const slots = new Map<number, Reading<F>>();
    try {
        for (;;) {
            signal?.throwIfAborted();
            await fetch();
            for (let slot = 0; slot < lot.size && early.length > 0; slot++) {
                if (slots.has(slot)) continue;
                const reading = early.shift()!;
                const blob = await attempt(reading, reading.blob);
                if (!blob) continue;
                if (lot.takes(reading.len)) {
                    lot.begin(slot, reading.len);
                    slots.set(slot, reading);
                } else {
                    const own = await attempt(reading, rootOf(format, blob, { signal }));
                    if (own) settle(reading, own);
                    done += own ? reading.len : 0;
                }
            }
            await Promise.all(
                Array.from(slots, async ([slot, reading]) => {
                    if (lot.state(slot) !== WANTS) return;
                    const bytes = await attempt(reading, reading.next());
                    if (bytes) {
                        lot.put(slot, bytes);
                        done += bytes.length;
                    } else {
                        lot.free(slot);
                        slots.delete(slot);
                    }
                }),
            );
            lot.advance();
            for (const [slot, reading] of slots) {
                if (lot.state(slot) !== ENDED) continue;
                settle(reading, lot.finish(slot, reading.len));
                slots.delete(slot);
            }
            progress?.(done, undefined);
            for (let result; (result = results.get(yielded)); yielded++) {
                results.delete(yielded);
                yield result;
            }
            if (ended && early.length === 0 && slots.size === 0) return;
        }
    } finally {
        lot.end();
        if (!ended) iterator.end();
    }
}

/** Checks that a value is a `Blob` or a path. */
export function checkFile(file: FileLike): void {
    if (typeof file === "string" || file instanceof Blob) return;
    throw unexpected("expected a Blob, a File or a path", file);
}

/** Opens a file. */
async function open(file: Opened): Promise<Blob | Uint8Array> {
    if (file instanceof Blob || file instanceof Uint8Array) return file;
    checkFile(file);
    try {
        const { openAsBlob } = (await builtin("node:fs")) as typeof import("node:fs");
        return await openAsBlob(file);
    } catch (cause) {
        throw new MksumError("source", `${file}: ${(cause as Error).message}`, { cause });
    }
}

/** A file that is read slice by slice. The first slice is read as soon as it is opened, if it will be hashed in a slot. */
class Reading<F extends Opened> {
    readonly blob: Promise<Blob | Uint8Array>;
    len = 0;
    private slice: Promise<Uint8Array> | undefined;
    private bytes: Uint8Array = new Uint8Array();
    private used = 0;
    private position = 0;

    constructor(
        readonly index: number,
        readonly file: F,
        takes: (len: number) => boolean,
    ) {
        this.blob = open(file).then((blob) => {
            this.len = lengthOf(blob)!;
            if (takes(this.len)) this.ahead(blob);
            return blob;
        });
        // A failure is reported when it is awaited.
        this.blob.catch(() => {});
    }

    /** Returns the next bytes: a slot's row, or the rest. */
    async next(): Promise<Uint8Array> {
        if (this.used === this.bytes.length) {
            this.bytes = await this.slice!;
            this.used = 0;
            this.position += this.bytes.length;
            if (this.position < this.len) this.ahead(await this.blob);
        }
        // Slices are whole rows, except for a file's last.
        const row = this.bytes.subarray(this.used, this.used + ROW);
        this.used += row.length;
        return row;
    }

    /** Begins to read the next slice. */
    private ahead(blob: Blob | Uint8Array): void {
        this.slice = read(blob, this.position, Math.min(this.position + SLICE, this.len));
        this.slice.catch(() => {});
    }
}

/** Slots of the engine. If the hash counts its blocks there is one, in which no file begins. */
class Lot {
    readonly size: number = 1;
    private number = -1;

    constructor(private readonly spec: Spec) {
        const engine = running();
        const named = write(engine, spec.text);
        const made = answer(engine, (exports) => exports.lot(named));
        if (made.length === 0) return;
        const view = new DataView(made.buffer);
        [this.number, this.size] = [view.getUint32(0, true), view.getUint32(4, true)];
    }

    takes(len: number): boolean {
        return this.number >= 0 && call(running(), (exports) => exports.lot_takes(this.number, len)) === 1;
    }

    begin(slot: number, len: number): void {
        call(running(), (exports) => exports.lot_begin(this.number, slot, len));
    }

    put(slot: number, bytes: Uint8Array): void {
        // Bytes that come after another file's failure ended all are dropped.
        if (this.number < 0) return;
        const engine = running();
        const at = call(engine, (exports) => exports.lot_room(this.number, slot));
        new Uint8Array(engine.exports.memory.buffer, at, bytes.length).set(bytes);
    }

    advance(): void {
        if (this.number >= 0) call(running(), (exports) => exports.lot_advance(this.number));
    }

    state(slot: number): number {
        return call(running(), (exports) => exports.lot_state(this.number, slot));
    }

    finish(slot: number, len: number): Root {
        return decoded(this.spec, len, answer(running(), (exports) => exports.lot_finish(this.number, slot)));
    }

    free(slot: number): void {
        if (this.number >= 0) release((exports) => exports.lot_free(this.number, slot));
    }

    end(): void {
        const { number } = this;
        // A file may still be opened after the last result was taken.
        this.number = -1;
        if (number >= 0) release((exports) => exports.lot_end(number));
    }
}
