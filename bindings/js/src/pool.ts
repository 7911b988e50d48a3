import { integer, type OwnBytes } from "./bytes.js";
import { compiled } from "./engine.js";
import { MksumError } from "./errors.js";
import { checkFile, type FileLike, type FileResult, type FileResults } from "./hash-files.js";
import { abortable, blobOf, checked, iteratorOf, type Options } from "./input.js";
import type { Job, Reply } from "./messages.js";
import { join, pieceFor } from "./pieces.js";
import { Root } from "./root.js";
import { parsed, type Wanted } from "./root-of.js";
import { Spec } from "./spec.js";
import { AT_ONCE, isLong, plan, type Task } from "./tasks.js";
import { type Thread, thread } from "./threads.js";

/** The jobs without their numbers. */
type Unnumbered = Job extends infer J ? (J extends Job ? Omit<J, "id"> : never) : never;

/** What waits for a worker's reply, and hears of its progress. */
interface Waiting {
    readonly resolve: (reply: Reply) => void;
    readonly reject: (error: unknown) => void;
    readonly progress: (done: number) => void;
}

/** The number of jobs that a worker has at a time: it reads one while it hashes the other. */
const AHEAD = 2;

/** How far a read of a file may be ahead of another one, in bytes, so that the system reads it once from the disk. */
const APART = 1 << 28;

/** The files of a job, and their bytes, at most, if there are several. */
const FILES = 64;
const BYTES = 1 << 25;

