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
await build("test/wrong.mjs", "build/wrong.mjs");

// Sizes at block boundaries, and one that is longer than a chunk of 8 KiB.
const CHECK = {
    suites: ["check"],
    sizes: [1, 55, 56, 64, 112, 128, 1000, 20000],
    iterations: [1, 2, 100],
    keys: [1, 4],
    trees: [1024, 16384],
    files: [1 << 24],
    streams: [1, 64],
    seed: 7,
};

async function reports(engine, plan) {
    const all = { refused: [], checked: [], absent: [], subjects: [], rows: [], stopped: [] };
    await engine.run(plan, (message) => {
        for (const [kind, value] of Object.entries(message)) all[kind === "row" ? "rows" : kind]?.push(value);
    });
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
        assert.deepEqual(
            all.refused.filter((one) => !known(one)),
            [],
        );
        assert.deepEqual(
            all.absent.map(({ subject }) => subject),
            absent,
        );
        const subjects = new Set(all.checked.map(({ subject }) => subject.split(", ")[0]));
        for (const { subject } of all.subjects[0]) assert.ok(subjects.has(subject), `${subject}: nothing was checked`);
        assert.ok(subjects.size >= 28 - absent.length, `${subjects.size} libraries`);
        assert.ok(all.checked.length > 500, `${all.checked.length} digests`);
    });
}

test("wrong libraries are refused and never timed, such as the two artefacts of 2014", async () => {
    const { run, ADAPTERS } = await import("../build/wrong.mjs");
    const settings = {
        seed: 1,
        trialMs: 0.2,
        rounds: [3, 3],
        limitMs: { hashes: 1000, pbkdf2: 1000 },
        leastMs: { hashes: 1000, pbkdf2: 1000 },
        budgetMs: { hashes: 20_000, pbkdf2: 20_000 },
    };
    const rows = new Set();
    const refused = new Map();
    const report = ({ row, refused: one }) => {
        if (row) rows.add(`${row[0]} ${row[1]}`);
        if (one) refused.set(`${one.case ?? ""} ${one.subject}`.trim(), one.why);
    };
    await run(
        { suites: ["hashes", "pbkdf2"], sizes: [64, 200], iterations: [1, 10], ...settings },
        report,
        {},
        ADAPTERS,
    );
    for (const subject of [
        "sha256 sjcl fed bytes",
        "sha256 sjcl without its end",
        "sha256 bytes as text",
        "sha256 right at first",
        "pbkdf2-sha256 PBKDF2 with its default",
        "pbkdf2-sha256 remembers",
    ]) {
        assert.match(refused.get(subject) ?? "not refused", /^wrong digest: expected [0-9a-f]{64}, found /, subject);
        assert.ok(!rows.has(subject), `${subject} was timed`);
    }
    assert.match(refused.get("gone"), /does not load: not here/);
    assert.ok(rows.has("sha256 @noble/hashes") && rows.has("pbkdf2-sha256 @noble/hashes"));
    assert.ok(![...refused.keys()].some((name) => name.includes("@noble")));
});

test("there are as many points as in 2014, with a stored digest for each", () => {
    assert.equal(SIZES.length, 77);
    assert.deepEqual([SIZES[0], SIZES.at(-1)], [1, 1e7]);
    assert.equal(ITERATIONS.length, 70);
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
