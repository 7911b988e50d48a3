import { cover, endOf, type Subtree } from "./pieces.js";
import type { Wanted } from "./root-of.js";

/** The bytes that a worker hashes at once, unless a leaf is longer. */
export const AT_ONCE = 1 << 22;

/** A longer task is a single leaf, which one worker hashes while others go on. */
const LONG = 1 << 24;

/** A range of a file for one worker: the pieces of one or several trees that tile it. */
export interface Task {
    readonly start: number;
    readonly end: number;
    /** The number of the read of the file that this is a part of. */
    readonly read: number;
    /** The trees: their places in the list of what is wanted, and their pieces from `first` on. */
    readonly trees: readonly { readonly at: number; readonly first: number; readonly pieces: readonly Subtree[] }[];
}

/** Returns whether a task takes so long that it tells its progress. */
export function isLong({ start, end }: Task): boolean {
    return end - start > LONG;
}

/** A tree: its place in the list of what is wanted, and its pieces. */
interface Tree {
    readonly at: number;
    readonly pieces: readonly Subtree[];
}

/**
 * Returns the tasks for several trees over a file of `total` bytes, in the order of their places in the file; the number of pieces
 * of each tree; and how often the file is read. Trees share a read if their pieces end at the same places often enough.
 *
 * @throws {MksumError} `format` if a format has no root for this length; `length` if there are too many pieces.
 */
export function plan(wanted: readonly Wanted[], total: number): { tasks: Task[]; counts: number[]; reads: number } {
    const all = wanted.map(({ spec, atMost }, at): Tree => ({ at, pieces: cover(spec, total, atMost) }));
    const tasks: Task[] = [];
    let [left, reads] = [all, 0];
    for (; left.length > 0; reads++) {
        // The first tree, and those that share its read.
        let [group, best] = [left.slice(0, 1), together(left.slice(0, 1), reads)];
        for (const tree of left.slice(1)) {
            const more = together([...group, tree], reads);
            if (!more.some(isLong)) [group, best] = [[...group, tree], more];
        }
        left = left.filter((tree) => !group.includes(tree));
        for (const task of best) tasks.push(task);
    }
    tasks.sort((one, other) => one.start - other.start || other.end - one.end);
    return { tasks, counts: all.map(({ pieces }) => pieces.length), reads: Math.max(reads, 1) };
}

/** Returns the tasks of trees that share a read: each ends where a piece of every tree ends. */
function together(all: readonly Tree[], read: number): Task[] {
    const others = all.slice(1).map(({ pieces }) => new Set(pieces.map(endOf)));
    const ends = all[0]!.pieces.map(endOf).filter((end) => others.every((found) => found.has(end)));
    const used = all.map(() => 0);
    const tasks: Task[] = [];
    let start = 0;
    for (const [index, end] of ends.entries()) {
        // After the last end there is none.
        if (ends[index + 1]! - start <= AT_ONCE) continue;
        const trees = all.map(({ at, pieces }, tree) => {
            const first = used[tree]!;
            while (used[tree]! < pieces.length && pieces[used[tree]!]!.start < end) used[tree]!++;
            return { at, first, pieces: pieces.slice(first, used[tree]) };
        });
        tasks.push({ start, end, read, trees });
        start = end;
    }
    return tasks;
}
