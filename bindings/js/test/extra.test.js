// mksum/extra against published vectors, node:crypto, Python's values and hash-wasm.
import assert from "node:assert/strict";
import { createHash, scryptSync } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import * as wasm from "hash-wasm";
import { argon2, blake2b, blake2s, blake3, create, fromHex, scrypt, shake128, shake256, toHex } from "mksum/extra";
import * as mksum from "mksum";

const text = (string) => new TextEncoder().encode(string);
const bytes = (most = 300) => fc.uint8Array({ minLength: 0, maxLength: most });
const pattern = (length) => Uint8Array.from({ length }, (_, at) => at % 251);
const is = (found, expected) => assert.equal(toHex(found), expected);
const fails = (code, act) => assert.throws(act, (error) => error.code === code, code);

test("BLAKE3: the vectors of its authors", () => {
    const key = text("whats the Elvish word for friend");
    const context = "BLAKE3 2019-12-27 16:29:52 test vectors context";
    for (const [length, plain, keyed, derived] of [
        [0, "af1349b9f5f9a1a6a0404dea36dcc949", "92b2b75604ed3c761f9d6f62392c8a92", "2cc39783c223154fea8dfb7c1b1660f2"],
        [1, "2d3adedff11b61f14c886e35afa03673", "6d7878dfff2f485635d39013278ae14f", "b3e2e340a117a499c6cf2398a19ee0d2"],
        [1024, "42214739f095a406f3fc83deb889744a", "75c46f6f3d9eb4f55ecaaee480db732e", "7356cd7720d5b66b6d0697eb3177d9f8"],
    ]) {
        is(blake3(pattern(length), { length: 16 }), plain);
        is(blake3(pattern(length), { key, length: 16 }), keyed);
        is(blake3(pattern(length), { context, length: 16 }), derived);
    }
});

test("BLAKE3: plain is mksum's, keyed is hash-wasm's, and any part of the output is read", async () => {
    await fc.assert(fc.asyncProperty(bytes(5000), fc.uint8Array({ minLength: 32, maxLength: 32 }), fc.nat(500), fc.nat(500), async (data, key, offset, length) => {
        assert.deepEqual(blake3(data), mksum.blake3(data));
        is(blake3(data, { key }), await wasm.blake3(data, 256, key));
        const hasher = create("blake3", { key });
        hasher.update(data.subarray(0, length)).update(data.subarray(length));
        const whole = hasher.read(offset + length);
        is(whole, (offset + length > 0 ? await wasm.blake3(data, 8 * (offset + length), key) : ""));
        assert.deepEqual(hasher.read(length, offset), whole.subarray(offset));
        assert.deepEqual(hasher.copy().digest(), hasher.digest());
    }), { numRuns: 100 });
});

test("BLAKE2: RFC 7693, Python's values for salts and personal strings, hash-wasm's for keys", async () => {
    is(blake2b(text("abc")), "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d17d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923");
    is(blake2s(text("abc")), "508c5e8c327c14e2e1a72ba34eeb452f37458b209ed63a294d999b4c86675982");
    // hashlib.blake2b(b"data", digest_size=20, key=b"key", salt=b"salt", person=b"person").hexdigest(), and blake2s
    const options = { length: 20, key: text("key"), salt: text("salt"), personal: text("person") };
    is(blake2b(text("data"), options), "f792e26538e4232bc6e4b129a491c988c5926dcc");
    is(blake2s(text("data"), options), "84388b56fefeeeae38a1a100e00a111949d9b467");
    await fc.assert(fc.asyncProperty(bytes(), bytes(64), fc.integer({ min: 1, max: 64 }), async (data, key, length) => {
        is(blake2b(data, { key, length }), await wasm.blake2b(data, 8 * length, key));
        const short = key.subarray(0, 32);
        is(blake2s(data, { key: short, length: Math.min(length, 32) }), await wasm.blake2s(data, 8 * Math.min(length, 32), short));
    }), { numRuns: 100 });
});

test("SHAKE: node:crypto's", () => {
    fc.assert(fc.property(bytes(1000), fc.integer({ min: 1, max: 700 }), fc.nat(700), (data, length, offset) => {
        for (const [name, hash] of Object.entries({ shake128, shake256 })) {
            const expected = createHash(name, { outputLength: length + offset }).update(data).digest("hex");
            is(hash(data, length + offset), expected);
            is(create(name).update(data).read(length, offset), expected.slice(2 * offset));
        }
    }), { numRuns: 100 });
    is(shake256(pattern(300_000)), createHash("shake256", { outputLength: 64 }).update(pattern(300_000)).digest("hex"));
    assert.equal(shake128(text("")).length, 32);
    assert.equal(shake256(text("")).length, 64);
});

test("scrypt: RFC 7914, 12, and node:crypto's", () => {
    is(scrypt(text(""), text(""), { cost: 16, blockSize: 1, length: 64 }), "77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442fcd0069ded0948f8326a753a0fc81f17e8d3e0fb2e0d3628cf35e20c38d18906");
    fc.assert(fc.property(bytes(), bytes(), fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 100 }), (password, salt, log, blockSize, parallelization, length) => {
        const own = scrypt(password, salt, { cost: 2 ** log, blockSize, parallelization, length });
        is(own, scryptSync(password, salt, length, { N: 2 ** log, r: blockSize, p: parallelization }).toString("hex"));
    }), { numRuns: 50 });
});

