import { builtin } from "./builtin.js";
import { integer, kind } from "./bytes.js";
import { compiled } from "./engine.js";
import { type ErrorCode, MksumError } from "./errors.js";
import type { FileLike, FileResult } from "./hash-files.js";
import { abortable, blobOf, checked, iteratorOf, type Options } from "./input.js";
import { cover, join, pieceFor, type Subtree } from "./pieces.js";
import { Root } from "./root.js";
import { Spec } from "./spec.js";

/** A request to a worker: a subtree of a file to hash, or many files. */
export type Job = { readonly id: number; readonly spec: string } & (
    | { readonly total: number; readonly node: Subtree; readonly file: Blob }
    | { readonly files: readonly FileLike[] }
);

/** The first message to a worker: the compiled engine, if this host can send it. */
export interface Start {
    readonly module: WebAssembly.Module | undefined;
}

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
     * @throws {MksumError} `argument` or `length` if `workers` is not from 1 to 1024; `source` if no worker can be started.
     */
    static async start(workers: number = globalThis.navigator?.hardwareConcurrency || 2): Promise<Pool> {
        const pool = new Pool();
        const count = integer(workers, "workers", 1, 1024);
        const module = await compiled();
        try {
            const start = (): Promise<Thread> => thread(module, (reply) => pool.receive(reply), (error) => pool.fail(error));
            // The first worker finds out how this host starts workers.
            pool.threads.push(await start());
            const more = await Promise.allSettled(Array.from({ length: count - 1 }, start));
            for (const result of more) if (result.status === "fulfilled") pool.threads.push(result.value);
            for (const result of more) if (result.status === "rejected") throw result.reason;
        } catch (error) {
            pool.end();
            throw error;
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
    async rootOf(spec: Spec | string, file: Blob, options: Options = {}): Promise<Root> {
        const format = Spec.parse(spec);
        const { signal, progress } = checked(options);
        blobOf(file);
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
        options: Options = {},
    ): AsyncGenerator<FileResult<F>, void> {
        const format = Spec.parse(spec);
        const { signal, progress } = checked(options);
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
            try {
                thread.post({ id, ...job });
            } catch (cause) {
                this.waiting.delete(id);
                reject(new MksumError("source", `the file cannot be sent to a worker: ${String(cause)}`, { cause }));
            }
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
    const iterator = iteratorOf(files);
    let ended = false;
    try {
        for (;;) {
            const next = await iterator.next();
            if (next.done) {
                ended = true;
                break;
            }
            const file = next.value;
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
    } finally {
        if (!ended) iterator.end();
    }
    if (batch.length > 0) yield batch;
}

/** A worker before it is ready: the common part of web workers and Node's workers. */
interface Started {
    post(message: Start | Job): void;
    /** Sets whether it keeps the program running, on hosts where a worker does. */
    keeps(running: boolean): void;
    end(): void;
}

/** The receivers of a worker's messages and of its failure. */
interface Receivers {
    readonly message: (message: Reply | "ready") => void;
    readonly died: (cause: unknown) => void;
}

/** Starts a worker from its file, or from its text where the file is missing, as in bundles of tools that do not know workers. */
async function thread(
    module: WebAssembly.Module,
    receive: (reply: Reply) => void,
    fail: (error: unknown) => void,
): Promise<Thread> {
    try {
        return await started(fromFile, module, receive, fail);
    } catch (first) {
        try {
            return await started(fromText, module, receive, fail);
        } catch {
            throw first;
        }
    }
}

/** Starts a worker, and returns it when it is ready. */
async function started(
    start: (receivers: Receivers) => Promise<Started>,
    module: WebAssembly.Module,
    receive: (reply: Reply) => void,
    fail: (error: unknown) => void,
): Promise<Thread> {
    let worker: Started | undefined;
    let [ready, busy] = [false, 0];
    try {
        await new Promise<void>((resolve, reject) => {
            const message = (received: Reply | "ready"): void => {
                if (received === "ready") return resolve();
                // An idle worker does not keep the program running.
                if (--busy === 0) worker?.keeps(false);
                receive(received);
            };
            const died = (cause: unknown): void => {
                const error = new MksumError("source", `a worker failed: ${String(cause)}`, { cause });
                if (ready) fail(error);
                else reject(error);
            };
            start({ message, died }).then((found) => {
                worker = found;
                try {
                    found.post({ module });
                } catch {
                    // This host cannot send modules.
                    found.post({ module: undefined });
                }
            }, died);
        });
    } catch (error) {
        worker?.end();
        throw error;
    }
    ready = true;
    const own = worker!;
    own.keeps(false);
    return {
        post: (job) => {
            own.post(job);
            if (busy++ === 0) own.keeps(true);
        },
        end: () => own.end(),
    };
}

/** A web worker in Bun can be told not to keep the program running. */
type WebWorker = Worker & { ref?(): void; unref?(): void };

function web(worker: WebWorker, { message, died }: Receivers): Started {
    worker.addEventListener("message", ({ data }: MessageEvent<Reply | "ready">) => message(data));
    worker.addEventListener("error", (event) => {
        event.preventDefault();
        died(event.message || "its script cannot be loaded");
    });
    worker.addEventListener("messageerror", () => died("a message was lost"));
    return {
        post: (job) => worker.postMessage(job),
        keeps: (running) => (running ? worker.ref?.() : worker.unref?.()),
        end: () => worker.terminate(),
    };
}

/** Starts a worker of Node's. */
async function inNode(script: URL | string, { message, died }: Receivers): Promise<Started> {
    const threads = (await builtin("node:worker_threads")) as typeof import("node:worker_threads");
    // A worker inherits the flags of its program. A worker of a program without a file cannot, and Node accepts only some
    // flags explicitly, so it gets none.
    const inline = process.execArgv.some((flag) => flag.startsWith("--input-type"));
    const options = { eval: typeof script === "string", ...(inline || typeof script === "string" ? { execArgv: [] } : {}) };
    const worker = new threads.Worker(script, options);
    worker.on("message", message).on("error", died).on("messageerror", died);
    return {
        post: (job) => worker.postMessage(job),
        keeps: (running) => (running ? worker.ref() : worker.unref()),
        end: () => void worker.terminate(),
    };
}

async function fromFile(receivers: Receivers): Promise<Started> {
    if (typeof Worker === "function") {
        return web(new Worker(new URL("./worker.js", import.meta.url), { type: "module" }), receivers);
    }
    // Not in the call, so that bundlers for browsers do not copy the file a second time.
    const here = import.meta.url;
    return inNode(new URL("./worker.js", here), receivers);
}

async function fromText(receivers: Receivers): Promise<Started> {
    const { script } = await import("./worker-text.js");
    if (typeof Worker !== "function") return inNode(script, receivers);
    const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
    const ended = <T>(act: (value: T) => void) => (value: T): void => {
        URL.revokeObjectURL(url);
        act(value);
    };
    return web(new Worker(url), { message: ended(receivers.message), died: ended(receivers.died) });
}
