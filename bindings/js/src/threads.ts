// How workers are started on each platform.
import { builtin } from "./builtin.js";
import { MksumError } from "./errors.js";
import type { Message, Reply, Start } from "./messages.js";

/** A worker on any platform. */
export interface Thread {
    post(message: Message): void;
    end(): void;
}

/** A worker before it is ready: the common part of web workers and Node's workers. */
interface Started {
    post(message: Start | Message): void;
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
export async function thread(
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
                if (!("done" in received) && --busy === 0) worker?.keeps(false);
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
        post: (message) => {
            own.post(message);
            if ("id" in message && busy++ === 0) own.keeps(true);
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
    // flags explicitly, so it gets none. (Of `process` by itself, some bundlers add an imitation to the program.)
    const inline = globalThis.process.execArgv.some((flag) => flag.startsWith("--input-type"));
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
