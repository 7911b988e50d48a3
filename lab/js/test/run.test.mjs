// Tests a run from its start to its results, and that tables keep runs and machines apart.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { interval, median, seeded } from "../bootstrap.mjs";
import { write } from "../results.mjs";
import { measure } from "../trials.mjs";

const here = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(path.join(tmpdir(), "mksum-lab-js-"));
after(() => rmSync(folder, { recursive: true }));

test("a trial has as many calls as fill its time, of the slowest point too", async () => {
    const calls = { 1: 0, 2: 0 };
    const spin = (x) => {
        calls[x] += 1;
        const end = performance.now() + 0.2 * x;
        while (performance.now() < end);
    };
    const points = [1, 2, 1000].map((x) => ({ x, start: () => ({ call: spin, argument: x, wrong: () => undefined }) }));
    const reports = [];
    const plan = { seed: 1, trials: 5, trialMs: 5, limitMs: 50 };
    await measure({ points }, plan, (report) => void (Object.keys(report).length && reports.push(report)));
    assert.deepEqual(reports[0], { stopped: { x: 1000, why: reports[0].stopped.why } });
    assert.match(reports[0].stopped.why, /^about \d+ ms a call$/);
    assert.equal(calls[1000], undefined, "a call that is certainly too slow is not tried");
    for (const [index, x] of [1, 2].entries()) {
        const { times } = reports[index + 1];
        assert.equal(times.x, x);
        assert.equal(times.times.length, 5);
        for (const time of times.times) assert.ok(time >= 0.2 * x, `${time} ms a call`);
        assert.ok(calls[x] * Math.max(...times.times) >= 5 * plan.trialMs, `${calls[x]} calls`);
    }
});

test("a call that is shorter than a step of the clock is measured, and in time", async () => {
    // Chromium's clock has steps of 5 µs.
    const { performance } = globalThis;
    const coarse = { now: () => Math.floor(performance.now() / 0.005) * 0.005 };
    Object.defineProperty(globalThis, "performance", { value: coarse, configurable: true, writable: true });
    try {
        let calls = 0;
        const call = () => void (calls += 1);
        const reports = [];
        const points = [{ x: 1, start: () => ({ call, argument: 1, wrong: () => undefined }) }];
        const began = performance.now();
        await measure({ points }, { seed: 1, trials: 5, trialMs: 5, limitMs: 50 }, (report) => void reports.push(report));
        assert.ok(performance.now() - began < 1000, `${calls} calls`);
        const [time] = reports.flatMap(({ times }) => times ?? []);
        assert.ok(time.times.every((each) => each > 0 && each < 0.005), JSON.stringify(time));
    } finally {
        Object.defineProperty(globalThis, "performance", { value: performance, configurable: true, writable: true });
    }
});

test("a run writes every trial of every process, replaces the results of the run before, and names itself", () => {
    writeFileSync(path.join(folder, "js-old-1-1-2-cores-node.json"), "{}");
    const only = ["--engine", "node", "--suite", "trees", "--suite", "memory", "--subject", "mksum", "--subject", "node:crypto"];
    const args = ["run.mjs", "--quick", "--busy", ...only, "--folder", folder, "--seed", "7"];
    const done = spawnSync(process.execPath, args, { cwd: here, encoding: "utf8" });
    assert.equal(done.status, 0, done.stderr);
    assert.match(done.stderr, /run \d{8}T\d{6}-00000007: about \d+\.\d minutes are expected/);
    const [name, ...others] = readdirSync(folder);
    assert.deepEqual(others, [], "the old file is gone");
    const result = JSON.parse(readFileSync(path.join(folder, name), "utf8"));
    assert.match(result.run, /^\d{8}T\d{6}-00000007$/);
    assert.equal(result.settings.loads.length, 3, "before the run, and in both passes");
    const found = result.series.map(([one, subject, ...rows]) => [one, subject, rows.map((row) => row[0])]);
    const three = [1024, 65536, 1048576];
    assert.deepEqual(found.toSorted(), [
        ["memory", "mksum", [64, 1024]],
        ["memory", "node:crypto", [64, 1024]],
        ["trees", "mksum, a loop", three],
        ["trees", "mksum", three],
        ["trees", "node:crypto, a loop", three],
    ]);
    for (const [one, subject, ...rows] of result.series)
        for (const [x, middle, least, most, trials, low, high, processes] of rows) {
            const times = processes.flat();
            assert.equal(processes.length, 2);
            assert.equal(trials, one === "memory" ? 2 : 6);
            assert.equal(times.length, trials);
            const near = (a, b) => assert.ok(Math.abs(a - b) <= 1e-3 * Math.abs(b), `${one} ${subject} ${x}: ${a}, ${b}`);
            near(middle, median(times));
            assert.deepEqual([least, most], [Math.min(...times), Math.max(...times)]);
            // The interval can be computed again from what the file has.
            const again = interval(processes, seeded(result.settings.seed, `${one} ${subject} ${x}`));
            near(low, again[0]);
            near(high, again[1]);
        }
});

