// The arguments of the study, and where its results go.
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { ENGINES } from "./engines.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));

/** Returns the options that the arguments of run.mjs give. */
export function parsed(args) {
    const { values } = parseArgs({
        args,
        options: {
            quick: { type: "boolean", default: false },
            minutes: { type: "string" },
            engine: { type: "string", multiple: true },
            suite: { type: "string", multiple: true },
            seed: { type: "string" },
            folder: { type: "string" },
        },
    });
    const unknown = values.engine?.find((name) => !ENGINES.some((engine) => engine.name === name));
    if (unknown) throw new Error(`unknown engine ${unknown}: choose from ${ENGINES.map(({ name }) => name).join(", ")}`);
    // A quick run is too coarse to be cited, so it must not replace committed results. tables.py reads the same folders.
    values.folder ??= path.join(here, values.quick ? "../../target/lab/quick/results" : "../results");
    return values;
}

/** Returns the engines that the options choose, all by default. */
export function chosen({ engine: names }) {
    return ENGINES.filter(({ name }) => !names || names.includes(name));
}
