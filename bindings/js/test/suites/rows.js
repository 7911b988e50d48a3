// Every row of vectors/: the root of its input in memory, as a stream in slices, and as a Blob piece by piece.
import { formats, Frontier, keep, MksumError, Outboard, Proof, root, rootOf, Spec } from "mksum";
import { bytes } from "./bytes.js";

const refused = (code) => (error) => error instanceof MksumError && error.code === code;

/** Returns what a function returns, or the message of the engine's error. */
function orWhyNot(make) {
    try {
        return make();
    } catch (error) {
        if (!refused("proof")(error)) throw error;
        return error.message;
    }
}

export default function ({ test, assert, lines }) {
    // The module has no kernels of SM3, which would make it a tenth larger, and no tables of the gear hash.
    test("SM3 and Xet are refused", () => {
        for (const format of ["plain:sm3", "plain:ripemd160", "xet"]) {
            assert.throws(() => Spec.parse(format), refused("argument"));
        }
    });

    for (const { name } of formats()) {
        // All rows but those of SM3.
        const rows = async () => {
            const all = await lines(`vectors/rows/${name}.tsv`);
            return all.filter((line) => !/:sm3:|:ripemd160:/.test(line)).map((line) => line.split("\t"));
        };

        test(`${name}: roots of all rows`, async () => {
            const all = await rows();
            assert.ok(all.length > 10, `${all.length} rows`);
            for (const [format, pattern, length, expected] of all) {
                const data = bytes(Number(length), pattern);
                const spec = Spec.parse(format);
                const row = `${format} ${pattern} ${length}`;
                assert.equal(spec.text, format);
                if (expected === "-") {
                    assert.throws(() => root(spec, data), refused("format"), row);
                    await assert.rejects(rootOf(spec, new Blob([data])), refused("format"), row);
                    continue;
                }
                assert.equal(root(spec, data).text, expected, row);
                assert.equal((await rootOf(spec, new Blob([data]))).text, expected, row);
                if (spec.streams) {
                    const frontier = new Frontier(spec);
                    for (let at = 0; at < data.length; at += 10007) frontier.update(data.subarray(at, at + 10007));
                    assert.equal(frontier.root().text, expected, row);
                    frontier.free();
                } else {
                    assert.throws(() => new Frontier(spec), refused("format"), row);
                }
            }
        });

        test(`${name}: proofs and outboards of some rows`, async () => {
            let count = 0;
            for (const [format, pattern, length, expected] of (await rows()).filter((_, at) => at % 3 === 0)) {
                if (expected === "-" || length === "0") continue;
                const data = bytes(Number(length), pattern);
                const row = `${format} ${pattern} ${length}`;
                const trusted = root(format, data);
                const [start, end] = [Math.floor(data.length / 3), Math.floor(data.length / 2) + 1];
                const made = orWhyNot(() => Proof.ofRange(format, data, start, end));
                count++;
                if (typeof made === "string") {
                    assert.ok(made.includes(" has no proofs, because "), row);
                    continue;
                }
                const proof = Proof.parse(made.toBytes());
                assert.deepEqual(proof.claim, { kind: "range", start, end });
                const part = data.slice(start, end);
                proof.verifyRange(trusted, part);
                part[0] ^= 1;
                assert.throws(() => proof.verifyRange(trusted, part), refused("proof"), row);

                const outboard = Outboard.open(keep(format, 1 << 20, data));
                assert.equal(outboard.root, expected, row);
                assert.deepEqual(outboard.damagedIn(data), [], row);
                const damaged = data.slice();
                damaged[start] ^= 1;
                const found = outboard.damagedIn(damaged);
                assert.equal(found.length, 1, row);
                assert.ok(found[0].of === "file" && found[0].start <= start && start < found[0].end, row);
                assert.deepEqual(await outboard.damagedOf(new Blob([damaged])), found, row);
            }
            assert.ok(count > 2, `${count} rows`);
        });
    }
}
