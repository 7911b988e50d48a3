// Trees that other programs keep: as those programs write them, and with any byte changed.
import fc from "fast-check";
import { digest, fromHex, keep, MksumError, Outboard, Proof, root, Spec, toHex } from "mksum";
import { bytes } from "./bytes.js";

/** SHA-256 of the trees that bao 0.13.1, fsverity 1.5 and veritysetup 2.6.1 write over the pattern `mod251`, by format and length. */
const WRITTEN = [
    ["blake3", 1025, "77be04208af7ea3306c6beb012ddad376aefe7ffab186615301fb03288b3a9c6"],
    ["blake3", 10_000, "d80c60c6d72e02a2a7837b8866ec6d86672d9fc5a008f7272134ba6aabfd7d76"],
    ["blake3", 3_000_003, "6e0f8a11ac9da2868c8ac2cc3c89a746573068fe3700e0662bfd3890c3faaf2c"],
    ["fsverity", 10_000, "8a2bffc6fb598748c269ebe6d8ab21f3fb97f578f330d7c36818e08ef74b8112"],
    ["fsverity", 3_000_003, "4781ca1bff66a36c28716178ca31cc09142b4eaffa5ffee75a84fccf9fa97ac2"],
    ["fsverity:sha256:1KiB", 100_000, "6d5caaa927a0bf7cf0f5054d78bc29e41e98d1e74b4be2c6656a8a20d9b8f353"],
    ["fsverity:sha512:4KiB:salt=00ff", 3_000_003, "88eea57d7abe266c2b9dafdf2dc714bbb7833ff22671967d1b5df9b3b4410928"],
    ["dmverity:sha256:4KiB:salt=00ff", 3_002_368, "fe36ff8e83063af72929d38908477888880ae49f1deb58a4546e7d5c90f2271d"],
];

const refused = (code) => (error) => error instanceof MksumError && error.code === code;

const joined = (parts) => {
    const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) {
        all.set(part, at);
        at += part.length;
    }
    return all;
};

/** Returns the parts of bytes, `size` bytes each, the last one filled with zeros. */
const blocks = (data, size) => Array.from({ length: Math.ceil(data.length / size) }, (_, at) => {
    const block = new Uint8Array(size);
    block.set(data.subarray(size * at, size * (at + 1)));
    return block;
});

/** Returns the blocks of digests of fs-verity and dm-verity, level by level, the highest first (Documentation/filesystems/fsverity.rst). */
function levels({ hash, leaf }, salt, data) {
    const found = [];
    for (let below = blocks(data, leaf); below.length > 1; [below] = found) {
        found.unshift(blocks(joined(below.map((block) => digest(hash, joined([salt, block])))), leaf));
    }
    return joined(found.flat());
}

/** Returns dm-verity's superblock (veritysetup(8)), as long as a block. */
function superblock({ hash, leaf, salt }, len) {
    const block = new Uint8Array(leaf);
    const view = new DataView(block.buffer);
    block.set(new TextEncoder().encode(`verity\0\0\x01\0\0\0\x01`));
    block.set(new TextEncoder().encode(hash), 32);
    view.setUint32(64, leaf, true);
    view.setUint32(68, leaf, true);
    view.setUint32(72, len / leaf, true);
    view.setUint16(80, salt.length, true);
    block.set(salt, 88);
    return block;
}

/** Returns Bao's outboard: the length, then pairs of digests in pre-order. The digests of an outboard of this project are in post-order. */
function bao(data) {
    const kept = keep("blake3", 1024, data).subarray(1024);
    let at = 0;
    const node = (len) => {
        let [pairs, left] = [[], 1024];
        if (len > 1024) {
            while (2 * left < len) left *= 2;
            const children = [node(left), node(len - left)];
            pairs = [...children.map(({ own }) => own), ...children.flatMap((child) => child.pairs)];
        }
        return { own: kept.subarray(at, (at += 32)), pairs };
    };
    const head = new Uint8Array(8);
    new DataView(head.buffer).setUint32(0, data.length, true);
    return joined([head, ...node(data.length).pairs]);
}

/** Returns the tree over bytes as the format's own program writes it. */
function tree(format, data) {
    const spec = Spec.parse(format);
    if (spec.family === "blake3") return bao(data);
    if (spec.family === "dmverity") return joined([superblock(spec, data.length), levels(spec, spec.salt, data)]);
    const [salt] = blocks(spec.salt, spec.hash === "sha512" ? 128 : 64);
    return levels(spec, salt ?? new Uint8Array(), data);
}

