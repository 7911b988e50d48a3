// A worker of `Pool`: hashes pieces of trees over a file, and many files. It is a file of its own or is started from its text.
import { builtin } from "./builtin.js";
import { load } from "./engine.js";
import { MksumError } from "./errors.js";
import { hashFiles } from "./hash-files.js";
import type { Job, Message, Reply, RootsReply, Start } from "./messages.js";
import { Feed } from "./pieces.js";
import { feedAll } from "./root-of.js";
import { Spec } from "./spec.js";

/** The bytes between two messages about the progress of a job. */
const TOLD = 1 << 24;

/** Settles when the engine is loaded: from the pool's module, or from this worker's own if a module cannot be sent. */
let loaded: Promise<void>;

/** The jobs that are not ended. */
const running = new Map<number, AbortController>();

async function reply(job: Job, post: (reply: Reply) => void): Promise<Reply> {
    const { id } = job;
    const controller = new AbortController();
    running.set(id, controller);
    const { signal } = controller;
    try {
        await loaded;
        if ("trees" in job) {
            const { file, start, end, trees } = job;
            let told = 0;
            const progress = (done: number): void => {
                if (done - told < TOLD || done === end - start) return;
                told = done;
                post({ id, done });
            };
            const feeds = trees.map(({ spec, pieces }) => new Feed(Spec.parse(spec), file.size, pieces));
            return { id, digests: await feedAll(feeds, file.slice(start, end), { signal, progress }) };
        }
        const results: RootsReply[] = [];
        for await (const { roots, error } of hashFiles(job.specs, job.files, { signal })) {
            if (error) results.push({ code: error.code, message: error.message });
            else results.push({ len: roots[0]!.len, roots: roots.map(({ digest, text }) => ({ digest, text })) });
        }
        return { id, results };
    } catch (error) {
        return { id, code: error instanceof MksumError ? error.code : "source", message: (error as Error).message };
    } finally {
        running.delete(id);
    }
}

async function receive(message: Start | Message, post: (message: Reply | "ready") => void): Promise<void> {
    if ("cancel" in message) return running.get(message.cancel)?.abort();
    if ("id" in message) return post(await reply(message, post));
    loaded = load(message.module).catch(() => load());
    // A failure is reported with each job.
    loaded.catch(() => {});
    post("ready");
}

if (typeof self === "object" && typeof self.postMessage === "function") {
    self.addEventListener("message", ({ data }: MessageEvent<Start | Message>) => void receive(data, (message) => self.postMessage(message)));
} else {
    // Not awaited: bundlers compile workers to scripts, which do not allow top-level await.
    void builtin("node:worker_threads").then((threads) => {
        const { parentPort } = threads as typeof import("node:worker_threads");
        parentPort?.on("message", (message: Start | Message) => void receive(message, (posted) => parentPort.postMessage(posted)));
    });
}
