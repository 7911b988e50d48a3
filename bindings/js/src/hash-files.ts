import { builtin } from "./builtin.js";
import { kind } from "./bytes.js";
import { release, running } from "./engine.js";
import { MksumError } from "./errors.js";
import { abortable, checked, iteratorOf, type Options, read } from "./input.js";
import { answer, call, write } from "./memory.js";
import { Root } from "./root.js";
import { rootOf } from "./root-of.js";
import { Spec } from "./spec.js";

/** A file: a `Blob` or `File`, or in Node, Deno and Bun its path. */
export type FileLike = Blob | string;

/** The result for a file: its root, or the reason why it has none. */
export type FileResult<F extends FileLike = FileLike> =
    | { readonly file: F; readonly root: Root; readonly error?: undefined }
    | { readonly file: F; readonly root?: undefined; readonly error: MksumError };

/** What a slot waits for: `wasm/src/lots.rs`. */
const WANTS = 1;
const ENDED = 3;

/** The bytes that a slot takes at a time, at most, and those that are read of a file at a time. */
const ROW = 1 << 16;
const SLICE = 1 << 20;

/**
 * Hashes many files and yields their results in order. Files that are hashed as one chain, plain sums (`sha256`) and single
 * leaves, are hashed side by side in the lanes of WebAssembly's vectors. A file that cannot be hashed is an `error` in its
 * result, and the others go on. The options' `progress` receives the bytes that are hashed so far.
 *
 * @throws {MksumError} `argument` if there is no such format; the signal's reason.
 */
export async function* hashFiles<F extends FileLike>(
    spec: Spec | string,
    files: Iterable<F> | AsyncIterable<F>,
    options: Options = {},
): AsyncGenerator<FileResult<F>, void> {
    const { signal, progress } = checked(options);
    const format = Spec.parse(spec);
    const iterator = iteratorOf(files);
    const lot = new Lot(format);
    const results = new Map<number, FileResult<F>>();
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
    const attempt = async <T>(reading: Reading<F>, act: () => Promise<T>): Promise<T | undefined> => {
        try {
            return await abortable(act(), signal);
        } catch (error) {
            if (!(error instanceof MksumError)) throw error;
            settle(reading, error);
            return undefined;
        }
    };
    const slots = new Map<number, Reading<F>>();
    try {
        for (;;) {
            signal?.throwIfAborted();
            await fetch();
            for (let slot = 0; slot < lot.size && early.length > 0; slot++) {
                if (slots.has(slot)) continue;
                const reading = early.shift()!;
                const blob = await attempt(reading, () => reading.blob);
                if (!blob) continue;
                if (lot.takes(blob.size)) {
                    lot.begin(slot, blob.size);
                    slots.set(slot, reading);
                } else {
                    const own = await attempt(reading, () => rootOf(format, blob, { signal }));
                    if (own) settle(reading, own);
                    done += own ? blob.size : 0;
                }
            }
            await Promise.all(
                Array.from(slots, async ([slot, reading]) => {
                    if (lot.state(slot) !== WANTS) return;
                    const bytes = await attempt(reading, () => reading.next());
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

/** Opens a file. */
async function open(file: FileLike): Promise<Blob> {
    if (file instanceof Blob) return file;
    if (typeof file !== "string") throw new MksumError("argument", `expected a Blob, a File or a path, found ${kind(file)}`);
    try {
        const { openAsBlob } = (await builtin("node:fs")) as typeof import("node:fs");
        return await openAsBlob(file);
    } catch (cause) {
        throw new MksumError("source", `${file}: ${(cause as Error).message}`, { cause });
    }
}

/** A file that is read slice by slice. The first slice is read as soon as it is opened, if it will be hashed in a slot. */
class Reading<F extends FileLike> {
    readonly blob: Promise<Blob>;
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
            this.len = blob.size;
            if (takes(blob.size)) this.ahead(blob);
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
    private ahead(blob: Blob): void {
        this.slice = read(blob, this.position, Math.min(this.position + SLICE, blob.size));
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
        return new Root(this.spec, len, answer(running(), (exports) => exports.lot_finish(this.number, slot)));
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
