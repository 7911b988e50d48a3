// What the inlined module is unpacked by, against zlib: every kind of block, and damage.
import assert from "node:assert/strict";
import { test } from "node:test";
import { constants, deflateRawSync } from "node:zlib";
import fc from "fast-check";
import { inflate } from "../dist/inflate.js";

const { Z_DEFAULT_STRATEGY, Z_FILTERED, Z_FIXED, Z_HUFFMAN_ONLY, Z_RLE } = constants;

/** Bytes with what compresses: few values, and runs of what came before. */
const bytes = fc
    .array(fc.oneof(fc.uint8Array({ maxLength: 300 }), fc.array(fc.constantFrom(0, 1, 2, 65), { maxLength: 2000 }), fc.integer({ min: 1, max: 40 })), { maxLength: 30 })
    .map((parts) => {
        const all = [];
        for (const part of parts) all.push(...(typeof part === "number" ? Array(part).fill(all.slice(-777)).flat() : part));
        return Uint8Array.from(all);
    });

test("it unpacks what zlib packs", () => {
    const options = fc.record({
        level: fc.integer({ min: 0, max: 9 }),
        memLevel: fc.integer({ min: 1, max: 9 }),
        strategy: fc.constantFrom(Z_DEFAULT_STRATEGY, Z_FILTERED, Z_FIXED, Z_HUFFMAN_ONLY, Z_RLE),
    });
    fc.assert(
        fc.property(bytes, options, (data, options) => {
            assert.deepEqual(inflate(deflateRawSync(data, options), data.length), data);
        }),
        { numRuns: 500 },
    );
});

test("long input, in several blocks and with distances up to 32 KiB", () => {
    const data = new Uint8Array(3_000_000);
    let state = 1;
    for (let at = 0; at < data.length; at++) {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        data[at] = at > 32768 && state >>> 28 < 12 ? data[at - 32768 + (state >>> 31)] : state >>> 24;
    }
    for (const level of [0, 1, 6, 9]) assert.deepEqual(inflate(deflateRawSync(data, { level }), data.length), data);
});

test("damage ends with an error or with as many bytes, and never hangs", () => {
    const data = Uint8Array.from({ length: 5000 }, (_, at) => (at * at) >> 7);
    const packed = deflateRawSync(data, { level: 9 });
    for (let length = 0; length < packed.length - 1; length++) {
        assert.throws(() => inflate(packed.subarray(0, length), data.length), RangeError, `${length} bytes`);
    }
    fc.assert(
        fc.property(fc.nat(packed.length - 1), fc.integer({ min: 1, max: 255 }), (at, mask) => {
            const damaged = Uint8Array.from(packed);
            damaged[at] ^= mask;
            try {
                assert.equal(inflate(damaged, data.length).length, data.length);
            } catch (error) {
                assert.ok(error instanceof RangeError, String(error));
            }
        }),
        { numRuns: 1000 },
    );
    assert.throws(() => inflate(packed, data.length - 1), RangeError);
    assert.throws(() => inflate(packed, data.length + 1), RangeError);
});