/** Workers that hash one file as a tree: they hash subtrees, whose digests are joined to the root. And many files. */
export class Pool {
    private readonly threads: Thread[];
    private readonly waiting = new Map<number, Waiting>();
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
        const [found] = await this.rootsOf([spec], file, options);
        return found!;
    }

    /**
     * Returns the roots of a file in several formats. The workers read it once; once more for each hash that is a single chain
     * over a long file, at about the same place.
     *
     * @throws {MksumError} As {@link Pool.rootOf}, if one of the formats has no root.
     */
    async rootsOf(specs: readonly (Spec | string)[], file: Blob, options: Options = {}): Promise<Root[]> {
        const formats = parsed(specs);
        checked(options);
        const len = blobOf(file).size;
        const wanted = formats.map((spec) => ({ spec, atMost: Math.max(AT_ONCE, pieceFor(len)) }));
        const digests = await this.digestsOf(wanted, file, options);
        return wanted.map(({ spec, atMost }, at) => join(spec, len, atMost, digests[at]!));
    }

    /** @internal Returns the digests of all pieces of several trees over a file. */
    async digestsOf(wanted: readonly Wanted[], file: Blob, options: Options): Promise<OwnBytes[]> {
        const { signal, progress } = checked(options);
        this.check();
        signal?.throwIfAborted();
        const total = file.size;
        const { tasks, counts, reads } = plan(wanted, total);
        const digests = wanted.map(({ spec }, at) => new Uint8Array(counts[at]! * spec.size));
        // Ends what the workers still do when this call ends.
        const stop = new AbortController();
        // The places that long tasks have reached, with their workers, and who waits for them.
        const reached = new Map<Task, { readonly own: Thread; readonly place: number }>();
        let waiting: (() => void)[] = [];
        let [next, done, ended] = [0, 0, false];
        const isAhead = (task: Task): boolean =>
            Array.from(reached).some(([other, { place }]) => other.read !== task.read && task.start > place + APART);
        const wake = (): void => {
            for (const resolve of waiting.splice(0)) resolve();
        };
        // A worker that has a long task takes no other while another worker has none: the long one would end last.
        const isHeld = (own: Thread): boolean => {
            const busy = new Set(Array.from(reached.values(), (long) => long.own));
            return busy.has(own) && busy.size < this.threads.length && next < tasks.length;
        };
        const turn = async (own: Thread): Promise<Task | undefined> => {
            // oxlint-disable-next-line no-unmodified-loop-condition -- `finally` sets `ended` while workers are busy.
            while (!ended && isHeld(own)) await new Promise<void>((resolve) => waiting.push(resolve));
            const task = tasks[next++];
            // oxlint-disable-next-line no-unmodified-loop-condition -- `finally` sets `ended` while workers are busy.
            while (task && !ended && isAhead(task)) await new Promise<void>((resolve) => waiting.push(resolve));
            return ended ? undefined : task;
        };
        const advance = (bytes: number): void => {
            done += bytes;
            if (!ended) progress?.(Math.floor(done / reads), total);
            wake();
        };
        const work = async (own: Thread): Promise<void> => {
            for (let task; (task = await turn(own));) {
                const current = task;
                const { start, end, trees } = task;
                let before = 0;
                if (isLong(task)) reached.set(task, { own, place: start });
                const told = (now: number): void => {
                    reached.set(current, { own, place: start + now });
                    advance(now - before);
                    before = now;
                };
                const sent = trees.map(({ at, pieces }) => ({ spec: wanted[at]!.spec.text, pieces }));
                const reply = await this.request(own, { file, start, end, trees: sent }, stop.signal, told);
                if (ended) return;
                for (const [index, { at, first }] of trees.entries()) {
                    if ("digests" in reply) digests[at]!.set(reply.digests[index]!, first * wanted[at]!.spec.size);
                }
                reached.delete(task);
                advance(end - start - before);
            }
        };
        try {
            const all = this.threads.flatMap((own) => Array.from({ length: AHEAD }, () => work(own)));
            await abortable(Promise.all(all), signal);
        } finally {
            ended = true;
            stop.abort();
            wake();
        }
        return digests;
    }

    /**
     * Hashes many files and yields their results in order, as `hashFiles` does; the workers share the files.
     *
     * @throws {MksumError} `finished` after the end; `argument` if there is no such format, or a file is neither a `Blob` nor a
     * path; `source` if a worker died; the signal's reason.
     */
    hashFiles<F extends FileLike>(
        spec: Spec | string,
        files: Iterable<F> | AsyncIterable<F>,
        options?: Options,
    ): AsyncGenerator<FileResult<F>, void>;
    hashFiles<F extends FileLike>(
        specs: readonly (Spec | string)[],
        files: Iterable<F> | AsyncIterable<F>,
        options?: Options,
    ): AsyncGenerator<FileResults<F>, void>;
    async *hashFiles<F extends FileLike>(
        wanted: Spec | string | readonly (Spec | string)[],
        files: Iterable<F> | AsyncIterable<F>,
        options: Options = {},
    ): AsyncGenerator<FileResult<F> | FileResults<F>, void> {
        const several = Array.isArray(wanted);
        const formats = several ? parsed(wanted) : [Spec.parse(wanted as Spec | string)];
        const { signal, progress } = checked(options);
        this.check();
        const batches = batched(files);
        const stop = new AbortController();
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
                    const own = this.threads[turn++ % this.threads.length]!;
                    const reply = this.request(own, { specs: formats.map(String), files: next.value }, stop.signal);
                    // A failure is reported when it is awaited.
                    reply.catch(() => {});
                    pending.push({ batch: next.value, reply });
                }
                const first = pending.shift();
                if (!first) return;
                const reply = await abortable(first.reply, signal);
                for (const [at, found] of ("results" in reply ? reply.results : []).entries()) {
                    const file = first.batch[at]!;
                    if ("code" in found) {
                        yield { file, error: new MksumError(found.code, found.message) };
                        continue;
                    }
                    done += found.len;
                    progress?.(done, undefined);
                    const roots = found.roots.map(({ digest, text }, index) => new Root(formats[index]!, found.len, digest, text));
                    yield several ? { file, roots } : { file, root: roots[0]! };
                }
            }
        } finally {
            stop.abort();
            void batches.return(undefined).catch(() => {});
        }
    }

    /** Ends the workers. Pending calls are rejected. */
    end(): void {
        for (const thread of this.threads.splice(0)) thread.end();
        this.fail(new MksumError("finished", "this pool has ended"));
    }

    private check(): void {
        if (this.threads.length === 0) throw new MksumError("finished", "this pool has ended: start another one");
    }

    private request(own: Thread, job: Unnumbered, signal: AbortSignal, progress: (done: number) => void = () => {}): Promise<Reply> {
        if (this.broken) return Promise.reject(this.broken);
        const id = this.next++;
        const cancel = (): void => own.post({ cancel: id });
        return new Promise<Reply>((resolve, reject) => {
            this.waiting.set(id, { resolve, reject, progress });
            try {
                own.post({ id, ...job });
                signal.addEventListener("abort", cancel, { once: true });
            } catch (cause) {
                this.waiting.delete(id);
                reject(new MksumError("source", `the file cannot be sent to a worker, so hash it without a pool: ${String(cause)}`, { cause }));
            }
        }).finally(() => signal.removeEventListener("abort", cancel));
    }

    private receive(reply: Reply): void {
        const caller = this.waiting.get(reply.id);
        if ("done" in reply) return caller?.progress(reply.done);
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
            checkFile(file);
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
