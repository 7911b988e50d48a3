// Tests of the built files, each in an engine of its own: a trap, memory, and states that were not ended.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Duplex, Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { test } from "node:test";
import { create, digest, HASHES, hashFiles, hmac, Pool, root, through, toHex } from "mksum";

/** Runs a program that can use the package and its engine. Returns its output. */
function run(program, flags = []) {
    const head = `import * as mksum from "mksum"; import { running } from "../dist/engine.js";`;
    const options = { cwd: import.meta.dirname ?? new URL(".", import.meta.url).pathname, encoding: "utf8", timeout: 600_000 };
    return execFileSync(process.execPath, [...flags, "--input-type=module", "--eval", head + program], options).trim();
}

test("after a trap, every call is an error and never returns a digest", () => {
    const printed = run(`
        const before = mksum.create("sha256");
        try { before.state = 12345; before.update(new Uint8Array(3)); } catch (error) { console.log(error.code); }
        for (const act of [() => mksum.sha256(new Uint8Array(3)), () => mksum.create("md5"), () => mksum.root("blake3", new Uint8Array(3))]) {
            try { console.log(act()); } catch (error) { console.log(error.code, error instanceof mksum.MksumError); }
        }
        await mksum.load().catch(() => {});
        try { console.log(mksum.sha256(new Uint8Array(3))); } catch (error) { console.log(error.code); }
    `);
    assert.deepEqual(printed.split("\n"), ["broken", "broken true", "broken true", "broken true", "broken"]);
});

test("finalizers and free throw nothing after a trap", () => {
    const printed = run(`
        const kept = mksum.create("sha256");
        for (let count = 0; count < 100; count++) {
            mksum.create("sha256").update(new Uint8Array(1));
            new mksum.Frontier("rfc6962").update(new Uint8Array(1));
        }
        const broken = mksum.create("sha256");
        try { broken.state = 12345; broken.update(new Uint8Array(3)); } catch (error) { console.log(error.code); }
        kept.free();
        for (let count = 0; count < 10; count++) {
            gc();
            await new Promise((resolve) => setTimeout(resolve, 10));
        }
        console.log("alive");
    `, ["--expose-gc"]);
    assert.deepEqual(printed.split("\n"), ["broken", "alive"]);
});

test("errors of JavaScript do not stop the engine", () => {
    const printed = run(`
        class Lying extends Uint8Array { get length() { return this.claim ?? super.length; } }
        for (const claim of [0, 1, 5, 70_000]) {
            const lying = new Lying(3);
            lying.claim = claim;
            for (const act of [() => mksum.md5(lying), () => mksum.create("md5").update(lying).digest(), () => mksum.root("md5", lying).digest]) {
                console.log(mksum.toHex(act()));
            }
        }
        class Broken extends Uint8Array { subarray() { return new Uint8Array(70_000); } }
        try { mksum.md5(new Broken(100_000)); } catch (error) { console.log(error.code); }
        console.log(running().exports.kept());
        console.log(mksum.toHex(mksum.md5(new Uint8Array(3))));
    `).split("\n");
    const expected = "693e9af84d3dfcc71e640e005bdc5e2e";
    assert.deepEqual(printed, [...Array.from({ length: 12 }, () => expected), "length", "0", expected]);
});

test("inputs are erased in the memory of WebAssembly", () => {
    const printed = run(`
        const secret = (len) => new Uint8Array(len).fill(0xa5);
        for (const len of [1, 16, 1024, 1025, 65536, 65537, 200_000]) {
            mksum.sha256(secret(len));
            mksum.create("md5").update(secret(len)).digest();
            mksum.hmac("sha256", secret(len), secret(len));
            new mksum.Frontier("rfc6962").update(secret(len)).root();
            mksum.create("md5").update(secret(len)).free();
            const held = mksum.create("md5").update(secret(len));
            held.load(held.save()).copy().free();
            held.free();
            const { input, stage, output } = running();
            // The output begins with the last digest.
            console.log([input, stage, output.subarray(64)].some((part) => part.includes(0xa5)));
        }
    `).split("\n");
    assert.deepEqual(printed, Array.from({ length: 7 }, () => "false"));
});

test("a host that does not compile WebAssembly is an error of its own", () => {
    const printed = run(`
        WebAssembly.Module = class { constructor() { throw new WebAssembly.CompileError("refused by the policy"); } };
        WebAssembly.compile = () => Promise.reject(new WebAssembly.CompileError("refused by the policy"));
        const print = (error) => console.log(error instanceof mksum.MksumError, error.code);
        try { mksum.sha256(new Uint8Array(3)); } catch (error) { print(error); }
        await mksum.load().catch(print);
        await mksum.load({}).catch(print);
        await mksum.load(null).catch(print);
    `).split("\n");
    assert.deepEqual(printed, ["true not-loaded", "true not-loaded", "true argument", "true argument"]);
});

