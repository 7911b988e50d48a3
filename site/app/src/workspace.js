// The files and what is known about them, their digests, and the jobs that hash them. It has no page: tests run it in Node.
import { MksumError } from "mksum/fetch";
import { withPool } from "./engine.js";
import { Watched } from "./files/watch.js";
import { hashAll, readsOf } from "./hashing/hash-all.js";
import { Job } from "./hashing/job.js";
import { isAbort, messageOf } from "./hashing/messages.js";
import { fileOfOutboard } from "./known/matching.js";
import { Checks } from "./known/checks.js";
import { compare } from "./damage/compare.js";

/**
 * @typedef {import("./files/collect.js").Chosen} Chosen
 * @typedef {import("./known/recognise.js").Known} Known
 * @typedef {import("./damage/compare.js").Comparison} Comparison
 */

/**
 * A file on the page.
 *
 * @typedef {object} Item
 * @property {number} id
 * @property {string} path
 * @property {number} size
 * @property {File} file
 * @property {FileSystemFileHandle | undefined} handle
 * @property {import("./files/watch.js").Fresh | undefined} fresh
 * @property {Map<string, string>} roots The roots so far, by format.
 * @property {Map<string, string>} refused Formats that have no root for this file, and why.
 * @property {string | undefined} error Why it has no digest.
 * @property {boolean} busy
 * @property {boolean} cancelled Whether its hashing was cancelled: it begins again only when it is asked for.
 * @property {Comparison | undefined} comparison The comparison with an outboard.
 */

/** A change of the workspace: `items` (files, roots), `jobs` or `known`. */
export class Workspace extends EventTarget {
    /** @type {Item[]} */
    items = [];
    /** @type {Known[]} */
    known = [];
    /** @type {Set<Job>} */
    jobs = new Set();
    /** The formats that were chosen. */
    formats = ["sha256", "blake3"];
    checks = new Checks([], []);
    /** Whether formats that are unlikely are tried for long files too. */
    thorough = false;
    /** @private */
    next = 1;

    /**
     * Adds files and hashes them. A file with the path of another one replaces it.
     *
     * @param {readonly Chosen[]} chosen
     */
    add(chosen) {
        const paths = new Set(chosen.map(({ path }) => path));
        this.items = this.items.filter(({ path }) => !paths.has(path));
        for (const { path, file, handle, fresh } of chosen) {
            this.items.push({
                id: this.next++, path, size: file.size, file, handle, fresh,
                roots: new Map(), refused: new Map(), error: undefined, busy: false, cancelled: false, comparison: undefined,
            });
        }
        this.refresh();
    }

    /** @param {readonly Known[]} known */
    learn(known) {
        this.known = [...this.known, ...known];
        this.refresh();
    }

    /** @param {Known} known */
    forget(known) {
        this.known = this.known.filter((other) => other !== known);
        for (const item of this.items) if (known.kind === "outboard" && item.comparison?.outboard === known.outboard) item.comparison = undefined;
        this.refresh();
    }

    /** @param {readonly string[]} formats */
    choose(formats) {
        this.formats = [...formats];
        this.refresh();
    }

    /** Removes a file. @param {Item} item */
    remove(item) {
        this.items = this.items.filter((other) => other !== item);
        this.refresh();
    }

    /** Removes all files, and ends all jobs. */
    clear() {
        for (const job of this.jobs) job.cancel();
        this.items = [];
        this.refresh();
    }

    /** Tries unlikely formats of claims for long files too. */
    tryOthers() {
        this.thorough = true;
        this.refresh();
    }

    /** Hashes a file whose hashing was cancelled. @param {Item} item */
    resume(item) {
        item.cancelled = false;
        this.refresh();
    }

    /** Hashes again a file that had an error. @param {Item} item @param {File} file */
    again(item, file) {
        Object.assign(item, { file, size: file.size, error: undefined, cancelled: false, comparison: undefined, roots: new Map(), refused: new Map() });
        this.refresh();
    }

