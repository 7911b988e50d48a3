// Compares mksum with another library at a few lengths, in minutes: `node beside.mjs [--other NAME] [--engine NAME]… [--hash NAME]…
// [--passes N]`. Prints a table, and writes nothing. `make lab-js-beside` installs the dependencies before.
import { parseArgs } from "node:util";
import { median, seeded } from "./bootstrap.mjs";
import { build } from "./build.mjs";
import { ENGINES } from "./engines.mjs";
import { load, percent, watch } from "./load.mjs";
import { BESIDE } from "./points.mjs";

const { values: options } = parseArgs({
    options: {
        other: { type: "string", default: "hash-wasm" },
        engine: { type: "string", multiple: true, default: ["node", "chromium"] },
        hash: { type: "string", multiple: true, default: ["blake2b", "sha1", "sha256", "md5", "sha512"] },
        passes: { type: "string", default: "5" },
    },
});
const PLAN = { task: "measure", points: { hashes: BESIDE }, trials: 3, trialMs: 10, limitMs: Number.MAX_VALUE };
const NAMES = new Map([[1 << 10, "1 KiB"], [1 << 20, "1 MiB"], [1 << 26, "64 MiB"]]);
const passes = Number(options.passes);

/** Returns the fastest trial of each length in a process of its own, in milliseconds. */
async function fastest(session, library, hash, pass) {
    const found = new Map();
    const job = { suite: "hashes", case: hash, subject: library, library };
    await session.run({ ...PLAN, job, seed: seeded(pass, `${hash} ${library}`) }, ({ times, refused, stopped }) => {
        const why = refused?.why ?? stopped?.why;
        if (why) throw new Error(`${library}, ${hash}: ${why}`);
        if (times) found.set(times.x, Math.min(...times.times));
    });
    if (found.size === 0) throw new Error(`${library} has no ${hash}`);
    return found;
}

/** Returns the fastest trials of both libraries by hash, a pair for each pass: whatever happens to the machine happens to both. */
async function measured(session) {
    const pairs = new Map(options.hash.map((hash) => [hash, []]));
    for (let pass = 0; pass < passes; pass++)
        for (const hash of options.hash) {
            const own = {};
            const order = ["mksum", options.other];
            for (const library of pass % 2 ? order.toReversed() : order) own[library] = await fastest(session, library, hash, pass);
            pairs.get(hash).push(own);
        }
    return pairs;
}

/** Prints a row for each hash and length: the medians of the processes, and of the ratios of the pairs, with their range. */
function print(pairs) {
    console.log(`| MB/s | length | mksum | ${options.other} | ratio |\n|---|---:|---:|---:|---:|`);
    for (const [hash, all] of pairs)
        for (const size of BESIDE) {
            const speed = (library) => Math.round(median(all.map((own) => size / 1000 / own[library].get(size))));
            const ratios = all.map((own) => own[options.other].get(size) / own.mksum.get(size));
            const range = [Math.min(...ratios), Math.max(...ratios)].map((ratio) => ratio.toFixed(2)).join("–");
            console.log(`| ${hash} | ${NAMES.get(size)} | ${speed("mksum")} | ${speed(options.other)} | ${median(ratios).toFixed(2)} (${range}) |`);
        }
}

const before = await load();
await build();
for (const name of options.engine) {
    const engine = ENGINES.find((own) => own.name === name);
    if (!engine?.here()) throw new Error(`${name} is no engine, or not installed`);
    const [session, began, others] = [await engine.open(), Date.now(), watch()];
    try {
        const pairs = await measured(session);
        const seconds = Math.round((Date.now() - began) / 1000);
        console.log(`\n${name} ${engine.version()}: ${passes} processes of each library, ${seconds} s; other programs took ${percent(before)} of a processor before, and ${percent(others())} meanwhile\n`);
        print(pairs);
    } finally {
        session.close();
    }
}
