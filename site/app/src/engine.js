// The engine and its workers, which are started once and kept.
import { MksumError, Pool, load } from "mksum/fetch";
import { tool } from "./internal.js";

/** @type {Promise<Pool> | undefined} */
let started;

/** Starts the engine and the workers before they are needed, so that later nothing is loaded. */
export function start() {
    started ??= load().then(() => Pool.start());
    // The next call tries again.
    started.catch(() => (started = undefined));
    return started;
}

/** @type {Promise<void> | undefined} */
let parser;

/** Loads the tool's parser of lists and of published sums, and its pictures of trees, when one is needed for the first time. */
export function loaded() {
    parser ??= tool.load().catch((cause) => {
        // The next call tries again.
        parser = undefined;
        throw new Error(`A part of the page cannot be loaded: ${cause instanceof Error ? cause.message : String(cause)}. Check the connection and try again`, { cause });
    });
    return parser;
}

/**
 * Calls a function with the workers. If one of them died, the next call starts others.
 *
 * @template T
 * @param {(pool: Pool) => Promise<T>} act
 * @returns {Promise<T>}
 */
export async function withPool(act) {
    const pool = await start();
    try {
        return await act(pool);
    } catch (error) {
        if (error instanceof MksumError && /^(a worker failed|this pool has ended)/.test(error.message)) {
            pool.end();
            started = undefined;
        }
        throw error;
    }
}
