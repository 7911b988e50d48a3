// Tests the study without timing: every digest of every library in Node and Chromium, and that wrong libraries are refused.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "../build.mjs";
import { ENGINES } from "../engines.mjs";
import { ITERATIONS, SIZES } from "../points.mjs";
import { Random } from "../random.mjs";

const here = fileURLToPath(new URL("..", import.meta.url));
await build();
await build("test/wrong.mjs");

// Sizes around a block, and one that is longer than a chunk of 8 KiB.
const CHECK = {
    task: "check",
    points: {
        hashes: [1, 16, 64, 256, 1024, 16384],
        pbkdf2: [1, 3, 100],
        keys: [1, 4],
        trees: [1024, 16384],
        pool: [1 << 24],
        streams: [1, 64],
        memory: [],
    },
    seed: 7,
};

async function reports(engine, plan) {
    const all = { refused: [], checked: [], absent: [], job: [], library: [] };
    const session = await engine.open();
    try {
        await session.run(plan, (message) => {
            for (const [kind, value] of Object.entries(message)) all[kind]?.push(value);
        });
    } finally {
        session.close();
    }
    return all;
}

// An instance of hash-wasm for each file exceeds the address space of a page. That is a result, not an error.
const known = ({ subject, case: name, why }) =>
    name === "streams" && subject.startsWith("hash-wasm") && /memory/i.test(why);

for (const { name, absent } of [
    { name: "node", absent: [] },
    { name: "chromium", absent: ["node:crypto"] },
]) {
    test(`every library has the right digests in ${name}`, async () => {
        const engine = ENGINES.find((engine) => engine.name === name);
        assert.ok(engine.version(), `${name} is missing: install ${engine.program}`);
        const all = await reports(engine, CHECK);
        const listed = await reports(engine, { ...CHECK, task: "list" });
        assert.deepEqual(
            all.refused.filter((one) => !known(one)),
            [],
        );
        assert.deepEqual(
            all.absent.map(({ subject }) => subject),
            absent,
        );
        // Every curve that is listed, and so will be measured, was checked at every point.
        const checked = new Map();
        for (const one of [...all.checked, ...all.refused]) {
            const name = JSON.stringify([one.case, one.subject]);
            checked.set(name, (checked.get(name) ?? 0) + 1);
        }
        for (const { suite, case: name, subject } of listed.job)
            if (suite !== "memory") {
                const key = JSON.stringify([name, subject]);
                assert.equal(checked.get(key), CHECK.points[suite].length, key);
            }
        assert.equal(listed.library.length, 29 - absent.length);
        assert.ok(all.checked.length > 500, `${all.checked.length} digests`);
    });
}

test("wrong libraries are refused and never timed, such as the two artefacts of 2014", async () => {
    const { run, ADAPTERS } = await import("../build/wrong/wrong.mjs");
    const points = { hashes: [64, 256], pbkdf2: [1, 10], keys: [], trees: [], pool: [], streams: [], memory: [] };
    const jobs = [];
    const timed = new Map();
    const refused = new Map();
    const listed = ({ job, refused: one }) => {
        if (job) jobs.push(job);
        if (one) refused.set(one.subject, one.why);
    };
    await run({ task: "list", points, seed: 1 }, listed, {}, ADAPTERS);
    for (const job of jobs.filter(({ suite }) => suite === "hashes" || suite === "pbkdf2")) {
        const name = `${job.case} ${job.subject}`;
        const plan = { task: "measure", job, points, seed: 1, trials: 3, trialMs: 0.2, limitMs: 1000 };
        const report = ({ times, refused: one }) => {
            if (times) timed.set(name, [...(timed.get(name) ?? []), times]);
            if (one) refused.set(name, one.why);
        };
        await run(plan, report, {}, ADAPTERS);
    }
    for (const subject of [
        "sha256 sjcl fed bytes",
        "sha256 sjcl without its end",
        "sha256 bytes as text",
        "sha256 right at first",
        "pbkdf2-sha256 PBKDF2 with its default",
        "pbkdf2-sha256 remembers",
    ]) {
        assert.match(refused.get(subject) ?? "not refused", /^wrong digest: expected [0-9a-f]{64}, found /, subject);
        assert.ok(!timed.has(subject), `${subject} was timed`);
    }
    assert.equal(refused.get("gone"), "does not load: not here");
    assert.equal(refused.get("not installed"), "does not load: the package mksum-lab-no-such-package is not installed");
    for (const subject of ["sha256 @noble/hashes", "pbkdf2-sha256 @noble/hashes"])
        assert.deepEqual(
            timed.get(subject).map(({ times }) => times.length),
            [3, 3],
        );
    assert.ok(![...refused.keys()].some((name) => name.includes("@noble")));
});

test("every point has a stored digest, and the sizes that tables and figures name are measured", () => {
    for (const size of [1, 16, 64, 1024, 65536, 1048576, 1e7]) assert.ok(SIZES.includes(size), `${size}`);
    assert.deepEqual([ITERATIONS[0], ITERATIONS.at(-1)], [1, 1e4]);
    execFileSync(process.execPath, ["references.mjs", "--check"], { cwd: here });
});

test("the same seed gives the same order, and another seed another order", () => {
    const items = Array.from({ length: 50 }, (_, index) => index);
    const once = new Random(5).shuffled(items);
    assert.deepEqual(new Random(5).shuffled(items), once);
    assert.notDeepEqual(new Random(6).shuffled(items), once);
    assert.deepEqual(
        once.toSorted((a, b) => a - b),
        items,
    );
});

test("the lockfiles do not name a registry", async () => {
    const { readFileSync } = await import("node:fs");
    for (const file of ["package-lock.json", ...["node", "bun", "deno"].map((name) => `engines/${name}/package-lock.json`)])
        assert.doesNotMatch(readFileSync(new URL(`../${file}`, import.meta.url), "utf8"), /"resolved"/);
});
