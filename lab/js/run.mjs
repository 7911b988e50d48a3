// Runs the whole study: `node run.mjs [--quick] [--minutes N] [--engine NAME]… [--suite NAME]… [--seed N] [--folder PATH]`.
// `make lab-js` also installs the dependencies before and draws the graphs afterwards. Writes one file of results for each
// engine, in the format of lab/README.md: in lab/results, or in target/lab/quick/results for a quick run.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "./build.mjs";
import { chosen as choose, parsed } from "./options.mjs";
import { FILES, ITERATIONS, KEYS, SIZES, STREAMS, TREES } from "./points.mjs";
import { write } from "./results.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const options = parsed(process.argv.slice(2));
const every = (items, step, always = []) =>
    items.filter((item, index) => index % step === 0 || index === items.length - 1 || always.includes(item));
const seed = options.seed ? Number(options.seed) : Math.floor(Math.random() * 2 ** 32);
const chosen = choose(options);
const minutes = Number(options.minutes ?? (options.quick ? 5 : 24));
const suites = options.suite ?? ["hashes", "pbkdf2", "keys", "trees", "pool", "streams", "memory"];
// Shares of an engine's time. The rest is for starting it and for measuring memory.
const SHARES = { hashes: 0.52, pbkdf2: 0.12, keys: 0.05, trees: 0.03, pool: 0.04, streams: 0.11 };
const LIMITS = { hashes: 200, pbkdf2: 200, keys: 500, trees: 500, pool: 4000, streams: 1000 };
const QUICK_LIMITS = { hashes: 50, pbkdf2: 50, keys: 200, trees: 100, pool: 1000, streams: 500 };
// The lowest limits: all relevant libraries hash 1 MiB in less time.
const LEAST = { hashes: 25, pbkdf2: 25, keys: 100, trees: 100, pool: 1000, streams: 250 };
const ASKED = [16, 64, 1024, 65536, 1048576];

/** Returns the plan of an engine for `ms` milliseconds. Engines after the first two have every other size. */
function plan(engine, ms) {
    const budgetMs = Object.fromEntries(
        Object.entries(SHARES).map(([suite, share]) => [suite, Math.round(share * ms)]),
    );
    if (options.quick)
        return {
            sizes: every(SIZES, 6, ASKED),
            iterations: every(ITERATIONS, 8, [1000]),
            keys: [1, 4, 16],
            trees: every(TREES, 3, [1048576]),
            files: FILES.slice(0, 2),
            streams: [1, 64, 1024],
            seed,
            trialMs: 1,
            limitMs: QUICK_LIMITS,
            leastMs: LEAST,
            rounds: [3, 3],
            budgetMs,
        };
    const step = engine.first ? 1 : 2;
    return {
        sizes: every(SIZES, step, ASKED),
        iterations: every(ITERATIONS, step, [1000]),
        keys: KEYS,
        trees: TREES,
        files: FILES,
        streams: STREAMS,
        seed,
        trialMs: 2,
        limitMs: LIMITS,
        leastMs: LEAST,
        rounds: [3, 9],
        budgetMs,
    };
}

const version = (name) => JSON.parse(readFileSync(path.join(here, "node_modules", name, "package.json"))).version;
const { dependencies } = JSON.parse(readFileSync(path.join(here, "package.json")));
const versions = Object.fromEntries(Object.keys(dependencies).map((name) => [name, version(name)]));
const commit = execFileSync("git", ["describe", "--always", "--dirty"], { cwd: here, encoding: "utf8" }).trim();

await build();
const { memorySubjects } = await import("./build/study.mjs");
const subjects = await memorySubjects();
const weight = (engine) => (engine.first ? 2 : 1);
const weights = chosen.reduce((sum, engine) => sum + weight(engine), 0);
const failures = [];
for (const engine of chosen) {
    const running = engine.here() ? engine.version() : undefined;
    if (!running) {
        failures.push(`${engine.name} is not installed: ${engine.program}`);
        console.error(failures.at(-1));
        continue;
    }
    console.error(`${engine.name} ${running}`);
    const begin = Date.now();
    const planned = plan(engine, (minutes * 60_000 * weight(engine)) / weights);
    const result = { rows: [], refused: [], stopped: [], absent: [], subjects: [] };
    const receive = (message) => {
        if (message.row) result.rows.push(message.row);
        for (const kind of ["refused", "stopped", "absent"]) if (message[kind]) result[kind].push(message[kind]);
        if (message.clock) result.clock ??= message.clock;
        if (message.subjects && !result.subjects.length) result.subjects = message.subjects;
        if (message.refused) console.error(`  refused: ${JSON.stringify(message.refused)}`);
        if (message.progress?.startsWith("round"))
            console.error(`  ${Math.round((Date.now() - begin) / 1000)} s: ${message.progress}`);
    };
    try {
        const timed = suites.filter((suite) => suite !== "memory");
        if (timed.length) await engine.run({ ...planned, suites: timed }, receive);
        // Memory is measured in a fresh process each time. Firefox does not report it.
        if (suites.includes("memory") && engine.name !== "firefox")
            for (const way of subjects) {
                const relevant = (message) => (message.row || (message.refused && message.refused.case)) && receive(message);
                await engine.run(
                    { ...planned, suites: ["memory"], way, subjects: [way.split(", ")[0]], streams: [64, 1024] },
                    relevant,
                );
            }
    } catch (error) {
        failures.push(`${engine.name}: ${error.message}`);
        console.error(failures.at(-1));
        continue;
    }
    const file = write(options.folder, {
        ...result,
        engine: { name: engine.name, version: running },
        plan: planned,
        quick: options.quick,
        commit,
        versions,
        os,
    });
    console.error(
        `  ${Math.round((Date.now() - begin) / 1000)} s, ${result.rows.length} rows: ${path.relative(process.cwd(), file)}`,
    );
}
if (failures.length) process.exit(1);
