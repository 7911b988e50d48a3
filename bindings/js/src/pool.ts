import { integer, kind } from "./bytes.js";
import { type ErrorCode, MksumError } from "./errors.js";
import { abortable, type Options } from "./input.js";
import { cover, join, pieceFor, type Subtree } from "./pieces.js";
import type { Root } from "./root.js";
import { Spec } from "./spec.js";

/** A request to a worker: a subtree of a file to hash. */
export interface Job {
    readonly id: number;
    readonly spec: string;
    readonly total: number;
    readonly node: Subtree;
    readonly file: Blob;
}

/** A worker's reply. */
export type Reply =
    | { readonly id: number; readonly digest: Uint8Array }
    | { readonly id: number; readonly code: ErrorCode; readonly message: string };

/** A worker on any platform. */
interface Thread {
    post(job: Job): void;
    end(): void;
}

/** The number of jobs that a worker has at a time: it reads one while it hashes the other. */
const AHEAD = 2;

/** The longest piece of a job, in bytes, unless a leaf is longer. */
const PIECE = 1 << 22;

/** Workers that hash one file as a tree: they hash subtrees, whose digests are joined to the root. */
export class Pool {
    private readonly threads: Thread[];
    private readonly waiting = new Map<number, { resolve: (digest: Uint8Array) => void; reject: (error: unknown) => void }>();
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
                digests.set(await this.request(thread, { spec: format.text, total, node, file }), own * format.size);
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

    /** Ends the workers. Pending calls are rejected. */
    end(): void {
        for (const thread of this.threads.splice(0)) thread.end();
        this.fail(new MksumError("finished", "this pool has ended"));
    }

    private request(thread: Thread, job: Omit<Job, "id">): Promise<Uint8Array> {
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
        if ("digest" in reply) caller?.resolve(reply.digest);
        else caller?.reject(new MksumError(reply.code, reply.message));
    }

    private fail(error: unknown): void {
        this.broken = error;
        for (const { reject } of this.waiting.values()) reject(error);
        this.waiting.clear();
    }
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
