// Every row of vectors/: the root of its input in memory, from a stream in slices, and from a Blob piece by piece.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { Frontier, MksumError, Outboard, Proof, keep, root, rootOf, Spec } from "mksum";

const folder = new URL("../../../vectors/rows/", import.meta.url);

const PATTERNS = {
    mod251: (at) => at % 251,
    pat: (at) => (at * 131 + (at >> 8) * 17) & 255,
};

/** The first bytes of each pattern, made once. */
const made = {};

function input(pattern, len) {
    if ((made[pattern]?.length ?? -1) < len) made[pattern] = Uint8Array.from({ length: len }, (_, at) => PATTERNS[pattern](at));
    return made[pattern].subarray(0, len);
}

const refused = (code) => (error) => error instanceof MksumError && error.code === code;

for (const name of readdirSync(folder)) {
    const lines = readFileSync(new URL(name, folder), "utf8").split("\n").filter((line) => line && !line.startsWith("#"));
    assert.ok(lines.length > 10, `${name}: ${lines.length} rows`);
    test(`${name}: ${lines.length} rows`, async () => {
        for (const line of lines) {
            const [format, pattern, length, expected] = line.split("\t");
            const bytes = input(pattern, Number(length));
            const spec = Spec.parse(format);
            assert.equal(spec.text, format);
            if (expected === "-") {
                assert.throws(() => root(spec, bytes), refused("format"), line);
                await assert.rejects(rootOf(spec, new Blob([bytes])), refused("format"), line);
                continue;
            }
            assert.equal(root(spec, bytes).text, expected, line);
            assert.equal((await rootOf(spec, new Blob([bytes]))).text, expected, line);
            if (spec.streams) {
                const frontier = new Frontier(spec);
                for (let at = 0; at < bytes.length; at += 10007) frontier.update(bytes.subarray(at, at + 10007));
                assert.equal(frontier.root().text, expected, line);
                frontier.free();
            } else {
                assert.throws(() => new Frontier(spec), refused("format"), line);
            }
        }
    });

    test(`${name}: proofs and kept trees of some rows`, () => {
        let count = 0;
        for (const line of lines.filter((_, at) => at % 3 === 0)) {
            const [format, pattern, length, expected] = line.split("\t");
            if (expected === "-" || length === "0") continue;
            const bytes = input(pattern, Number(length));
            const trusted = root(format, bytes);
            const [start, end] = [Math.floor(bytes.length / 3), Math.floor(bytes.length / 2) + 1];
            const proof = Proof.parse(Proof.ofRange(format, bytes, start, end).toBytes());
            assert.deepEqual(proof.claim, { kind: "range", start, end });
            const part = bytes.slice(start, end);
            proof.verifyRange(trusted, part);
            part[0] ^= 1;
            assert.throws(() => proof.verifyRange(trusted, part), refused("proof"), line);

            const outboard = Outboard.open(keep(format, 1 << 20, bytes));
            assert.equal(outboard.root, expected, line);
            assert.deepEqual(outboard.damagedIn(bytes), [], line);
            const damaged = bytes.slice();
            damaged[start] ^= 1;
            const found = outboard.damagedIn(damaged);
            assert.equal(found.length, 1, line);
            assert.ok(found[0].of === "file" && found[0].start <= start && start < found[0].end, line);
            count++;
        }
        assert.ok(count > 2, `${count} rows`);
    });
}
