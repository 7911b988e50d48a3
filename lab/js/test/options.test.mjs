// Tests how a run is set up: where it writes, and what it installs. Measures nothing.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { expected } from "../expected.mjs";
import { chosen, parsed, plan } from "../options.mjs";
import { SIZES } from "../points.mjs";

const here = fileURLToPath(new URL("..", import.meta.url));
const root = path.join(here, "../..");

/** Returns what a Python expression over tables.py is, which must be encodable as JSON. */
function tables(expression) {
    const program = `import json, sys; sys.path.insert(0, sys.argv[1]); import tables; print(json.dumps(${expression}))`;
    return JSON.parse(execFileSync("python3", ["-B", "-c", program, here], { encoding: "utf8" }));
}

/** Returns what the engines that arguments choose need. */
const needs = (...args) => chosen(parsed(args)).map((engine) => engine.needs);

test("a quick run writes results, figures, tables and the page to explore only below target/", () => {
    const target = path.join(root, "target") + path.sep;
    const places = tables("[str(place) for place in tables.places(quick=True)]");
    for (const place of [...places, parsed(["--quick"]).folder]) assert.ok(place.startsWith(target), place);
    assert.equal(parsed(["--quick"]).folder, places[0], "tables are drawn from the results of the same run");
    assert.equal(parsed(["--quick", "--folder", "elsewhere"]).folder, "elsewhere");
});

test("a full run writes the committed results", () => {
    const [results, page] = tables("[str(place) for place in tables.places()]");
    assert.equal(parsed([]).folder, results);
    assert.deepEqual([results, page], [path.join(root, "lab/results"), path.join(here, "README.md")]);
});

test("a run installs only what its engines need", () => {
    assert.deepEqual(needs("--engine", "node"), ["node"]);
    assert.deepEqual(needs("--engine", "bun", "--engine", "firefox"), ["firefox", "npm:lab/js/engines/bun"]);
    assert.deepEqual(needs(), ["node", "chromium", "firefox"]);
    assert.ok(needs().every(Boolean));
    const printed = execFileSync(process.execPath, [path.join(here, "needs.mjs"), "--quick", "--engine", "deno"]);
    assert.equal(String(printed), "npm:lab/js/engines/deno\n");
    assert.throws(() => parsed(["--engine", "netscape"]), /unknown engine netscape: choose from node, chromium/);
    assert.throws(() => parsed(["--suite", "hash"]), /unknown suite hash: choose from hashes, pbkdf2/);
});

/** Returns the seconds that a run with these arguments is expected to take. */
const run = (...args) => expected(chosen(parsed(args)), parsed(args), plan(parsed(args)));

test("a full run has fifteen trials of at least 5 ms in three processes, and is expected to take less than half an hour", () => {
    const { passes, trials, trialMs, points } = plan(parsed([]));
    assert.deepEqual({ passes, trials, trialMs }, { passes: 3, trials: 5, trialMs: 5 });
    assert.deepEqual(points.hashes, SIZES);
    assert.ok(run() <= 28 * 60, `${run()} s`);
    assert.ok(run("--engine", "node") < run() / 2);
    assert.ok(run("--engine", "node", "--suite", "keys", "--suite", "trees") < 60);
    assert.ok(run("--quick") < 8 * 60);
});
