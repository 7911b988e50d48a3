// Invalid input: typed errors with messages, never a digest; and states that are freed.
import {
    create, createHmac, digest, digestFast, digestOf, fromHex, hashFiles, hkdf, hmac, keep, keepOf, load, MksumError, Outboard, pbkdf2Many, pbkdf2Of,
    Pool, Proof, root, rootOf, sha256, sha256hex, sha3_256, sha3_256hex, Spec, toHex,
} from "mksum";
import { bytes } from "./bytes.js";

const refused = (code, message) => (error) =>
    error instanceof MksumError && error.code === code && (!message || message.test(error.message));

export default function ({ test, assert }) {
    const nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    test("a value that is not bytes is refused", () => {
        for (const wrong of [5, null, undefined, {}, [1, 2], true, Symbol("x"), () => {}, new Map()]) {
            assert.throws(() => sha256(wrong), refused("argument"));
            assert.throws(() => create("sha256").update(wrong), refused("argument"));
            assert.throws(() => hmac("sha256", wrong, bytes(1)), refused("argument"));
        }
        for (const key of [(text) => hmac("sha256", text, bytes(1)), (text) => root("rfc6962", text)]) {
            assert.throws(() => key("text"), refused("argument", /TextEncoder/));
        }
    });

    test("text is hashed as UTF-8, and half of a surrogate pair is refused", async () => {
        for (const text of ["", "abc", "\u00e9\u{1f600}", "\ufeffa\0b", "x".repeat(100_000)]) {
            const expected = sha256(new TextEncoder().encode(text));
            assert.deepEqual(sha256(text), expected);
            assert.deepEqual(digest("sha256", text), expected);
            assert.deepEqual(create("sha256").update(text).digest(), expected);
            assert.deepEqual(await digestFast("sha256", text), expected);
            assert.equal(sha256hex(text), toHex(expected));
        }
        assert.equal(sha3_256hex(bytes(5)), toHex(sha3_256(bytes(5))));
        for (const half of ["\ud83d", "a\ude00b", "\ude00\ud83d"]) {
            const hasher = create("sha256").update("abc");
            for (const hash of [sha256, sha256hex, (text) => digest("sha256", text), (text) => hasher.update(text)]) {
                assert.throws(() => hash(half), refused("argument", half.startsWith("a") ? /at 1$/ : /at 0$/));
            }
            assert.equal(toHex(hasher.digest()), sha256hex("abc"));
        }
    });

    test("a mistyped format has the nearest", () => {
        assert.throws(() => Spec.parse("sha265"), refused("argument", /unknown format 'sha265': did you mean sha256\?$/));
        assert.throws(() => root("rfc6961", bytes(1)), refused("argument", /did you mean rfc6962\?$/));
        assert.throws(() => root("nonsense", bytes(1)), refused("argument", /expected one of rfc6962, /));
    });

    test("every kind of view and buffer is hashed as its bytes", () => {
        const expected = toHex(sha256(bytes(64)));
        const own = bytes(64).slice();
        assert.equal(toHex(sha256(own.buffer)), expected);
        assert.equal(toHex(sha256(new DataView(own.buffer))), expected);
        assert.equal(toHex(sha256(new Float64Array(own.buffer))), expected);
        const around = new Uint8Array(80);
        around.set(own, 8);
        assert.equal(toHex(sha256(around.subarray(8, 72))), expected);
        assert.equal(toHex(sha256(new Uint16Array(around.buffer, 8, 32))), expected);
    });

    test("a Proxy is refused, and has no digest", () => {
        const revoked = Proxy.revocable(bytes(5), {});
        revoked.revoke();
        const tagged = { [Symbol.toStringTag]: "ArrayBuffer" };
        for (const wrong of [new Proxy(new ArrayBuffer(5), {}), new Proxy(bytes(5), {}), new Proxy(new DataView(new ArrayBuffer(5)), {}), revoked.proxy, tagged]) {
            assert.throws(() => sha256(wrong), refused("argument"));
            assert.throws(() => root("rfc6962", wrong), refused("argument"));
        }
    });

    test("every error is an MksumError with a code", async () => {
        const none = [null, 5, "text", Symbol("x"), () => {}];
        const file = new Blob([bytes(9)]);
        const secret = { password: bytes(1), salt: bytes(1) };
        const proof = Proof.ofRange("rfc6962", bytes(9), 1, 2);
        const outboard = Outboard.open(keep("rfc6962", 1, bytes(9)));
        const pool = await Pool.start(1);
        try {
            for (const wrong of [...none, {}, [], undefined]) {
                for (const act of [
                    () => pbkdf2Many("md5", wrong === undefined || Array.isArray(wrong) ? null : wrong, 1, 1),
                    () => pbkdf2Many("md5", [wrong], 1, 1),
                    () => hkdf("md5", wrong, bytes(1), bytes(1), 1),
                    () => proof.verifyRange(wrong, bytes(1)),
                    () => proof.verifyConsistency(wrong, wrong),
                    () => Proof.parse(wrong),
                    () => Outboard.open(wrong),
                    () => outboard.damagedIn(wrong),
                    () => keep("rfc6962", 1, wrong),
                    () => Spec.parse(wrong),
                    () => toHex(wrong),
                ]) assert.throws(act, refused("argument"));
                for (const act of [
                    () => pbkdf2Of("md5", wrong, 2, 1),
                    () => outboard.damagedOf(wrong),
                    () => keepOf("rfc6962", 1, wrong),
                    () => Proof.rangeOf("rfc6962", wrong, 1, 2),
                    () => pool.rootOf("rfc6962", wrong),
                ]) await assert.rejects(act(), refused("argument"));
                if (Array.isArray(wrong)) continue;
                for (const act of [() => digestOf("md5", wrong), () => rootOf("rfc6962", wrong), () => hashFiles("md5", wrong).next(), () => pool.hashFiles("md5", wrong).next()]) {
                    if (typeof wrong !== "string") await assert.rejects(act(), refused("argument"));
                }
            }
            for (const options of [...none, { signal: 5 }, { signal: null }, { progress: 5 }, { pool: 5 }, { Signal: undefined }]) {
                for (const act of [
                    () => digestOf("md5", file, options),
                    () => rootOf("rfc6962", file, options),
                    () => pbkdf2Of("md5", secret, 2, 1, options),
                    () => hashFiles("md5", [file], options).next(),
                    () => outboard.damagedOf(file, options),
                    () => keepOf("rfc6962", 1, file, options),
                    () => Proof.rangeOf("rfc6962", file, 1, 2, options),
                    () => pool.rootOf("rfc6962", file, options),
                    () => pool.hashFiles("md5", [file], options).next(),
                ]) await assert.rejects(act(), refused("argument"));
            }
            const locked = new ReadableStream({});
            locked.getReader();
            const failing = { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new TypeError("gone")) }) };
            const torn = new Blob([bytes(9)]);
            torn.slice = () => { throw new TypeError("gone"); };
            for (const source of [locked, failing, torn]) {
                await assert.rejects(digestOf("md5", source), refused("source"));
                await assert.rejects(rootOf("rfc6962", source), refused("source"));
            }
            await assert.rejects(hashFiles("md5", failing).next(), refused("source"));
            await assert.rejects(pool.hashFiles("md5", failing).next(), refused("source"));
            for (const wrong of [null, 0, -1, 1.5, "2", {}]) await assert.rejects(Pool.start(wrong), (error) => error instanceof MksumError);
        } finally {
            pool.end();
        }
    });

    test("shared memory is copied, then hashed", () => {
        if (typeof SharedArrayBuffer === "undefined") return;
        const shared = new SharedArrayBuffer(200_000);
        new Uint8Array(shared).set(bytes(200_000));
        assert.equal(toHex(sha256(shared)), toHex(sha256(bytes(200_000))));
        assert.equal(toHex(sha256(new Uint8Array(shared))), toHex(sha256(bytes(200_000))));
    });

    test("a detached buffer is an error, not an empty message", () => {
        const gone = bytes(100).slice();
        structuredClone(gone, { transfer: [gone.buffer] });
        assert.throws(() => sha256(gone), refused("detached"));
        assert.throws(() => sha256(gone.buffer), refused("detached"));
        assert.throws(() => sha256(new DataView(new ArrayBuffer(4), 0)) && create("md5").update(gone), refused("detached"));
        assert.throws(() => createHmac("sha256", gone), refused("detached"));
        assert.equal(toHex(sha256(new Uint8Array(0))), nothing);
        if (ArrayBuffer.prototype.resize) {
            const shrunk = new ArrayBuffer(100, { maxByteLength: 100 });
            const view = new Uint8Array(shrunk, 50, 20);
            shrunk.resize(10);
            assert.throws(() => sha256(view), refused("detached"));
        }
    });

    test("unknown hash names are refused", () => {
        for (const wrong of ["sha", "SHA256", "", "toString", "__proto__", 3, null, undefined, {}]) {
            assert.throws(() => digest(wrong, bytes(1)), refused("argument", /sha256/));
            assert.throws(() => create(wrong), refused("argument"));
            assert.throws(() => createHmac(wrong, bytes(1)), refused("argument"));
        }
    });

    test("a hasher ends once", () => {
        for (const hasher of [create("sha256"), createHmac("sha1", bytes(3)), create("blake3")]) {
            hasher.update(bytes(3)).digest();
            assert.throws(() => hasher.digest(), refused("finished"));
            assert.throws(() => hasher.update(bytes(1)), refused("finished"));
            assert.throws(() => hasher.copy(), refused("finished"));
            hasher.free();
        }
        const freed = create("md5");
        freed.free();
        freed.free();
        assert.throws(() => freed.digest(), refused("finished"));
    });

    test("a refused slice changes nothing", () => {
        const hasher = create("sha256").update(bytes(70));
        assert.throws(() => hasher.update(5), refused("argument"));
        assert.equal(toHex(hasher.digest()), toHex(sha256(bytes(70))));
    });

    test("a digest has its own buffer", () => {
        const [one, other] = [sha256(bytes(1)), sha256(bytes(2))];
        assert.equal(one.buffer.byteLength, 32);
        assert.ok(toHex(one) !== toHex(other));
        one.fill(0);
        assert.equal(toHex(sha256(bytes(1))), toHex(digest("sha256", bytes(1))));
    });

    test("hex is encoded and decoded", () => {
        assert.equal(toHex(fromHex("00fF10")), "00ff10");
        assert.equal(toHex(fromHex("")), "");
        for (const wrong of ["0", "0g", " 00", "00\n", "０0"]) assert.throws(() => fromHex(wrong), refused("argument"));
        assert.throws(() => fromHex(5), refused("argument"));
    });

    test("loading twice changes nothing", async () => {
        const hasher = create("sha256");
        await load();
        await Promise.all([load(), load()]);
        assert.equal(toHex(hasher.digest()), nothing);
    });

    test("sixty-four files are hashed at once, slice by slice", () => {
        const names = ["sha256", "blake3", "md5", "blake2b"];
        const hashers = Array.from({ length: 64 }, (_, at) => create(names[at % 4]));
        for (let at = 0; at < 1_000_000; at += 50_000) {
            for (const [index, hasher] of hashers.entries()) hasher.update(bytes(1_000_064).subarray(at + index, at + index + 50_000));
        }
        for (const [index, hasher] of hashers.entries()) {
            assert.equal(toHex(hasher.digest()), toHex(digest(names[index % 4], bytes(1_000_064).subarray(index, index + 1_000_000))));
        }
    });
}
