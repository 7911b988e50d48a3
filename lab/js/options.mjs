// The arguments of the study, where its results go, and what is measured.
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { ENGINES } from "./engines.mjs";
import { FILES, ITERATIONS, KEYS, OPEN, SIZES, STREAMS, TREES } from "./points.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));

/** Returns the options that the arguments of run.mjs give. */
export function parsed(args) {
    const { values } = parseArgs({
        args,
        options: {
            quick: { type: "boolean", default: false },
            busy: { type: "boolean", default: false },
            engine: { type: "string", multiple: true },
            suite: { type: "string", multiple: true },
            subject: { type: "string", multiple: true },
            seed: { type: "string" },
            folder: { type: "string" },
        },
    });
    const known = { engine: ENGINES.map(({ name }) => name), suite: Object.keys(POINTS) };
    for (const [kind, names] of Object.entries(known)) {
        const unknown = values[kind]?.find((name) => !names.includes(name));
        if (unknown) throw new Error(`unknown ${kind} ${unknown}: choose from ${names.join(", ")}`);
    }
    // A quick run is too coarse to be cited, so it must not replace committed results. tables.py reads the same folders.
    values.folder ??= path.join(here, values.quick ? "../../target/lab/quick/results" : "../results");
    return values;
}

/** Returns the engines that the options choose. */
export function chosen({ engine: names }) {
    return ENGINES.filter(({ name, byDefault }) => names?.includes(name) ?? byDefault);
}

const POINTS = {
    hashes: SIZES,
    pbkdf2: ITERATIONS,
    keys: KEYS,
    trees: TREES,
    pool: FILES,
    streams: STREAMS,
    memory: OPEN,
};
const QUICK_POINTS = {
    hashes: [16, 64, 1024, 65536, 1048576],
    pbkdf2: [10, 1000],
    keys: [1, 4, 16],
    trees: [1024, 65536, 1048576],
    pool: FILES.slice(0, 1),
    streams: [1, 64],
    memory: OPEN,
};
// A curve ends before a call takes longer, in milliseconds.
const LIMITS = { hashes: 200, pbkdf2: 200, keys: 200, trees: 200, pool: 4000, streams: 500, memory: 0 };

/** Returns what is measured: points, passes, and in each process the trials of a point. */
export function plan({ quick }) {
    return quick
        ? { points: QUICK_POINTS, passes: 2, trials: 3, trialMs: 1, limitMs: LIMITS }
        : { points: POINTS, passes: 3, trials: 5, trialMs: 5, limitMs: LIMITS };
}