test("Argon2: RFC 9106, 5, and hash-wasm's", async () => {
    const password = new Uint8Array(32).fill(1);
    const salt = new Uint8Array(16).fill(2);
    const options = { memory: 32, passes: 3, parallelism: 4, secret: new Uint8Array(8).fill(3), data: new Uint8Array(12).fill(4) };
    is(argon2(password, salt, { type: "d", ...options }), "512b391b6f1162975371d30919734294f868e3be3984f3c1a13a4db9fabe4acb");
    is(argon2(password, salt, { type: "i", ...options }), "c814d9d1dc7f37aa13f0d77f2494bda1c8de6b016dd388d29952a4c4672b6ce8");
    is(argon2(password, salt, options), "0d640df58d78766c08c037a34a8b53c9d01ef0452d75b65eb52520e96b01e659");
    const salts = fc.uint8Array({ minLength: 8, maxLength: 50 });
    await fc.assert(fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 80 }), salts, fc.integer({ min: 8, max: 200 }), fc.integer({ min: 1, max: 3 }), fc.integer({ min: 4, max: 90 }), async (password, salt, memory, passes, length) => {
        for (const [type, other] of [["d", wasm.argon2d], ["i", wasm.argon2i], ["id", wasm.argon2id]]) {
            const expected = await other({ password, salt, memorySize: memory, iterations: passes, parallelism: 1, hashLength: length, outputType: "hex" });
            is(argon2(password, salt, { type, memory, passes, length }), expected);
        }
    }), { numRuns: 30 });
});

test("long messages in slices of any length, and many states at a time", () => {
    const data = pattern(300_000);
    for (const name of ["blake3", "blake2b", "blake2s", "shake128", "shake256"]) {
        const whole = create(name).update(data).digest();
        const several = [1, 63, 64, 1000, 65_536, 65_537].map((step) => ({ step, hasher: create(name) }));
        for (const { step, hasher } of several) for (let at = 0; at < data.length; at += step) hasher.update(data.subarray(at, at + step));
        for (const { step, hasher } of several) assert.deepEqual(hasher.digest(), whole, `${name}, ${step}`);
    }
});

test("wrong arguments are errors, and leave the module whole", () => {
    const data = text("abc");
    fails("argument", () => create("sha256"));
    fails("argument", () => create("toString"));
    fails("argument", () => create(1));
    fails("argument", () => create("blake3", null));
    fails("argument", () => create("blake3", 1));
    fails("argument", () => blake3(1));
    fails("argument", () => blake3("\ud83d"));
    assert.deepEqual(blake3("abc"), blake3(data));
    fails("argument", () => blake3(data, { Key: new Uint8Array(32) }));
    fails("argument", () => argon2(data, new Uint8Array(8), { memory: 8, passes: 1, variant: "i" }));
    fails("argument", () => argon2(data, new Uint8Array(8), { memory: 8, passes: 1, parallelization: 1 }));
    fails("argument", () => scrypt(data, data, { cost: 2, parallelism: 1 }));
    fails("length", () => blake3(data, { key: data }));
    fails("length", () => blake3(data, { key: new Uint8Array(0) }));
    fails("argument", () => blake3(data, { key: new Uint8Array(32), context: "a" }));
    fails("argument", () => blake3(data, { context: 1 }));
    fails("argument", () => blake3(data, { salt: data }));
    fails("argument", () => blake2b(data, { context: "a" }));
    fails("argument", () => create("shake128", { key: data }));
    for (const length of [0, -1, 1.5, 2 ** 31]) fails("length", () => blake3(data, { length }));
    fails("argument", () => blake3(data, { length: "1" }));
    fails("length", () => blake2b(data, { length: 65 }));
    fails("length", () => blake2s(data, { length: 33 }));
    fails("length", () => blake2b(data, { key: new Uint8Array(65) }));
    fails("length", () => blake2s(data, { salt: new Uint8Array(9) }));
    fails("argument", () => create("blake2b").read(10));
    fails("length", () => create("shake128").read(-1));
    fails("length", () => create("blake3").read(1, 2 ** 60));
    const ended = create("blake3");
    ended.digest();
    for (const act of [() => ended.digest(), () => ended.update(data), () => ended.copy(), () => ended.read(1)]) fails("finished", act);
    ended.free();
    for (const cost of [0, 1, 3, 1000, 2 ** 25, 16.5]) fails("length", () => scrypt(data, data, { cost }));
    fails("length", () => scrypt(data, data, { cost: 2 ** 16, blockSize: 1 }));
    fails("argument", () => scrypt(data, data));
    fails("argument", () => scrypt("abc", data, { cost: 16 }));
    fails("length", () => argon2(data, data, { memory: 8, passes: 1 }));
    fails("length", () => argon2(data, new Uint8Array(8), { memory: 7, passes: 1 }));
    fails("length", () => argon2(data, new Uint8Array(8), { memory: 8, passes: 0 }));
    fails("argument", () => argon2(data, new Uint8Array(8), { memory: 8, passes: 1, type: "x" }));
    fails("length", () => argon2(data, new Uint8Array(8), { memory: 8, passes: 1, data: new Uint8Array(33) }));
    // 4 GiB do not fit.
    fails("length", () => argon2(data, new Uint8Array(8), { memory: 2 ** 22 - 1, passes: 1 }));
    fails("length", () => scrypt(data, data, { cost: 2 ** 24, blockSize: 8 }));
    const detached = new Uint8Array(8);
    structuredClone(detached.buffer, { transfer: [detached.buffer] });
    fails("detached", () => blake3(detached));
    is(blake3(data), "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85");
    is(blake3(fromHex("616263")), "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85");
});
