import assert from "node:assert/strict";
import { createHash, createHmac as nodeHmac } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { create, createHmac, digest, HASHES, hmac, toHex } from "mksum";

/** The names that Node gives to the same hashes; it lacks BLAKE3 and Keccak as it was before SHA-3. */
const NODE = { blake2s: "blake2s256", blake2b: "blake2b512", blake3: undefined, keccak256: undefined };
const KNOWN = HASHES.filter((name) => !(name in NODE) || NODE[name]).map((name) => [name, NODE[name] ?? name]);

const bytes = (len) => Uint8Array.from({ length: len }, (_, at) => at % 251);

// Around blocks of every size, and around the buffer that a call's bytes go through.
const LENGTHS = [0, 1, 55, 56, 63, 64, 65, 111, 112, 127, 128, 129, 1023, 1024, 1025, 65535, 65536, 65537, 200000];

for (const [name, other] of KNOWN) {
    test(`${name}: as Node's own, whole and in slices`, () => {
        for (const len of LENGTHS) {
            const data = bytes(len);
            const expected = createHash(other).update(data).digest("hex");
            assert.equal(toHex(digest(name, data)), expected, `${len} bytes`);
            const hasher = create(name);
            for (let at = 0; at < len; at += 1000) hasher.update(data.subarray(at, at + 1000));
            assert.equal(toHex(hasher.digest()), expected, `${len} bytes in slices`);
        }
    });

    test(`${name}: HMAC as Node's own, for keys of every length`, () => {
        for (const len of LENGTHS) {
            const [key, data] = [bytes(len), bytes(300)];
            assert.equal(toHex(hmac(name, key, data)), nodeHmac(other, key).update(data).digest("hex"), `${len} bytes`);
        }
    });
}

for (const name of HASHES) {
    test(`${name}: any slices, copies and other messages between them give the same digest`, () => {
        fc.assert(
            fc.property(fc.array(fc.uint8Array({ maxLength: 3000 }), { maxLength: 8 }), fc.nat(8), (slices, at) => {
                const [whole, other] = [Buffer.concat(slices), createHmac(name, bytes(5))];
                let hasher = create(name);
                for (const [index, slice] of slices.entries()) {
                    if (index === at) {
                        const copy = hasher.copy();
                        hasher.update(bytes(77)).free();
                        hasher = copy;
                    }
                    hasher.update(slice);
                    other.update(slice);
                }
                assert.equal(toHex(hasher.digest()), toHex(digest(name, whole)));
                assert.equal(toHex(other.digest()), toHex(hmac(name, bytes(5), whole)));
            }),
            { numRuns: 30 },
        );
    });
}