    /** Starts the work that is missing: digests in the formats that are wanted, and comparisons with outboards. */
    refresh() {
        this.checks = new Checks(this.items, this.known, this.thorough);
        const tasks = this.items.flatMap((item) => {
            if (item.busy || item.error || item.cancelled) return [];
            const missing = this.wanted(item).filter((format) => !item.roots.has(format) && !item.refused.has(format));
            return missing.length > 0 ? [{ item, file: item.file, fresh: item.fresh, formats: missing }] : [];
        });
        if (tasks.length > 0) void this.hash(tasks);
        for (const known of this.known) {
            if (known.kind !== "outboard") continue;
            const item = fileOfOutboard(known.name, known.outboard.len, this.items);
            if (!item || item.error || (item.comparison && item.comparison.outboard === known.outboard)) continue;
            void this.compare(item, known.outboard, known.name);
        }
        this.tell();
    }

    /** Returns the formats in which a file is hashed. @param {Item} item */
    wanted(item) {
        return [...new Set([...this.formats, ...this.checks.formatsOf(item)])];
    }

    /**
     * @private
     * @param {{ item: Item, file: File, fresh: Item["fresh"], formats: string[] }[]} tasks
     */
    async hash(tasks) {
        const total = tasks.reduce((sum, { file, formats }) => sum + readsOf(formats) * file.size, 0);
        const [first] = tasks;
        const title = tasks.length === 1 && first ? `Hashing ${first.item.path}` : `Hashing ${tasks.length.toLocaleString("en-US")} files`;
        for (const { item } of tasks) item.busy = true;
        await this.run(title, total, async (job) => {
            await withPool((pool) =>
                hashAll(pool, tasks, {
                    signal: job.signal,
                    progress: (done) => job.advance(done),
                    settle: ({ item, file }, result) => {
                        item.busy = false;
                        // The file may have been replaced while it was hashed.
                        if (item.file !== file) return;
                        if (result && typeof result === "object" && "roots" in result) {
                            const { roots, refused } = /** @type {import("./hashing/hash-all.js").Hashed} */ (result);
                            for (const [format, root] of roots) item.roots.set(format, root);
                            for (const [format, reason] of refused) item.refused.set(format, reason);
                        } else {
                            this.fail(item, result);
                        }
                    },
                }),
            );
        }, (error) => {
            for (const { item } of tasks) {
                if (!item.busy) continue;
                item.busy = false;
                if (isAbort(error)) item.cancelled = true;
                else this.fail(item, error);
            }
        });
    }

    /** Records an error. A file with one has no digest. @private @param {Item} item @param {unknown} error */
    fail(item, error) {
        item.roots.clear();
        item.comparison = undefined;
        item.error = messageOf(item.path, error);
    }

    /**
     * Compares a file with an outboard.
     *
     * @param {Item} item
     * @param {import("mksum/fetch").Outboard} outboard
     * @param {string} name
     */
    async compare(item, outboard, name) {
        /** @type {Comparison} */
        const comparison = { outboard, name, state: "busy", ranges: [], ofOutboard: [], message: undefined };
        item.comparison = comparison;
        const { file } = item;
        await this.run(`Comparing ${item.path} with ${name}`, outboard.len, async (job) => {
            const watched = await Watched.begin(file, item.fresh);
            const result = await withPool((pool) => compare(file, outboard, { pool, signal: job.signal, progress: (done) => job.advance(done) }));
            await watched.check();
            Object.assign(comparison, result, { state: "done" });
        }, (error) => {
            const aborted = isAbort(error);
            Object.assign(comparison, { state: "failed", message: aborted ? "The comparison was cancelled." : messageOf(item.path, error) });
            if (error instanceof MksumError && error.code === "source" && item.file === file) item.error = messageOf(item.path, error);
        });
    }

    /**
     * Runs work with progress that can be cancelled. Errors are given to `failed`; it resolves in every case.
     *
     * @param {string} title
     * @param {number} total
     * @param {(job: Job) => Promise<void>} work
     * @param {(error: unknown) => void} failed
     */
    async run(title, total, work, failed) {
        const job = new Job(title, total);
        this.jobs.add(job);
        this.tell();
        try {
            await work(job);
            job.end("done");
        } catch (error) {
            failed(error);
            job.end(isAbort(error) ? "cancelled" : "failed");
        } finally {
            this.jobs.delete(job);
            this.refresh();
        }
    }

    /** @private */
    tell() {
        this.dispatchEvent(new Event("change"));
    }
}
