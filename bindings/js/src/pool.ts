import { integer, kind } from "./bytes.js";
import { type ErrorCode, MksumError } from "./errors.js";
import type { FileLike, FileResult } from "./hash-files.js";
import { abortable, type Options } from "./input.js";
import { cover, join, pieceFor, type Subtree } from "./pieces.js";
import { Root } from "./root.js";
import { Spec } from "./spec.js";

/** A request to a worker: a subtree of a file to hash, or many files. */
export type Job = { readonly id: number; readonly spec: string } & (
    | { readonly total: number; readonly node: Subtree; readonly file: Blob }
    | { readonly files: readonly FileLike[] }
);

/** An error as a message. */
interface Refused {
    readonly code: ErrorCode;
    readonly message: string;
}

/** A root as a message, or why there is none. */
export type RootReply = { readonly len: number; readonly digest: Uint8Array; readonly text: string } | Refused;

/** A worker's reply. */
export type Reply = { readonly id: number } & (
    | { readonly digest: Uint8Array }
    | { readonly roots: readonly RootReply[] }
    | Refused
);

/** The jobs without their numbers. */
type Wanted = Job extends infer J ? (J extends Job ? Omit<J, "id"> : never) : never;

/** A worker on any platform. */
interface Thread {
    post(job: Job): void;
    end(): void;
}

/** The number of jobs that a worker has at a time: it reads one while it hashes the other. */
const AHEAD = 2;

/** The files of a job, and their bytes, at most, if there are several. */
const FILES = 64;
const BYTES = 1 << 25;

/** The longest piece of a job, in bytes, unless a leaf is longer. */
const PIECE = 1 << 22;

/** Workers that hash one file as a tree: they hash subtrees, whose digests are joined to the root. */
export class Pool {
    private readonly threads: Thread[];
    private readonly waiting = new Map<number, { resolve: (reply: Reply) => void; reject: (error: unknown) => void }>();
    private broken: unknown;
    private next = 0;

    private constructor() {
        this.threads = [];
    }

    /**
     * Starts workers, by default one a core.
     *
     * @throws {MksumError} `argument` or `length` if `workers` is not from 1 to 1024.
     */
    static async start(workers: number = globalThis.navigator?.hardwareConcurrency ?? 2): Promise<Pool> {
        const pool = new Pool();
        for (let left = integer(workers, "workers", 1, 1024); left > 0; left--) {
            pool.threads.push(await thread((reply) => pool.receive(reply), (error) => pool.fail(error)));
        }
        return pool;
    }

    /** The number of workers. */
    get size(): number {
        return this.threads.length;
    }

    /**
     * Returns the root of a file, which the workers read piece by piece.
     *
     * @throws {MksumError} `finished` after the end; `format` if the format has no root for this length; `source` if the
     * file cannot be read or a worker died; the signal's reason.
     */
    async rootOf(spec: Spec | string, file: Blob, { signal, progress }: Options = {}): Promise<Root> {
        const format = Spec.parse(spec);
        if (!(file instanceof Blob)) throw new MksumError("argument", `expected a Blob or File, found ${kind(file)}`);
        if (this.threads.length === 0) throw new MksumError("finished", "this pool has ended: start another one");
        signal?.throwIfAborted();
        const total = file.size;
        const atMost = Math.max(PIECE, pieceFor(total));
        const pieces = cover(format, total, atMost);
        const digests = new Uint8Array(pieces.length * format.size);
        let [index, done, ended] = [0, 0, false];
        const work = async (thread: Thread): Promise<void> => {
            // oxlint-disable-next-line no-unmodified-loop-condition -- `finally` sets `ended` while workers are busy.
            while (!ended && index < pieces.length) {
                const own = index++;
                const node = pieces[own]!;
                const reply = await this.request(thread, { spec: format.text, total, node, file });
                if ("digest" in reply) digests.set(reply.digest, own * format.size);
                if (ended) return;
                done += node.len;
                progress?.(done, total);
            }
        };
        try {
            const all = this.threads.flatMap((thread) => Array.from({ length: AHEAD }, () => work(thread)));
            await abortable(Promise.all(all), signal);
        } finally {
            ended = true;
        }
        return join(format, total, atMost, digests);
    }

