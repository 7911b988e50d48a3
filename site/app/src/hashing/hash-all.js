// Hashes many files with the workers: long ones piece by piece on all cores, short ones side by side.
import { MksumError, Spec } from "mksum/fetch";
import { Watched } from "../files/watch.js";
import { cover } from "../internal.js";
import { isAbort } from "./messages.js";

/** @typedef {import("mksum/fetch").Root} Root */

/**
 * A file, and the formats in which it is hashed.
 *
 * @typedef {object} Task
 * @property {File} file
 * @property {readonly string[]} formats
 * @property {import("../files/watch.js").Fresh | undefined} fresh
 */

/** @typedef {{ roots: Map<string, Root>, refused: Map<string, string> }} Hashed */

/** All workers share a file that is at least so long, in bytes. */
const LONG = 1 << 25;

/**
 * Hashes files. `settle` receives the result of each, `Hashed` or an error, as soon as it is known; `progress` the bytes hashed so far.
 *
 * @template {Task} T
 * @param {import("mksum/fetch").Pool} pool
 * @param {readonly T[]} tasks
 * @param {{ signal: AbortSignal, progress: (done: number) => void, settle: (task: T, result: unknown) => void }} options
 */
export async function hashAll(pool, tasks, { signal, progress, settle }) {
    let done = 0;
    /** @type {Map<string, { formats: readonly string[], refused: Map<string, string>, tasks: T[] }>} */
    const groups = new Map();
    /** @type {{ task: T, formats: string[], refused: Map<string, string> }[]} */
    const long = [];
    for (const task of tasks) {
        const { formats, refused } = fitting(task.formats, task.file.size);
        if (formats.length === 0) {
            settle(task, { roots: new Map(), refused });
            done += task.file.size;
        } else if (task.file.size >= LONG) {
            long.push({ task, formats, refused });
        } else {
            const key = `${formats.join(" ")}\n${[...refused].join(" ")}`;
            const group = groups.get(key) ?? { formats, refused, tasks: [] };
            group.tasks.push(task);
            groups.set(key, group);
        }
    }
    for (const { formats, refused, tasks: own } of groups.values()) {
        const before = done;
        const files = own.map(({ file }) => file);
        const watched = await Promise.all(own.map(({ file, fresh }) => Watched.begin(file, fresh)));
        let index = 0;
        const options = { signal, progress: (/** @type {number} */ now) => progress(before + now) };
        for await (const { roots, error } of pool.hashFiles(formats, files, options)) {
            const at = index++;
            settle(own[at], error ?? (await changed(watched[at])) ?? hashed(formats, roots, refused));
        }
        done = before + files.reduce((sum, { size }) => sum + size, 0);
        progress(done);
    }
    for (const { task, formats, refused } of long) {
        const before = done;
        try {
            const watched = await Watched.begin(task.file, task.fresh);
            const roots = await pool.rootsOf(formats, task.file, { signal, progress: (now) => progress(before + now) });
            settle(task, (await changed(watched)) ?? hashed(formats, roots, refused));
        } catch (error) {
            if (isAbort(error)) throw error;
            settle(task, error);
        }
        done = before + task.file.size;
        progress(done);
    }
}

/**
 * Returns the formats that have a root for this length, and why others have none.
 *
 * @param {readonly string[]} formats
 * @param {number} len
 */
function fitting(formats, len) {
    /** @type {Map<string, string>} */
    const refused = new Map();
    const fit = formats.filter((format) => {
        try {
            const spec = Spec.parse(format);
            // One piece over everything: an error if there is no root.
            cover(spec, len, Math.max(1, len));
            return true;
        } catch (error) {
            if (!(error instanceof MksumError)) throw error;
            refused.set(format, error.message);
            return false;
        }
    });
    return { formats: fit, refused };
}

/**
 * @param {readonly string[]} formats
 * @param {readonly Root[]} roots
 * @param {Map<string, string>} refused
 * @returns {Hashed}
 */
function hashed(formats, roots, refused) {
    return { roots: new Map(formats.map((format, at) => [format, roots[at]])), refused };
}

/** Returns the error of a file that changed, or `undefined`. @param {Watched | undefined} watched */
async function changed(watched) {
    try {
        await watched?.check();
        return undefined;
    } catch (error) {
        return error;
    }
}
