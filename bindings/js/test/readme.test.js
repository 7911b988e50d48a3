// The README's examples print what it says that they print, and its sizes are true.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { gzipSync } from "node:zlib";

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

/** What a browser loads for an entry, in KB: all modules that it imports at once, and the WebAssembly that it fetches. */
function size(entry) {
    const seen = new Map();
    const visit = (url) => {
        if (seen.has(url.href)) return;
        const bytes = readFileSync(url);
        seen.set(url.href, bytes);
        if (!url.pathname.endsWith(".js")) return;
        for (const [, path] of bytes.toString().matchAll(/^(?:import|export) .*?from "(\..*?)";$/gm)) visit(new URL(path, url));
        if (/new URL\("\.\/simd\.wasm"/.test(bytes)) visit(new URL("simd.wasm", url));
    };
    visit(new URL(entry, root));
    return [...seen.values()].reduce((sum, bytes) => sum + gzipSync(bytes, { level: 9 }).length, 0) / 1000;
}

test("the sizes are what the README says, or less", () => {
    const { exports } = JSON.parse(readFileSync(new URL("package.json", root), "utf8"));
    for (const [name, entry] of Object.entries(exports)) {
        const found = size(entry);
        const row = text.match(new RegExp(`^\\| \`mksum${name.slice(1)}\` \\|.*\\| (\\d+) KB \\|$`, "m"));
        assert.ok(row, `${name}: no row, ${found.toFixed(1)} KB`);
        assert.ok(found <= Number(row[1]) && found > Number(row[1]) * 0.9, `${name}: ${found.toFixed(1)} KB, not ${row[1]}`);
    }
});
