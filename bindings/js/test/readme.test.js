// Checks that the README's examples print the output shown in it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const root = new URL("..", import.meta.url);
const text = readFileSync(new URL("README.md", root), "utf8");

const programs = [...text.matchAll(/```js\n(.*?)```/gs)].map(([, program]) => program);
assert.ok(programs.length >= 3);

for (const [at, program] of programs.entries()) {
    test(`example ${at + 1}`, () => {
        const expected = [...program.matchAll(/^console\.log\(.*\);\n\/\/ (.*)$/gm)].map(([, line]) => line);
        const flags = ["--input-type=module", "--eval", program];
        const printed = execFileSync(process.execPath, flags, { cwd: root, encoding: "utf8" }).trim().split("\n");
        assert.deepEqual(printed, expected);
    });
}
