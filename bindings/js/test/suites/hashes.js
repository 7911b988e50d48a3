// Every hash, compared with another implementation, with NIST's vectors, and with itself in other slices.
import fc from "fast-check";
import { create, createHmac, digest, digestFast, digestOf, Frontier, HASHES, hmac, root, through, toHex } from "mksum";
import * as mksum from "mksum";
import { bytes, HEX } from "./bytes.js";

/** Node's names of the same hashes. Node has neither BLAKE3 nor the Keccak before SHA-3. */
const OTHER = { blake2s: "blake2s256", blake2b: "blake2b512", blake3: undefined, keccak256: undefined };
const KNOWN = HASHES.filter((name) => !(name in OTHER) || OTHER[name]).map((name) => [name, OTHER[name] ?? name]);

// Lengths around the block sizes and the size of the input buffer.
const LENGTHS = [0, 1, 55, 56, 63, 64, 65, 111, 112, 127, 128, 129, 1023, 1024, 1025, 65535, 65536, 65537, 200000];

export default function ({ test, assert, reference, lines }) {
    for (const [name, other] of KNOWN) {
        test(`${name}: equals another implementation, whole and in slices`, async () => {
            for (const len of [...Array(300).keys(), ...LENGTHS]) {
                const data = bytes(len);
                const expected = await reference("digest", other, data);
                assert.equal(toHex(digest(name, data)), expected, `${len} bytes`);
                const hasher = create(name);
                for (let at = 0; at < len; at += 1000) hasher.update(data.subarray(at, at + 1000));
                assert.equal(toHex(hasher.digest()), expected, `${len} bytes in slices`);
            }
        });

        test(`${name}: HMAC equals another implementation, for keys of many lengths`, async () => {
            for (const len of LENGTHS) {
                const [key, data] = [bytes(len), bytes(300)];
                assert.equal(toHex(hmac(name, key, data)), await reference("hmac", other, key, data), `${len} bytes`);
            }
        });
    }

    for (const name of HASHES) {
        test(`${name}: its own function`, () => {
            const own = mksum[name.replace("-", "_")];
            assert.equal(toHex(own(bytes(100))), toHex(digest(name, bytes(100))));
            assert.equal(create(name).size, digest(name, bytes(0)).length);
        });

        test(`${name}: slices, copies and interleaved messages give the same digest`, () => {
            fc.assert(
                fc.property(fc.array(fc.uint8Array({ maxLength: 3000 }), { maxLength: 8 }), fc.nat(8), (slices, at) => {
                    const whole = new Uint8Array(slices.reduce((sum, slice) => sum + slice.length, 0));
                    const other = createHmac(name, bytes(5));
                    let [hasher, filled] = [create(name), 0];
                    for (const [index, slice] of slices.entries()) {
                        if (index === at) {
                            const copy = hasher.copy();
                            hasher.update(bytes(77)).free();
                            hasher = copy;
                        }
                        hasher.update(slice);
                        other.update(slice);
                        whole.set(slice, filled);
                        filled += slice.length;
                    }
                    assert.equal(toHex(hasher.digest()), toHex(digest(name, whole)));
                    assert.equal(toHex(other.digest()), toHex(hmac(name, bytes(5), whole)));
                }),
                { numRuns: 30 },
            );
        });
    }

    test("NIST's messages have their digests", async () => {
        let count = 0;
        for (const line of await lines("crates/lanes/tests/cavp.tsv")) {
            const [name, kind, message, expected] = line.split("\t");
            if (kind !== "message") continue;
            assert.equal(toHex(digest(name, HEX(message))), expected, `${name}, ${message.length / 2} bytes`);
            count++;
        }
        assert.equal(count, 87);
    });

    test("blake3: the hash equals the root of the format blake3", async () => {
        // The rows of the format blake3 come from b3sum.
        for (const line of await lines("vectors/rows/blake3.tsv")) {
            const [format, pattern, len, root] = line.split("\t");
            if (format !== "blake3" || pattern !== "mod251") continue;
            assert.equal(toHex(digest("blake3", bytes(Number(len)))), root, line);
            assert.equal(toHex(await digestOf("blake3", new Blob([bytes(Number(len))]))), root, line);
        }
    });

    test("digestFast gives the same digests, from wherever they are", async () => {
        for (const name of HASHES) {
            for (const len of [0, 1, 32767, 32768, 262143, 262144, 1000003]) {
                const data = bytes(len);
                assert.equal(toHex(await digestFast(name, data)), toHex(digest(name, data)), `${name}, ${len} bytes`);
            }
        }
        const data = bytes(300000);
        const expected = toHex(digest("sha256", data.subarray(4)));
        const shared = new Uint8Array(new SharedArrayBuffer(data.length));
        shared.set(data);
        for (const view of [data.subarray(4), new DataView(data.buffer, data.byteOffset + 4, data.length - 4), shared.subarray(4), data.slice(4).buffer]) {
            assert.equal(toHex(await digestFast("sha256", view)), expected);
        }
        class Liar extends Uint8Array {
            get length() {
                return 1;
            }
        }
        assert.equal(toHex(await digestFast("sha256", new Liar(data.slice(4).buffer))), expected);
        for (const [name, wrong] of [["sha256", 5], ["sha257", data], ["sha256", null]]) {
            const { code } = await digestFast(name, wrong).catch((error) => error);
            assert.equal(code, "argument");
        }
        // Where the host refuses, the package hashes by itself.
        const { subtle } = crypto;
        Object.defineProperty(crypto, "subtle", { value: undefined, configurable: true });
        try {
            assert.equal(toHex(await digestFast("sha256", data.subarray(4))), expected);
        } finally {
            delete crypto.subtle;
            if (crypto.subtle !== subtle) Object.defineProperty(crypto, "subtle", { value: subtle, configurable: true });
        }
    });

    test("through hashes the bytes of a stream on their way", async () => {
        const data = bytes(300001);
        const [hasher, frontier] = [create("sha256"), new Frontier("rfc6962")];
        const stream = new Blob([data]).stream().pipeThrough(through(hasher)).pipeThrough(through(frontier));
        const passed = new Uint8Array(await new Response(stream).arrayBuffer());
        assert.equal(toHex(passed), toHex(data));
        assert.equal(toHex(hasher.digest()), toHex(digest("sha256", data)));
        assert.equal(frontier.root().text, root("rfc6962", data).text);
        frontier.free();
        // What is not bytes, and a hasher that has ended.
        const open = create("sha256");
        for (const [into, chunk, code] of [[open, "text", "argument"], [hasher, data, "finished"]]) {
            const source = new ReadableStream({ start: (controller) => controller.enqueue(chunk) });
            const error = await source.pipeThrough(through(into)).getReader().read().catch((reason) => reason);
            assert.equal(error.code, code);
        }
        open.free();
    });

    test("keccak256: the empty message, as in Ethereum", () => {
        // EIP-1052: the hash of an account without code.
        const nothing = "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470";
        assert.equal(toHex(digest("keccak256", bytes(0))), nothing);
    });
}
