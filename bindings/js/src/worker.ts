// A worker of `Pool`: hashes subtrees of files, and many files. It is a file of its own or is started from its text.
import { builtin } from "./builtin.js";
import { load } from "./engine.js";
import { MksumError } from "./errors.js";
import { hashFiles } from "./hash-files.js";
import { digestAt } from "./root-of.js";
import type { Job, Reply, RootReply, Start } from "./pool.js";
import { Spec } from "./spec.js";

/** Settles when the engine is loaded: from the pool's module, or from this worker's own if a module cannot be sent. */
let loaded: Promise<void>;

async function reply(job: Job): Promise<Reply> {
    const { id, spec } = job;
    try {
        await loaded;
        if (!("files" in job)) return { id, digest: await digestAt(Spec.parse(spec), job.total, job.node, job.file) };
        const roots: RootReply[] = [];
        for await (const { root, error } of hashFiles(spec, job.files)) {
            roots.push(root ? { len: root.len, digest: root.digest, text: root.text } : { code: error.code, message: error.message });
        }
        return { id, roots };
    } catch (error) {
        return { id, code: error instanceof MksumError ? error.code : "source", message: (error as Error).message };
    }
}

async function receive(message: Start | Job, post: (message: Reply | "ready") => void): Promise<void> {
    if ("id" in message) return post(await reply(message));
    loaded = load(message.module).catch(() => load());
    // A failure is reported with each job.
    loaded.catch(() => {});
    post("ready");
}

if (typeof self === "object" && typeof self.postMessage === "function") {
    self.addEventListener("message", ({ data }: MessageEvent<Start | Job>) => void receive(data, (message) => self.postMessage(message)));
} else {
    // Not awaited: bundlers compile workers to scripts, which do not allow top-level await.
    void builtin("node:worker_threads").then((threads) => {
        const { parentPort } = threads as typeof import("node:worker_threads");
        parentPort?.on("message", (message: Start | Job) => void receive(message, (posted) => parentPort.postMessage(posted)));
    });
}
