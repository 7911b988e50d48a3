// The package's command beside the tool: test/cli.txt has the tool's output, which both must give.
// BLESS=1 MKSUM=/path/to/mksum writes the outputs anew with the tool.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

const here = import.meta.dirname;
const own = join(here, "../dist/cli/cli.js");
const tool = process.env.MKSUM;

/**
 * The scenes of a script: a comment, and steps of a command with its output. An empty line ends an output, a comment begins a scene.
 * @param {string} text
 */
function scenes(text) {
    /** @type {{ about: string, steps: { command: string, output: string }[] }[]} */
    const all = [];
    for (const line of text.split("\n")) {
        if (line.startsWith("# ")) all.push({ about: line.slice(2), steps: [] });
        else if (line.startsWith("$ ")) all.at(-1).steps.push({ command: line.slice(2), output: "" });
        else if (line !== "") all.at(-1).steps.at(-1).output += `${line}\n`;
    }
    return all;
}

/**
 * Runs the steps of a scene in an empty folder with a program called `mksum`, and returns their outputs.
 * @param {{ steps: { command: string }[] }} scene
 * @param {string[]} program
 */
function outputs({ steps }, program) {
    const folder = mkdtempSync(join(tmpdir(), "mksum-cli-"));
    try {
        const bin = join(folder, "bin");
        execFileSync("mkdir", [bin, join(folder, "work")]);
        writeFileSync(join(bin, "mksum"), `#!/bin/sh\nexec ${program.map((word) => `'${word}'`).join(" ")} "$@"\n`);
        chmodSync(join(bin, "mksum"), 0o755);
        const env = { PATH: `${bin}:${process.env.PATH}`, HOME: folder, LC_ALL: "C.UTF-8" };
        return steps.map(({ command }) => {
            const { stdout, stderr, status } = spawnSync("bash", ["-c", command], { cwd: join(folder, "work"), env, encoding: "utf8", timeout: 300_000, input: "" });
            const notes = stderr.replace(/^(?=.)/gm, "! ");
            return stdout + notes + (status === 0 ? "" : `? ${status}\n`);
        });
    } finally {
        rmSync(folder, { recursive: true });
    }
}

const path = join(here, "cli.txt");
if (process.env.BLESS) {
    const found = scenes(readFileSync(path, "utf8")).map((scene) => {
        const all = outputs(scene, [tool]);
        return `# ${scene.about}\n${scene.steps.map(({ command }, at) => `$ ${command}\n${all[at]}\n`).join("")}`;
    });
    writeFileSync(path, `${found.join("").trimEnd()}\n`);
}
for (const scene of scenes(readFileSync(path, "utf8"))) {
    const expected = scene.steps.map(({ command, output }) => `$ ${command}\n${output}`).join("\n");
    for (const { name, program } of [{ name: "the package", program: [process.execPath, own] }, { name: "the tool", program: tool && [tool] }]) {
        test(`${name}: ${scene.about}`, { skip: program ? false : "no tool was given: MKSUM=/path/to/mksum" }, () => {
            const all = outputs(scene, program);
            assert.equal(scene.steps.map(({ command }, at) => `$ ${command}\n${all[at]}`).join("\n"), expected);
        });
    }
}

const run = (...words) => spawnSync(process.execPath, [own, ...words], { encoding: "utf8", timeout: 300_000, input: "" });

test("help and version are printed", () => {
    const { stdout, status } = run("--help");
    assert.match(stdout, /^Print or check the Merkle roots[^]*npx mksum -c SUMS[^]*Exit status:/);
    assert.equal(status, 0);
    assert.ok(stdout.split("\n").every((line) => line.length <= 100));
    assert.match(run("-V").stdout, /^mksum \d+\.\d+\.\d+ \(npm\)\n$/);
    assert.match(run("formats").stdout, /^rfc6962 +\S[^]*^xxh128 /m);
});

test("wrong usage has code 2 and the reason", () => {
    for (const [words, reason] of [
        [["--nosuch"], /there is no option '--nosuch'/], [["-f"], /a value is required for '-f'/], [["-f", "rfc6961", "x"], /unknown format 'rfc6961'/],
        [["-f", "dir", "x"], /hashes files only/], [["verify"], /a file is required/], [["-c", "--untagged"], /--untagged is no option of --check/],
        [["verify", "--root", "00", "a", "b"], /one file only/], [["--quiet=1"], /--quiet has no value/], [["-l", "many", "x"], /'many' is not a size/],
        [["-x", "a"], /there is no option '-x'/], [["-a", "sha1", "-a", "md5", "x"], /--algorithm was given twice/],
    ]) {
        const { stdout, stderr, status } = run(...words);
        assert.match(stderr, reason, words.join(" "));
        assert.match(stderr, /^mksum: .*\nTry 'mksum (verify )?--help' for examples.\n$/);
        assert.deepEqual([stdout, status], ["", 2], words.join(" "));
    }
});

test("a file of another length than its kept tree fails, and no digest follows", () => {
    const folder = mkdtempSync(join(tmpdir(), "mksum-cli-"));
    try {
        writeFileSync(join(folder, "f"), "x".repeat(100_000));
        writeFileSync(join(folder, "keep.mjs"), `import { keep } from ${JSON.stringify(join(here, "../dist/index.js"))};
            import { readFileSync, writeFileSync } from "node:fs";
            writeFileSync("f.mkt", keep("rfc6962", 65536, readFileSync("f")));`);
        execFileSync(process.execPath, ["keep.mjs"], { cwd: folder });
        const verify = (...words) => spawnSync(process.execPath, [own, "verify", ...words, "f"], { cwd: folder, encoding: "utf8", timeout: 300_000 });
        assert.match(verify().stdout, /^f: OK \(100,000 bytes, root \w{64} from the outboard\)\n$/);
        writeFileSync(join(folder, "f"), "x".repeat(99_999));
        const { stdout, status } = verify();
        assert.match(stdout, /^f: FAILED: it has 99,999 bytes, expected 100,000 \(root \w{64} from the outboard\)\n$/);
        assert.equal(status, 1);
        writeFileSync(join(folder, "f.mkt"), "no tree");
        assert.match(verify().stderr, /^mksum: f\.mkt: /);
        assert.equal(verify().status, 1);
    } finally {
        rmSync(folder, { recursive: true });
    }
});