export default function ({ test, assert }) {
    test("trees of other programs are read as they write them", () => {
        for (const [format, len, sum] of WRITTEN) {
            const data = bytes(len);
            const written = tree(format, data);
            assert.equal(toHex(digest("sha256", written)), sum, `${format} of ${len} bytes`);
            const outboard = Outboard.openForeign(format, len, written);
            assert.deepEqual([outboard.root, outboard.len, outboard.unit], [root(format, data).text, len, Spec.parse(format).leaf], format);
            assert.deepEqual(outboard.damagedIn(data), []);
            const damaged = data.slice();
            damaged[len - 1] ^= 1;
            const start = Math.floor((len - 1) / outboard.unit) * outboard.unit;
            assert.deepEqual(outboard.damagedIn(damaged), [{ of: "file", start, end: len }], format);
        }
    });

    test("any changed byte of a file or of another program's tree is found where it is", () => {
        const formats = fc.constantFrom("blake3", "fsverity", "fsverity:sha512", "dmverity:sha256:512:salt=0102");
        const places = fc.nat({ max: 2 ** 30 });
        fc.assert(
            fc.property(formats, fc.integer({ min: 4097, max: 40_000 }), places, places, fc.integer({ min: 1, max: 255 }), (format, most, one, other, flip) => {
                const len = format.startsWith("dm") ? most - (most % 512) : most;
                const data = bytes(len);
                const written = tree(format, data);
                const outboard = Outboard.openForeign(format, len, written);
                const place = one % len;
                const damaged = data.slice();
                damaged[place] ^= flip;
                const [found, ...others] = outboard.damagedIn(damaged);
                assert.ok(found.of === "file" && others.length === 0 && found.start <= place && place < found.end && found.end - found.start <= outboard.unit);

                const at = other % written.length;
                const changed = written.slice();
                changed[at] ^= flip;
                let wrong;
                try {
                    wrong = Outboard.openForeign(format, len, changed);
                } catch (error) {
                    // The bytes before the digests: the length, or dm-verity's superblock.
                    assert.ok(refused("outboard")(error) && at < (format === "blake3" ? 8 : 512), String(error));
                    return;
                }
                const unused = format.startsWith("dm") ? at < 512 || written[at] === 0 : format !== "blake3" && at >= Math.ceil(len / 4096) * outboard.spec.size;
                // The root is made of the highest digests: a tree in which one of them is wrong has another root.
                if (wrong.root === outboard.root) {
                    const all = wrong.damagedIn(data);
                    assert.ok(all.every(({ of }) => of === "outboard") && (all.length > 0 || unused), `${format}, byte ${at} of the tree of ${len} bytes`);
                }
            }),
            { numRuns: 150 },
        );
    });

    test("ranges are proven from outboards, and only from files that have them", async () => {
        const specs = [["blake3", undefined], ["fsverity", undefined], ["rfc6962:sha256:1KiB", 4096], ["mtsum", 4096], ["plain:sha512:100", 400]];
        for (const [format, unit] of specs) {
            const data = bytes(150_001);
            const own = unit ? Outboard.open(keep(format, unit, data)) : Outboard.openForeign(format, data.length, tree(format, data));
            for (const [start, end] of [[0, 1], [4096, 8192], [5000, 123_457], [150_000, 150_001], [0, 150_001]]) {
                const proof = Proof.ofRange(own, data, start, end);
                assert.deepEqual(proof.toBytes(), Proof.ofRange(format, data, start, end).toBytes(), format);
                proof.verifyRange(root(format, data), data.subarray(start, end));
                assert.deepEqual((await Proof.rangeOf(own, new Blob([data]), start, end)).toBytes(), proof.toBytes());
            }
            const damaged = data.slice();
            damaged[5001] ^= 1;
            assert.throws(() => Proof.ofRange(own, damaged, 5000, 123_457), refused("outboard"), format);
            assert.throws(() => Proof.ofRange(own, data.subarray(1), 5, 6), refused("length"), format);
            assert.throws(() => Proof.ofRange(own, data, 6, 6), refused("proof"), format);
        }
        // Of a long file only the ends of the range are read.
        const data = bytes(5_500_003);
        let read = 0;
        const file = new Blob([data]);
        file.slice = (start, end) => {
            read += end - start;
            return Blob.prototype.slice.call(file, start, end);
        };
        const long = Outboard.openForeign("blake3", data.length, tree("blake3", data));
        (await Proof.rangeOf(long, file, 1_500_000, 4_500_001)).verifyRange(root("blake3", data), data.subarray(1_500_000, 4_500_001));
        assert.equal(read, 2 << 20);
        const own = Outboard.open(keep("rfc6962:sha256:1KiB", 4096, bytes(99_999)));
        const proof = await Proof.consistencyOf(own, new Blob([bytes(99_999)]), 5000);
        assert.deepEqual(proof.toBytes(), Proof.ofConsistency("rfc6962:sha256:1KiB", bytes(99_999), 5000).toBytes());
        proof.verifyConsistency(root("rfc6962:sha256:1KiB", bytes(5000)), root("rfc6962:sha256:1KiB", bytes(99_999)));
    });

    test("what is not another program's tree of the file is refused", () => {
        const data = bytes(10_000);
        const written = tree("blake3", data);
        for (const [format, len, given] of [
            ["blake3", 9999, written], ["blake3", 10_000, written.subarray(1)], ["fsverity", 10_000, written], ["btv2", 10_000, written],
            // A single leaf: there is only its root.
            ["blake3", 1024, fromHex("0004000000000000")], ["fsverity", 4096, bytes(0)],
            ["dmverity:sha256:4KiB:salt=00", 8192, tree("dmverity:sha256:4KiB:salt=01", bytes(8192))],
        ]) assert.throws(() => Outboard.openForeign(format, len, given), refused("outboard"), `${format} of ${len} bytes`);
        assert.throws(() => Outboard.openForeign("dmverity", 5, written), refused("format"));
        assert.throws(() => Outboard.openForeign("nosuch", 5, written), refused("argument"));
        assert.throws(() => Outboard.openForeign("blake3", -5, written), refused("length"));
        assert.throws(() => Outboard.openForeign("blake3", 5, "text"), refused("argument"));
        assert.throws(() => Outboard.openForeign("blake3", Number.MAX_SAFE_INTEGER, written), refused("outboard"));
        const empty = Outboard.openForeign("blake3", 0, new Uint8Array(8));
        assert.deepEqual([empty.root, empty.damagedIn(bytes(0))], [root("blake3", bytes(0)).text, []]);
    });
}