test("a long derivation waits for no timer, and lets others act", () => {
    const printed = run(`
        globalThis.setTimeout = () => console.log("a timer");
        const secret = { password: new Uint8Array(8), salt: new Uint8Array(8) };
        for (const hosts of ["setImmediate", "MessageChannel"]) {
            if (hosts === "MessageChannel") globalThis.setImmediate = undefined;
            let others = 0;
            const { port1, port2 } = new MessageChannel();
            port1.on("message", () => others++).unref();
            const progress = () => port2.postMessage(0);
            const key = await mksum.pbkdf2Of("sha256", secret, 100_000, 32, { progress });
            const expected = mksum.toHex(mksum.pbkdf2("sha256", secret.password, secret.salt, 100_000, 32));
            console.log(hosts, mksum.toHex(key) === expected, others > 0);
        }
        process.exit();
    `).split("\n");
    assert.deepEqual(printed, ["setImmediate true true", "MessageChannel true true"]);
});

test("an idle pool does not keep a program running", () => {
    const printed = run(`
        const pool = await mksum.Pool.start(2);
        const file = new Blob([new Uint8Array(9_000_000)]);
        console.log((await pool.rootOf("rfc6962", file)).text === (await mksum.rootOf("rfc6962", file)).text);
        for await (const { root } of pool.hashFiles("md5", [file])) console.log(root.text);
    `).split("\n");
    assert.deepEqual(printed, ["true", createHash("md5").update(new Uint8Array(9_000_000)).digest("hex")]);
});

test("sixty-four streams take less than 16 MiB", () => {
    const printed = run(`
        const hashers = Array.from({ length: 64 }, (_, at) => mksum.create(mksum.HASHES[at % mksum.HASHES.length]));
        for (let round = 0; round < 100; round++) for (const hasher of hashers) hasher.update(new Uint8Array(65536));
        console.log(running().exports.memory.buffer.byteLength);
        for (const hasher of hashers) hasher.digest();
        console.log(running().exports.kept());
    `).split("\n").map(Number);
    assert.ok(printed[0] < 16 << 20, `${printed[0]} bytes`);
    assert.equal(printed[1], 0);
});

test("states that were not ended are freed on garbage collection", () => {
    const printed = run(`
        for (let count = 0; count < 1000; count++) mksum.create("sha256").update(new Uint8Array(1));
        // The last one is held until another is created.
        mksum.create("sha256").digest();
        for (let count = 0; count < 50 && running().exports.kept() > 0; count++) {
            gc();
            await new Promise((resolve) => setTimeout(resolve, 10));
        }
        console.log(running().exports.kept());
    `, ["--expose-gc"]);
    assert.equal(printed, "0");
});

test("a saved state is continued in another process, with and without SIMD", () => {
    const data = new Uint8Array(100_000).map((_, at) => at % 251);
    const fill = "const data = new Uint8Array(100_000).map((_, at) => at % 251);";
    const plain = "WebAssembly.validate = () => false; await mksum.load();";
    for (const cut of [0, 5, 4096, 70_001]) {
        for (const [saves, loads] of [["", plain], [plain, ""], ["", ""]]) {
            const saved = run(`${saves} ${fill}
                for (const name of mksum.HASHES) {
                    console.log(mksum.toHex(mksum.create(name).update(data.subarray(0, ${cut})).save()));
                    console.log(mksum.toHex(mksum.createHmac(name, data.subarray(0, 9)).update(data.subarray(0, ${cut})).save()));
                }
            `).split("\n");
            const printed = run(`${loads} ${fill}
                const saved = ${JSON.stringify(saved)}.map(mksum.fromHex);
                for (const name of mksum.HASHES) {
                    for (const hasher of [mksum.create(name), mksum.createHmac(name, data.subarray(0, 9))]) {
                        console.log(mksum.toHex(hasher.load(saved.shift()).update(data.subarray(${cut})).digest()));
                    }
                }
            `).split("\n");
            assert.deepEqual(printed, HASHES.flatMap((name) => [digest(name, data), hmac(name, data.subarray(0, 9), data)].map(toHex)));
        }
    }
});