const row = (subject, x, middle, low, high) => ["sha256", subject, x, middle, low, high, 15, low, high, [[middle]]];

/** Writes results of one engine. */
function results(to, name, more = {}) {
    const empty = { versions: {}, clock: {}, subjects: [], absent: [], refused: [], stopped: [], commit: "" };
    const settings = { quick: false, busy: false, seed: 1, loads: [0.02], passes: 3, trials: 5, trialMs: 5 };
    return write(to, { ...empty, run: "a", engine: { name, version: "1.2.3" }, settings, rows: [row("mksum", 16, 2, 1.9, 2.1)], ...more });
}

/** Returns what a Python expression over tables.py is, for the results of a folder, or its error. */
function tables(of, expression) {
    const program = `import json, pathlib, sys; sys.path.insert(0, sys.argv[1]); import tables
engines = tables.measured(pathlib.Path(sys.argv[2])); print(json.dumps(${expression}))`;
    const done = spawnSync("python3", ["-B", "-c", program, here, of], { encoding: "utf8" });
    return done.status === 0 ? JSON.parse(done.stdout) : done.stderr;
}

test("tables refuse results of several runs, of several machines, and of the old format", () => {
    const mixed = mkdtempSync(path.join(folder, "mixed-"));
    results(mixed, "node");
    const chromium = results(mixed, "chromium");
    assert.deepEqual(tables(mixed, "[engine.name for engine in engines]"), ["node", "chromium"]);
    results(mixed, "chromium", { run: "b" });
    assert.match(tables(mixed, "1"), /has results of more than one run, which no table may mix:\n.*chromium\.json: b\n.*node\.json: a/);
    results(mixed, "chromium");
    const other = readFileSync(chromium, "utf8").replace(/"family_model":\[/, '"family_model":[9');
    writeFileSync(chromium, other);
    assert.match(tables(mixed, "1"), /has results of more than one machine, which no table may mix:/);
    writeFileSync(chromium, other.replace('"run"', '"ran"'));
    assert.match(tables(mixed, "1"), /chromium\.json is from before runs had names/);
});

test("a library is bold only where its interval overlaps with that of no other library", () => {
    const one = mkdtempSync(path.join(folder, "bold-"));
    const rows = [
        row("mksum", 16, 2, 1.9, 2.1),
        row("near", 16, 2.2, 2.05, 2.4),
        row("WebCrypto", 16, 1, 0.9, 1.1),
        row("mksum", 1048576, 2, 1.9, 2.1),
        row("near", 1048576, 2.2, 2.15, 2.4),
        row("far", 1048576, 9, 2.12, 9.5),
        row("WebCrypto", 1048576, 1, 0.9, 1.1),
    ];
    const absent = [{ subject: "gone", why: "the package gone is not installed" }];
    results(one, "node", { rows, refused: absent });
    const parts = tables(one, "tables.parts(engines)");
    assert.match(parts.small, /\| sha256: mksum \| 0\.01 \(0\.01–0\.01\) \|\n\| the best other \| 0\.01 .* near \|/);
    assert.match(parts.small, /\| the engine's own \| 0\.02 .* WebCrypto \|/);
    assert.match(parts.large, /\| sha256: mksum \| \*\*524\*\* \(499–552\) \|\n\| the best other \| 477 \(437–488\) near \|/);
    assert.equal(parts.large.match(/\*\*/g).length, 2, "nothing else is bold");
    assert.doesNotMatch(parts.small, /\*\*/);
    assert.equal(parts.refused, "- gone: the package gone is not installed (Node 1)");
    assert.match(parts.machine, /Run a, .*3 processes of 5 trials of at least 5 ms a point\. Other programs took 2% to 2% of a processor\.$/);
    const settings = { quick: false, busy: true, seed: 1, loads: [0.5], passes: 3, trials: 5, trialMs: 5 };
    results(one, "node", { rows, settings });
    const busy = tables(one, "tables.parts(engines)");
    assert.match(busy.machine, /\*\*Figures of a busy machine, not to be cited\.\*\*$/);
    assert.match(busy.large, /\| Node 1, busy machine \|/);
});

test("the page without results says so", () => {
    const none = mkdtempSync(path.join(folder, "none-"));
    assert.deepEqual(tables(none, "sorted(set(tables.parts(engines).values()))"), ["Not measured yet."]);
});
