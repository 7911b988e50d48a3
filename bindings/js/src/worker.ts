// A worker of `Pool`: hashes subtrees of files.
import { load } from "./engine.js";
import { MksumError } from "./errors.js";
import { digestAt } from "./root-of.js";
import type { Job, Reply } from "./pool.js";
import { Spec } from "./spec.js";

async function reply({ id, spec, total, node, file }: Job): Promise<Reply> {
    try {
        await load();
        return { id, digest: await digestAt(Spec.parse(spec), total, node, file) };
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
