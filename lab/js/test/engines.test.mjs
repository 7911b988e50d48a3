// Tests that every plan runs in a process of its own.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { build } from "../build.mjs";
import { ENGINES } from "../engines.mjs";

await build();

const PLAN = {
    task: "measure",
    job: { suite: "hashes", case: "sha256", subject: "@noble/hashes", library: "@noble/hashes" },
    points: { hashes: [64, 1024] },
    trials: 3,
    trialMs: 1,
    limitMs: 100,
    seed: 3,
};

/** Returns the renderer processes of a browser. */
function renderers(group) {
    return readdirSync("/proc").filter((pid) => {
        try {
            const [, , own] = readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\) /s, "").split(" ");
            return Number(own) === group && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("--type=renderer");
        } catch {
            return false;
        }
    });
}

async function sessions(name, look) {
    const session = await ENGINES.find((engine) => engine.name === name).open();
    const seen = [];
    try {
        for (let turn = 0; turn < 4; turn++) {
            const points = [];
            let found;
            await session.run(PLAN, ({ times }, pid) => {
                found ??= look(pid);
                if (times) points.push(times.x);
            });
            assert.deepEqual(points, [64, 1024]);
            seen.push(found);
        }
    } finally {
        session.close();
    }
    return seen;
}

test("Node runs every plan in a process of its own", async () => {
    const pids = await sessions("node", (pid) => pid);
    assert.equal(new Set(pids).size, pids.length, JSON.stringify(pids));
});

test("Chromium runs every plan in a renderer process of its own", async () => {
    const seen = await sessions("chromium", renderers);
    // The opener and the browser's own pages have processes that stay.
    const staying = seen[0].filter((pid) => seen.every((pids) => pids.includes(pid)));
    const own = seen.map((pids) => pids.filter((pid) => !staying.includes(pid)));
    const text = JSON.stringify(seen);
    for (const [turn, pids] of own.entries()) {
        const fresh = pids.filter((pid) => !seen.slice(0, turn).flat().includes(pid));
        // The browser may start one for a page of its own at any time.
        assert.ok(fresh.length > 0, text);
    }
    assert.ok(staying.length > 0, text);
});
