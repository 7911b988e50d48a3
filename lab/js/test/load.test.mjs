// Tests that other programs are noticed, and that a busy machine is refused.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { LIMIT, watch } from "../load.mjs";

const here = fileURLToPath(new URL("..", import.meta.url));

/** Runs a program that takes one processor, meanwhile. */
async function beside(meanwhile) {
    const child = spawn(process.execPath, ["-e", "console.log(); for (;;);"], { stdio: ["ignore", "pipe", "inherit"] });
    try {
        await once(child.stdout, "data");
        return await meanwhile(child.pid);
    } finally {
        child.kill("SIGKILL");
    }
}

test("a program takes its share of the processors, unless it is one's own", async () => {
    await beside(async (pid) => {
        const others = watch([]);
        const withoutIt = watch([pid]);
        await new Promise((later) => setTimeout(later, 1000));
        const [all, rest] = [others(), withoutIt()];
        assert.ok(all > LIMIT, `others: ${all}`);
        // Where others want the processors too, it gets less than a whole one.
        assert.ok(all - rest > 0.2 && all - rest < 1.1, `others: ${all}, without the program: ${rest}`);
    });
});

test("children of one's own that have ended are one's own", async () => {
    const [others, all] = [watch(), watch([])];
    spawnSync(process.execPath, ["-e", "const end = Date.now() + 500; while (Date.now() < end);"]);
    assert.ok(all() - others() > 0.2);
});

test("a run on a busy machine is refused with the reason, and measures nothing", async () => {
    await beside(() => {
        const done = spawnSync(process.execPath, ["run.mjs", "--quick", "--engine", "node"], { cwd: here, encoding: "utf8" });
        assert.equal(done.status, 1);
        assert.match(done.stderr, /^this machine is busy: other programs take \d+ % of a processor\. End them, or .*`make lab-js BUSY=1`/);
        assert.doesNotMatch(done.stderr, /node \d/);
    });
});
