// Hashes many files with the workers: long ones piece by piece on all cores, short ones side by side.
import { MksumError, Spec, root } from "mksum/fetch";
import { Watched } from "../files/watch.js";
import { cover } from "../internal.js";
import { isAbort } from "./messages.js";
import { isMore, moreSums } from "./more-sums.js";

/** @typedef {import("mksum/fetch").Root} Root */

/**
 * A file, and the formats in which it is hashed.
 *
 * @typedef {object} Task
 * @property {File} file
 * @property {readonly string[]} formats
 * @property {import("../files/watch.js").Fresh | undefined} fresh
 */

/** @typedef {{ roots: Map<string, string>, refused: Map<string, string> }} Hashed The roots as texts, and why formats have none. */

/** All workers share a file that is at least so long, in bytes. */
const LONG = 1 << 25;

/** Returns how often a file is read for its formats, as far as progress tells. @param {readonly string[]} formats */
export function readsOf(formats) {
    return formats.some(isMore) && !formats.every(isMore) ? 2 : 1;
}

/**
 * Hashes files. `settle` receives the result of each, `Hashed` or an error, as soon as it is known; `progress` the bytes hashed so far.
 *
 * @template {Task} T
 * @param {import("mksum/fetch").Pool} pool
 * @param {readonly T[]} tasks
 * @param {{ signal: AbortSignal, progress: (done: number) => void, settle: (task: T, result: unknown) => void }} options
 */
export async function hashAll(pool, tasks, { signal, progress, settle: settled }) {
    let done = 0;
    /** @type {Map<T, Map<string, string>>} */
    const more = new Map();
    const settle = (/** @type {T} */ task, /** @type {unknown} */ result) => {
        if (result && typeof result === "object" && "roots" in result) {
            for (const [format, root] of more.get(task) ?? []) /** @type {Hashed} */ (result).roots.set(format, root);
        }
        settled(task, result);
    };
    /** @type {Map<string, { formats: readonly string[], refused: Map<string, string>, tasks: T[] }>} */
    const groups = new Map();
    /** @type {{ task: T, formats: string[], refused: Map<string, string> }[]} */
    const long = [];
    for (const task of tasks) {
        const own = task.formats.filter(isMore);
        if (own.length > 0) {
            const before = done;
            try {
                const watched = await Watched.begin(task.file, task.fresh);
                more.set(task, await moreSums(task.file, own, { signal, progress: (now) => progress(before + now) }));
                await watched.check();
            } catch (error) {
                if (isAbort(error)) throw error;
                settle(task, error);
                done += readsOf(task.formats) * task.file.size;
                continue;
            }
            if (own.length < task.formats.length) done += task.file.size;
        }
        const { formats, refused } = fitting(task.formats.filter((format) => !isMore(format)), task.file.size);
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
            // An error if there is no root: over nothing, or of one piece over everything.
            if (len === 0) root(spec, new Uint8Array());
            else cover(spec, len, len);
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
    return { roots: new Map(formats.map((format, at) => [format, roots[at].text])), refused };
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
