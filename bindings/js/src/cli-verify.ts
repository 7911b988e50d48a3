// `mksum verify`: the damaged ranges of a file by its kept tree, in the words of the tool.
import { OpenFile, ReadError, rootsOfFile, whole } from "./cli-files.js";
import { rootGiven, shown } from "./lists.js";
import type { Output } from "./cli-output.js";
import { MksumError } from "./errors.js";
import { type Damage, Outboard } from "./outboard.js";
import { cover, Feed } from "./pieces.js";

/** The options of `verify`. */
export interface Verify {
    /** The outboard's path, if it is not beside the file. */
    readonly outboard: string | undefined;
    /** The trusted root, if there is one. */
    readonly root: string | undefined;
    readonly quiet: boolean;
}

const grouped = (number: number): string => String(number).replace(/\B(?=(\d{3})+$)/g, ",");
const bytes = (number: number): string => `${grouped(number)} byte${number === 1 ? "" : "s"}`;

/** Compares files with their outboards. Returns whether all are intact. */
export async function verify(files: readonly string[], options: Verify, output: Output): Promise<boolean> {
    let good = true;
    for (const path of files) {
        try {
            if (!(await one(path, options, output))) good = false;
        } catch (error) {
            if (error instanceof WrongRoot || (error instanceof MksumError && error.code === "broken")) throw error;
            output.error(path, error);
            good = false;
        }
    }
    return good;
}

/** The error of a root that is none of the outboard's format. */
export class WrongRoot extends Error {}

async function one(path: string, options: Verify, output: Output): Promise<boolean> {
    const place = options.outboard ?? `${path}.mkt`;
    const file = await OpenFile.open(path, false);
    try {
        let outboard: Outboard;
        try {
            outboard = Outboard.open(await whole(place, false));
        } catch (error) {
            if (error instanceof ReadError && error.code === "ENOENT") {
                throw new ReadError(`there is no outboard ${shown(place)}: run 'mksum keep ${shown(path)}' first`);
            }
            output.error(place, error);
            return false;
        }
        if (options.root !== undefined) {
            let root;
            try {
                root = rootGiven(outboard.spec.text, options.root);
            } catch (cause) {
                throw new WrongRoot(`--root: ${(cause as Error).message}`, { cause });
            }
            if (root !== outboard.root) {
                output.error(place, new ReadError(`this outboard is of another file:\n  expected root ${options.root}\n  found root    ${outboard.root}`));
                return false;
            }
        }
        const trust = `root ${outboard.root} ${options.root === undefined ? "from the outboard" : "as given"}`;
        const line = (words: string): void => output.print(Buffer.from(`${shown(path)}: ${words}\n`));
        if (file.len !== outboard.len) {
            line(`FAILED: it has ${bytes(file.len)}, expected ${grouped(outboard.len)} (${trust})`);
            return false;
        }
        const damages = await damagesOf(file, outboard);
        const ranges = joined(damages.filter(({ of }) => of === "file"));
        for (const range of ranges) line(`damaged ${described(range, outboard)}`);
        const nodes = damages.filter(({ of }) => of === "outboard");
        for (const node of nodes) output.print(Buffer.from(`${shown(place)}: damaged node over ${described(node, outboard)}\n`));
        const damaged = ranges.reduce((sum, { start, end }) => sum + end - start, 0);
        if (damaged === 0) {
            if (!options.quiet) line(`OK (${bytes(outboard.len)}, ${trust})`);
        } else {
            const count = ranges.length === 1 ? "1 range" : `${ranges.length} ranges`;
            line(`FAILED: ${grouped(damaged)} of ${bytes(outboard.len)} ${damaged === 1 ? "is" : "are"} damaged (${count}, ${trust})`);
        }
        if (nodes.length > 0) {
            output.note(`${shown(place)}: ${nodes.length} ${nodes.length === 1 ? "node is" : "nodes are"} damaged: write it again with 'mksum keep' when the file is intact`);
        }
        return damages.length === 0;
    } finally {
        await file.close();
    }
}

/** Returns the damage to a file and its outboard. */
async function damagesOf(file: OpenFile, outboard: Outboard): Promise<Damage[]> {
    const { spec, len, unit } = outboard;
    const feed = new Feed(spec, len, cover(spec, len, unit));
    try {
        for await (const slice of file.slices(0, len)) feed.update(slice);
        await file.finish();
        const found = outboard.damagedBy(feed.digests);
        // Without bytes there are no digests to compare: the root decides.
        if (len === 0) {
            const [root] = await rootsOfFile(file, [spec.text]);
            if (String(root) !== outboard.root) throw new ReadError("this outboard is not of an empty file");
        }
        return found;
    } finally {
        feed.free();
    }
}

/** A range of a file. */
interface Range {
    readonly start: number;
    readonly end: number;
}

/** Returns ranges of which none continues another. */
function joined(ranges: readonly Range[]): Range[] {
    const all: { start: number; end: number }[] = [];
    for (const { start, end } of ranges) {
        const last = all.at(-1);
        if (last?.end === start) last.end = end;
        else all.push({ start, end });
    }
    return all;
}

/** Returns a range as the tool prints it: `65536..131072 (65,536 bytes, leaf 1)`. */
function described({ start, end }: Range, { spec, len }: Outboard): string {
    const [first, behind] = leavesOf(spec.family, spec.leaf, len, start, end) ?? inCover(cover(spec, len, 1), start, end);
    const leaves = behind - first <= 1 ? `leaf ${first}` : `leaves ${first}..${behind}`;
    return `${start}..${end} (${bytes(end - start)}, ${leaves})`;
}

/** Returns the first leaf of a range and the one after its last, where all leaves are equally long. */
function leavesOf(family: string, leaf: number, len: number, start: number, end: number): [number, number] | undefined {
    if (family === "mtsum") return undefined;
    if (leaf === Infinity) return [0, 1];
    return [Math.floor(start / leaf), Math.ceil(Math.min(end, len) / leaf)];
}

function inCover(leaves: readonly { readonly start: number; readonly len: number }[], start: number, end: number): [number, number] {
    return [leaves.findLastIndex((leaf) => leaf.start <= start), leaves.findLastIndex((leaf) => leaf.start < end) + 1];
}
