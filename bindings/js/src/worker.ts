// A worker of `Pool`: hashes subtrees of files, and many files.
import { load } from "./engine.js";
import { MksumError } from "./errors.js";
import { hashFiles } from "./hash-files.js";
import { digestAt } from "./root-of.js";
import type { Job, Reply, RootReply } from "./pool.js";
import { Spec } from "./spec.js";

async function reply(job: Job): Promise<Reply> {
    const { id, spec } = job;
    try {
        await load();
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

if (typeof self === "object" && typeof self.postMessage === "function") {
    self.addEventListener("message", async ({ data }: MessageEvent<Job>) => self.postMessage(await reply(data)));
} else {
    // Not awaited: bundlers compile workers to scripts, which do not allow top-level await.
    void import(/* @vite-ignore */ "node:worker_threads").then(({ parentPort }) => {
        parentPort?.on("message", async (job: Job) => parentPort.postMessage(await reply(job)));
    });
}