    /**
     * Hashes many files and yields their results in order, as `hashFiles` does; the workers share the files.
     *
     * @throws {MksumError} `finished` after the end; `argument` if there is no such format, or a file is neither a `Blob` nor a
     * path; `source` if a worker died; the signal's reason.
     */
    async *hashFiles<F extends FileLike>(
        spec: Spec | string,
        files: Iterable<F> | AsyncIterable<F>,
        { signal, progress }: Options = {},
    ): AsyncGenerator<FileResult<F>, void> {
        const format = Spec.parse(spec);
        if (this.threads.length === 0) throw new MksumError("finished", "this pool has ended: start another one");
        const batches = batched(files);
        const pending: { batch: F[]; reply: Promise<Reply> }[] = [];
        let [turn, done, ended] = [0, 0, false];
        try {
            for (;;) {
                signal?.throwIfAborted();
                while (!ended && pending.length < AHEAD * this.threads.length) {
                    const next = await abortable(batches.next(), signal);
                    if (next.done) {
                        ended = true;
                        break;
                    }
                    const thread = this.threads[turn++ % this.threads.length]!;
                    const reply = this.request(thread, { spec: format.text, files: next.value });
                    // A failure is reported when it is awaited.
                    reply.catch(() => {});
                    pending.push({ batch: next.value, reply });
                }
                const first = pending.shift();
                if (!first) return;
                const reply = await abortable(first.reply, signal);
                for (const [at, found] of ("roots" in reply ? reply.roots : []).entries()) {
                    const file = first.batch[at]!;
                    if ("code" in found) {
                        yield { file, error: new MksumError(found.code, found.message) };
                    } else {
                        done += found.len;
                        progress?.(done, undefined);
                        const text = new TextEncoder().encode(found.text);
                        const bytes = new Uint8Array(found.digest.length + text.length);
                        bytes.set(found.digest);
                        bytes.set(text, found.digest.length);
                        yield { file, root: new Root(format, found.len, bytes) };
                    }
                }
            }
        } finally {
            void batches.return(undefined).catch(() => {});
        }
    }

    /** Ends the workers. Pending calls are rejected. */
    end(): void {
        for (const thread of this.threads.splice(0)) thread.end();
        this.fail(new MksumError("finished", "this pool has ended"));
    }

    private request(thread: Thread, job: Wanted): Promise<Reply> {
        if (this.broken) return Promise.reject(this.broken);
        const id = this.next++;
        return new Promise((resolve, reject) => {
            this.waiting.set(id, { resolve, reject });
            thread.post({ id, ...job });
        });
    }

    private receive(reply: Reply): void {
        const caller = this.waiting.get(reply.id);
        this.waiting.delete(reply.id);
        if ("code" in reply) caller?.reject(new MksumError(reply.code, reply.message));
        else caller?.resolve(reply);
    }

    private fail(error: unknown): void {
        this.broken = error;
        for (const { reject } of this.waiting.values()) reject(error);
        this.waiting.clear();
    }
}

/** Groups files, so that a message is worth its cost. */
async function* batched<F extends FileLike>(files: Iterable<F> | AsyncIterable<F>): AsyncGenerator<F[], void> {
    let [batch, bytes]: [F[], number] = [[], 0];
    for await (const file of files) {
        if (!(file instanceof Blob) && typeof file !== "string") {
            throw new MksumError("argument", `expected a Blob, a File or a path, found ${kind(file)}`);
        }
        batch.push(file);
        bytes += typeof file === "string" ? 0 : file.size;
        if (batch.length === FILES || bytes >= BYTES) {
            yield batch;
            [batch, bytes] = [[], 0];
        }
    }
    if (batch.length > 0) yield batch;
}

/** Starts a worker: a web worker, or a Node worker if there are no web workers. */
async function thread(receive: (reply: Reply) => void, fail: (error: unknown) => void): Promise<Thread> {
    const died = (cause: unknown): void => fail(new MksumError("source", `a worker failed: ${String(cause)}`, { cause }));
    if (typeof Worker === "function") {
        const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
        worker.addEventListener("message", ({ data }: MessageEvent<Reply>) => receive(data));
        worker.addEventListener("error", (event) => died(event.message));
        worker.addEventListener("messageerror", () => died("a message was lost"));
        return { post: (job) => worker.postMessage(job), end: () => worker.terminate() };
    }
    const threads = await import(/* @vite-ignore */ "node:worker_threads");
    // A worker inherits the flags of its program. A worker of a program without a file cannot, and Node accepts only some
    // flags explicitly, so it gets none.
    const inline = process.execArgv.some((flag) => flag.startsWith("--input-type"));
    const worker = new threads.Worker(new URL("./worker.js", import.meta.url), inline ? { execArgv: [] } : {});
    worker.on("message", receive).on("error", died).on("messageerror", died);
    // An idle worker does not keep the program running.
    worker.unref();
    return {
        post: (job) => {
            worker.ref();
            worker.postMessage(job);
        },
        end: () => void worker.terminate(),
    };
}