test("workers start with any flags of their program", () => {
    const program = `
        const pool = await mksum.Pool.start(1);
        console.log(String(await pool.rootOf("plain:sha256:64KiB", new Blob(["abc"]))));
        pool.end();
    `;
    const expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert.equal(run(program, ["--expose-gc", "--max-old-space-size=512"]), expected);
});

test("memory is freed after large inputs", () => {
    const printed = run(`
        const data = new Uint8Array(1 << 26);
        for (let count = 0; count < 10; count++) mksum.Proof.ofRange("rfc6962", data, 5, 10);
        console.log(running().exports.memory.buffer.byteLength);
    `);
    assert.ok(Number(printed) < 160 << 20, `${printed} bytes`);
});

test("inputs larger than the engine's memory are proven", () => {
    const printed = run(`
        const huge = new Uint8Array(2 ** 32);
        const root = { spec: "rfc6962", root: "5384e89e14524c899f583aee80aa04460a2f4646fcc2fe425a7fc33ed3793ff7", len: huge.length };
        mksum.Proof.ofRange("rfc6962", huge, 2 ** 31, 2 ** 31 + 5).verifyRange(root, new Uint8Array(5));
        console.log("proven");
    `);
    assert.equal(printed, "proven");
});

const hash = (...parts) => parts.reduce((own, part) => own.update(part), createHash("sha256")).digest();

test("a Blob of more than 4 GiB is kept in bounded memory, and its outboard proves its bytes", () => {
    const printed = run(`
        const [zeros, tail] = [new Uint8Array(1 << 22), new TextEncoder().encode("x".repeat(1000) + "hello")];
        // Node's own Blobs have at most 4 GiB.
        class Huge extends Blob {
            get size() { return 2 ** 32 + tail.length; }
            slice(start, end) {
                const head = zeros.subarray(0, Math.max(Math.min(end, 2 ** 32) - start, 0));
                return new Blob([head, tail.subarray(Math.max(start - 2 ** 32, 0), Math.max(end - 2 ** 32, 0))]);
            }
        }
        const file = new Huge();
        const outboard = mksum.Outboard.open(await mksum.keepOf("rfc6962", 1 << 20, file));
        console.log(outboard.root);
        const proof = await mksum.Proof.rangeOf(outboard, file, 2 ** 32 + 1000, 2 ** 32 + 1005);
        proof.verifyRange({ spec: "rfc6962", root: outboard.root, len: file.size }, new TextEncoder().encode("hello"));
        console.log(process.resourceUsage().maxRSS);
    `).split("\n");
    // The leaves are alike, and so are the nodes of each level below the root.
    let node = hash(Uint8Array.of(0), new Uint8Array(65_536));
    for (let level = 0; level < 16; level++) node = hash(Uint8Array.of(1), node, node);
    assert.equal(printed[0], hash(Uint8Array.of(1), node, hash(Uint8Array.of(0), "x".repeat(1000), "hello")).toString("hex"));
    assert.ok(Number(printed[1]) < 1 << 20, `${printed[1]} KiB`);
});

const content = (at) => new Uint8Array(at * 40_000).fill(at);

test("paths of files are hashed in order, and those that cannot be read are told", async () => {
    const folder = mkdtempSync(join(tmpdir(), "mksum-"));
    try {
        const paths = Array.from({ length: 40 }, (_, at) => join(folder, String(at)));
        paths.forEach((path, at) => writeFileSync(path, content(at)));
        paths.splice(7, 0, join(folder, "absent"));
        const pool = await Pool.start(2);
        for (const results of [hashFiles("sha256", paths), pool.hashFiles("sha256", paths)]) {
            let at = 0;
            for await (const { file, root: own, error } of results) {
                assert.equal(file, paths[at++]);
                if (file.endsWith("absent")) assert.equal(error.code, "source");
                else assert.equal(own.text, root("sha256", content(Number(file.slice(folder.length + 1)))).text);
            }
            assert.equal(at, paths.length);
        }
        pool.end();
    } finally {
        rmSync(folder, { recursive: true });
    }
});

test("through is a part of Node's pipelines", async () => {
    const data = new Uint8Array(300_001).map((_, at) => at % 251);
    for (const made of [through, (hasher) => Duplex.fromWeb(through(hasher))]) {
        const [hasher, passed] = [create("sha256"), []];
        const sink = new Writable({ write: (chunk, _, done) => done(null, passed.push(chunk)) });
        await pipeline(Readable.from([data.subarray(0, 7), data.subarray(7)]), made(hasher), sink);
        assert.deepEqual(new Uint8Array(Buffer.concat(passed)), data);
        assert.equal(toHex(hasher.digest()), toHex(digest("sha256", data)));
    }
});
