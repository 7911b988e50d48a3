// Trees of any source, by workers, with progress and signals; invalid proofs and damaged outboards.
import fc from "fast-check";
import { digestOf, formats, Frontier, hashFiles, keep, keepOf, MksumError, Outboard, Pool, Proof, root, rootOf, rootsOf, Spec } from "mksum";
import { bytes } from "./bytes.js";

const refused = (code) => (error) => error instanceof MksumError && error.code === code;

/** Returns a web stream of slices. */
const stream = (slices) =>
    new ReadableStream({
        pull(controller) {
            const slice = slices.shift();
            if (slice) controller.enqueue(slice);
            else controller.close();
        },
    });

async function* generated(slices) {
    yield* slices;
}

export default function ({ test, assert }) {
    test("any slices from any source give the same root", async () => {
        const specs = fc.constantFrom("rfc6962:sha256:1KiB", "blake3", "plain:sha512:100", "s3:md5:1KiB", "fsverity");
        await fc.assert(
            fc.asyncProperty(specs, fc.array(fc.uint8Array({ maxLength: 5000 }), { maxLength: 9 }), async (spec, slices) => {
                const whole = new Uint8Array(await new Blob(slices).arrayBuffer());
                const expected = root(spec, whole).text;
                for (const source of [whole, new Blob(slices), stream([...slices]), generated(slices), slices]) {
                    assert.equal((await rootOf(spec, source)).text, expected);
                }
            }),
            { numRuns: 20 },
        );
    });

    test("many files at a time have the roots that they have alone", async () => {
        const lens = [0, 1, 55, 64, 65_535, 65_536, 65_537, 200_000, 1_048_577, 3_000_000, 7, 4096];
        const data = bytes(3_000_012);
        for (const spec of ["sha256", "md5", "sha512", "sha3-256", "blake2b", "blake3", "rfc6962", "fsverity", "s3:md5:5MiB", "btv2"]) {
            const files = Array.from({ length: 30 }, (_, at) => new Blob([data.subarray(at, at + lens[(at * 7) % lens.length])]));
            const found = [];
            let done = 0;
            for await (const result of hashFiles(spec, files, { progress: (now) => (done = now) })) found.push(result);
            assert.equal(found.length, files.length, spec);
            for (const [at, { file, root: own, error }] of found.entries()) {
                assert.ok(file === files[at]);
                const whole = new Uint8Array(await file.arrayBuffer());
                if (spec === "btv2" && whole.length === 0) assert.equal(error.code, "format");
                else assert.equal(own?.text, root(spec, whole).text, `${spec} of ${whole.length} bytes: ${error}`);
            }
            assert.equal(done, files.reduce((sum, { size }) => sum + size, 0), spec);
        }
    });

    test("a file that fails is told, and the others go on", async () => {
        const torn = new Blob([bytes(5000)]);
        torn.slice = () => ({ arrayBuffer: () => Promise.reject(new Error("torn")) });
        const files = [new Blob([bytes(100)]), torn, 5, new Blob([bytes(70_000)])];
        const found = [];
        for await (const result of hashFiles("sha1", files)) found.push(result);
        assert.equal(found[0].root.text, root("sha1", bytes(100)).text);
        assert.equal(found[1].error.code, "source");
        assert.equal(found[2].error.code, "argument");
        assert.equal(found[3].root.text, root("sha1", bytes(70_000)).text);
        await assert.rejects(hashFiles("none", files).next(), refused("argument"));
        const aborted = hashFiles("sha1", files, { signal: AbortSignal.abort() }).next();
        await assert.rejects(aborted, (error) => error.name === "AbortError");
        // Whoever takes no more results ends it.
        for await (const { root: first } of hashFiles("md5", files)) {
            assert.equal(first.text, root("md5", bytes(100)).text);
            break;
        }
    });

    test("workers hash many files, in order", async () => {
        const pool = await Pool.start(2);
        try {
            const files = Array.from({ length: 150 }, (_, at) => new Blob([bytes(100 * at)]));
            for (const spec of ["sha256", "rfc6962"]) {
                let at = 0;
                for await (const { file, root: own } of pool.hashFiles(spec, files)) {
                    assert.ok(file === files[at]);
                    assert.equal(own.text, root(spec, bytes(100 * at++)).text);
                }
                assert.equal(at, 150);
            }
            const refusedFile = pool.hashFiles("sha256", [files[0], 5]);
            await assert.rejects(refusedFile.next(), refused("argument"));
            // The pool still works after a caller that took one result only.
            for await (const { root: first } of pool.hashFiles("md5", files)) {
                assert.equal(first.text, root("md5", bytes(0)).text);
                break;
            }
            assert.equal((await pool.rootOf("glacier", files[9])).text, root("glacier", bytes(900)).text);
        } finally {
            pool.end();
        }
        await assert.rejects(pool.hashFiles("md5", []).next(), refused("finished"));
    });

    test("several formats share a read of a file or a stream", async () => {
        const pool = await Pool.start(2);
        // Trees that share pieces, one whose pieces end elsewhere, long leaves, chains over the whole file.
        const several = ["rfc6962", "blake3", "sha256", "plain:sha256:100", "mtsum", "s3:md5:20MiB", "s3:md5:8MiB", "md5", "btv2"];
        try {
            for (const len of [1, 65_537, 5_000_000, 21_000_003]) {
                const data = bytes(len);
                const expected = several.map((spec) => root(spec, data).text);
                const reports = [];
                const progress = (done, total) => reports.push([done, total]);
                for (const options of [{ progress }, { progress, pool }]) {
                    const found = await rootsOf(several, new Blob([data]), options);
                    assert.deepEqual(found.map(String), expected, `${len}`);
                    assert.deepEqual(reports.at(-1), [len, len]);
                    assert.ok(reports.every(([done], at) => at === 0 || done >= reports[at - 1][0] || reports[at - 1][0] === len));
                }
                assert.deepEqual((await pool.rootsOf(several, new Blob([data]))).map(String), expected);
                const streamed = several.filter((spec) => Spec.parse(spec).streams);
                const slices = [data.subarray(0, 1), data.subarray(1)];
                assert.deepEqual((await rootsOf(streamed, stream(slices))).map(String), streamed.map((spec) => root(spec, data).text));
            }
            assert.deepEqual((await pool.rootsOf(["sha256", "blake3"], new Blob([]))).map(String), ["sha256", "blake3"].map((spec) => root(spec, bytes(0)).text));
            for (const options of [{}, { pool }]) {
                await assert.rejects(rootsOf(["sha256", "btv2"], new Blob([]), options), refused("format"));
                await assert.rejects(rootsOf([], new Blob([]), options), refused("argument"));
                await assert.rejects(rootsOf(["sha256", 5], new Blob([]), options), refused("argument"));
            }
            // A long chain ends when its caller gives up, and the pool goes on.
            const controller = new AbortController();
            const given = pool.rootsOf(several, new Blob([bytes(21_000_003)]), { signal: controller.signal, progress: () => controller.abort() });
            await assert.rejects(given, (error) => error.name === "AbortError");
            assert.equal((await pool.rootOf("md5", new Blob([bytes(5)]))).text, root("md5", bytes(5)).text);
        } finally {
            pool.end();
        }
    });

    test("files of any length are kept, compared and proven, also by workers", async () => {
        const pool = await Pool.start(2);
        try {
            for (const [spec, unit] of [["rfc6962:sha256:1KiB", 4096], ["blake3", 65_536], ["mtsum", 100_000], ["s3:md5:5MiB", 1], ["plain:sha512:100", 6400], ["btv2", 1 << 20], ["sha256", Infinity]]) {
                const data = bytes(5_500_003);
                const file = new Blob([data]);
                const damaged = data.slice();
                damaged[3_400_000] ^= 1;
                for (const options of [{}, { pool }]) {
                    const kept = await keepOf(spec, unit, file, options);
                    assert.deepEqual(kept, keep(spec, unit, data), spec);
                    const outboard = Outboard.open(kept);
                    assert.equal(outboard.root, root(spec, data).text, spec);
                    assert.deepEqual(await outboard.damagedOf(file, options), []);
                    const [first, ...others] = await outboard.damagedOf(new Blob([damaged]), options);
                    assert.ok(first.of === "file" && first.start <= 3_400_000 && first.end > 3_400_000 && others.length === 0, spec);
                    for (const [start, end] of [[0, 1], [1_048_576, 1_048_577], [1_500_000, 4_500_001], [0, 5_500_003], [5_500_002, 5_500_003]]) {
                        const proof = await Proof.rangeOf(spec, file, start, end, options);
                        assert.deepEqual(proof.toBytes(), Proof.ofRange(spec, data, start, end).toBytes());
                        proof.verifyRange(root(spec, data), data.subarray(start, end));
                    }
                }
            }
            for (const old of [1, 1000, 1_048_576, 4_999_999, 5_500_003]) {
                const proof = await Proof.consistencyOf("rfc6962:sha256:1KiB", new Blob([bytes(5_500_003)]), old, { pool });
                proof.verifyConsistency(root("rfc6962:sha256:1KiB", bytes(old)), root("rfc6962:sha256:1KiB", bytes(5_500_003)));
            }
            await assert.rejects(Proof.rangeOf("rfc6962", new Blob([bytes(9)]), 5, 5), refused("proof"));
            await assert.rejects(Proof.consistencyOf("rfc6962", new Blob([bytes(9)]), 10), refused("proof"));
            await assert.rejects(keepOf("dmverity", 1, new Blob([bytes(5)])), refused("format"));
            await assert.rejects(keepOf("rfc6962:sha256:1", 1, new Blob([bytes(1 << 21)])), refused("length"));
        } finally {
            pool.end();
        }
    });

    test("random ranges of random files are proven from pieces", async () => {
        const specs = fc.constantFrom("rfc6962:sha256:1KiB", "blake3", "plain:sha512:100", "s3:md5:1KiB", "mtsum", "fsverity");
        const len = fc.integer({ min: 1, max: 3_000_000 });
        await fc.assert(
            fc.asyncProperty(specs, len, fc.nat(), fc.nat(), async (spec, all, one, other) => {
                const data = bytes(all);
                const [start, end] = [one % all, other % all].toSorted((a, b) => a - b);
                const proof = Proof.parse((await Proof.rangeOf(spec, new Blob([data]), start, end + 1)).toBytes());
                proof.verifyRange(root(spec, data), data.subarray(start, end + 1));
            }),
            { numRuns: 30 },
        );
    });

    test("many files have several roots each", async () => {
        const pool = await Pool.start(2);
        try {
            const lens = [0, 1, 65_536, 5_000_000, 300, 4_194_304, 4_194_305];
            const torn = new Blob([bytes(5000)]);
            torn.slice = () => ({ arrayBuffer: () => Promise.reject(new Error("torn")) });
            const files = Array.from({ length: 100 }, (_, at) => new Blob([bytes(lens[at % lens.length] + at)]));
            files[5] = torn;
            const specs = ["sha256", "blake3", "md5", "btv2"];
            let at = 0;
            for await (const { file, roots, error } of hashFiles(specs, files)) {
                assert.ok(file === files[at++]);
                if (file === torn) assert.equal(error.code, "source");
                else if (file.size === 0) assert.equal(error.code, "format");
                else assert.deepEqual(roots.map(String), specs.map((spec) => root(spec, bytes(file.size)).text));
            }
            assert.equal(at, files.length);
            files[5] = new Blob([]);
            at = 0;
            for await (const { roots } of pool.hashFiles(["sha256", "blake3"], files)) {
                const data = bytes(files[at++].size);
                assert.deepEqual(roots.map(String), [root("sha256", data).text, root("blake3", data).text]);
            }
            assert.equal(at, files.length);
            for await (const { roots } of hashFiles(["sha256"], [files[1]])) assert.equal(roots.length, 1);
            await assert.rejects(hashFiles(["sha256", "none"], files).next(), refused("argument"));
            await assert.rejects(hashFiles([], files).next(), refused("argument"));
        } finally {
            pool.end();
        }
    });

    test("workers give the same root, in every format", async () => {
        const pool = await Pool.start(2);
        try {
            const data = bytes(9_000_000);
            for (const { name } of formats()) {
                const len = { "blake3-pairs": 1 << 23, dmverity: 8_998_912 }[name] ?? data.length;
                const reports = [];
                const found = await pool.rootOf(name, new Blob([data.subarray(0, len)]), {
                    progress: (done, total) => reports.push([done, total]),
                });
                assert.equal(found.text, root(name, data.subarray(0, len)).text, name);
                assert.deepEqual(reports.at(-1), [len, len], name);
            }
            assert.equal((await pool.rootOf("rfc6962", new Blob([]))).text, root("rfc6962", bytes(0)).text);
            await assert.rejects(pool.rootOf("dmverity", new Blob([bytes(5)])), refused("format"));
            const ended = pool.rootOf("rfc6962", new Blob([data]), { signal: AbortSignal.abort() });
            await assert.rejects(ended, (error) => error.name === "AbortError");
            // The pool still works afterwards.
            assert.equal((await pool.rootOf("glacier", new Blob([data]))).text, root("glacier", data).text);
        } finally {
            pool.end();
        }
        await assert.rejects(pool.rootOf("rfc6962", new Blob([bytes(5)])), refused("finished"));
    });

    test("a signal aborts a computation and cancels its source", async () => {
        for (const make of [
            (ended) => new ReadableStream({ pull: (controller) => controller.enqueue(bytes(1000)), cancel: ended }),
            (ended) => (async function* () {
                try {
                    for (;;) yield bytes(1000);
                } finally {
                    ended();
                }
            })(),
        ]) {
            let ended = false;
            const controller = new AbortController();
            const source = make(() => (ended = true));
            const progress = (done) => done > 50_000 && controller.abort(new Error("enough"));
            await assert.rejects(rootOf("rfc6962", source, { signal: controller.signal, progress }), /enough/);
            await new Promise((resolve) => setTimeout(resolve, 10));
            assert.ok(ended);
        }
    });

    test("a timer acts while memory is hashed", async () => {
        const data = new Uint8Array(1 << 26);
        for (const source of [data, new Blob([data])]) {
            const controller = new AbortController();
            setTimeout(() => controller.abort(), 1);
            await assert.rejects(digestOf("md5", source, { signal: controller.signal }), (error) => error.name === "AbortError");
        }
    });

    test("a signal aborts a read that never ends", async () => {
        const controller = new AbortController();
        const waiting = rootOf("rfc6962", new ReadableStream({}), { signal: controller.signal });
        setTimeout(() => controller.abort(), 5);
        await assert.rejects(waiting, (error) => error.name === "AbortError");
    });

    test("a failing source is an error", async () => {
        const failing = (async function* () {
            yield bytes(10);
            throw new Error("the disk is gone");
        })();
        await assert.rejects(rootOf("rfc6962", failing), /the disk is gone/);
        await assert.rejects(rootOf("rfc6962", [bytes(4), "text"]), refused("argument"));
        await assert.rejects(rootOf("rfc6962", "text"), refused("argument"));
        await assert.rejects(rootOf("rfc6962", 5), refused("argument"));
        await assert.rejects(rootOf("mtsum", [bytes(4)]), refused("format"));
    });

    test("a frontier returns roots between updates, and ends", () => {
        const frontier = new Frontier("rfc6962:sha256:7");
        for (let len = 0; len < 100; len++) {
            assert.equal(frontier.root().text, root("rfc6962:sha256:7", bytes(len)).text);
            assert.equal(frontier.position, len);
            frontier.update(bytes(len + 1).subarray(len));
        }
        frontier.free();
        frontier.free();
        assert.throws(() => frontier.update(bytes(1)), refused("finished"));
        assert.throws(() => frontier.root(), refused("finished"));
    });

    test("format strings are parsed", () => {
        assert.equal(Spec.parse("RFC6962").text, "rfc6962:sha256:64KiB");
        for (const { name, leaf } of formats()) assert.equal(Spec.parse(name).leaf, leaf);
        const salted = Spec.parse("fsverity:sha512:4KiB:salt=00ff");
        assert.deepEqual([...salted.salt, salted.hash, salted.size], [0, 255, "sha512", 64]);
        for (const wrong of ["", "rfc", "rfc6962:sha3", "glacier:md5", "x".repeat(1000)]) {
            assert.throws(() => Spec.parse(wrong), refused("argument"), wrong);
        }
        assert.throws(() => Spec.parse("x".repeat(100_000)), refused("length"));
        assert.throws(() => Spec.parse(undefined), refused("argument"));
    });

    test("consistency is proven, and another older input is refused", () => {
        for (const [spec, old, len] of [["rfc6962:sha256:4", 10, 33], ["rfc6962:sha256:1KiB", 5000, 99999], ["blake3", 2048, 9000]]) {
            const [before, after] = [root(spec, bytes(old)), root(spec, bytes(len))];
            const proof = Proof.parse(Proof.ofConsistency(spec, bytes(len), old).toBytes());
            assert.deepEqual(proof.claim, { kind: "consistency", old });
            proof.verifyConsistency(before, after);
            proof.verifyConsistency({ spec, root: before.text, len: old }, { spec, root: after, len });
            const other = bytes(old).slice();
            other[old - 1] ^= 1;
            assert.throws(() => proof.verifyConsistency(root(spec, other), after), refused("proof"));
            assert.throws(() => proof.verifyConsistency(after, before), refused("proof"));
            assert.throws(() => proof.verifyRange(after, bytes(5)), refused("proof"));
        }
        assert.throws(() => Proof.ofConsistency("mtsum", bytes(100), 50), refused("proof"));
    });

    test("any changed byte in a proof or an outboard is detected, and never breaks the engine", () => {
        const spec = "rfc6962:sha256:100";
        const [data, trusted] = [bytes(3000), root(spec, bytes(3000))];
        const proof = Proof.ofRange(spec, data, 250, 1234).toBytes();
        fc.assert(
            fc.property(fc.nat(proof.length - 1), fc.integer({ min: 1, max: 255 }), (at, flip) => {
                const other = proof.slice();
                other[at] ^= flip;
                assert.throws(() => Proof.parse(other).verifyRange(trusted, data.subarray(250, 1234)), (error) =>
                    error instanceof MksumError && error.code !== "broken");
            }),
            { numRuns: 300 },
        );
        const kept = keep(spec, 200, data);
        fc.assert(
            fc.property(fc.nat(kept.length - 1), fc.integer({ min: 1, max: 255 }), (at, flip) => {
                const other = kept.slice();
                other[at] ^= flip;
                let found;
                try {
                    const outboard = Outboard.open(other);
                    found = outboard.root === trusted.text ? outboard.damagedIn(data) : ["another root"];
                } catch (error) {
                    assert.ok(error instanceof MksumError && error.code !== "broken", String(error));
                    return;
                }
                // If one of the two copies of the seal is damaged, the other is used.
                const seal = at >= 736 && at < 1024;
                assert.ok(found.length > 0 || seal, `byte ${at}`);
                assert.ok(found.every((damage) => damage.of !== "file"), `byte ${at}`);
            }),
            { numRuns: 300 },
        );
        for (const junk of [bytes(0), bytes(7), bytes(2000)]) {
            assert.throws(() => Proof.parse(junk), refused("proof"));
            assert.throws(() => Outboard.open(junk), refused("outboard"));
        }
    });

    test("a proof in an unprefixed format needs a trusted length", () => {
        const proof = Proof.ofRange("plain:sha256:4", bytes(40), 4, 8);
        const { text } = root("plain:sha256:4", bytes(40));
        assert.throws(() => proof.verifyRange({ spec: "plain:sha256:4", root: text }, bytes(8).subarray(4)), refused("proof"));
        proof.verifyRange({ spec: "plain:sha256:4", root: text, len: 40 }, bytes(8).subarray(4));
        assert.equal(Spec.parse("plain").binding, "nothing");
    });

    test("invalid ranges and lengths are refused", () => {
        for (const [start, end] of [[5, 5], [6, 5], [0, 41]]) {
            assert.throws(() => Proof.ofRange("rfc6962:sha256:4", bytes(40), start, end), refused("proof"));
        }
        assert.throws(() => Proof.ofRange("rfc6962", bytes(40), -1, 5), refused("length"));
        assert.throws(() => Proof.ofRange("rfc6962", bytes(40), 0, "5"), refused("argument"));
        assert.throws(() => keep("rfc6962:sha256:1", 1, bytes(1 << 24)), refused("length"));
        assert.throws(() => Outboard.open(keep("rfc6962", 1, bytes(9))).damagedIn(bytes(8)), refused("length"));
    });
}
