// HMAC, PBKDF2 and HKDF, compared with Wycheproof's vectors and another implementation.
import fc from "fast-check";
import { digest, HASHES, hkdf, hmac, MksumError, pbkdf2, pbkdf2Many, pbkdf2Of, toHex } from "mksum";
import { bytes, HEX } from "./bytes.js";

const refused = (code) => (error) => error instanceof MksumError && error.code === code;

export default function ({ test, assert, reference, lines }) {
    const rows = async (name) => (await lines(`vectors/wycheproof/${name}.tsv`)).map((line) => line.split("\t"));

    test("HMAC: Wycheproof", async () => {
        let count = 0;
        for (const [hash, id, , key, message, tag] of await rows("hmac")) {
            // Some tags are truncated.
            const found = toHex(hmac(hash, HEX(key), HEX(message))).slice(0, tag.length);
            assert.equal(found, tag, `${hash} ${id}`);
            count++;
        }
        assert.equal(count, 726);
    });

    test("HKDF: Wycheproof", async () => {
        let count = 0;
        for (const [hash, id, result, input, salt, info, size, key] of await rows("hkdf")) {
            const make = () => toHex(hkdf(hash, HEX(input), HEX(salt), HEX(info), Number(size)));
            if (result === "valid") assert.equal(make(), key, `${hash} ${id}`);
            else assert.throws(make, (error) => error instanceof MksumError && error.code === "length", `${hash} ${id}`);
            count++;
        }
        assert.equal(count, 339);
    });

    test("PBKDF2: Wycheproof", async () => {
        let count = 0;
        for (const [hash, id, result, password, salt, iterations, length, key] of await rows("pbkdf2")) {
            const found = toHex(pbkdf2(hash, HEX(password), HEX(salt), Number(iterations), Number(length)));
            assert.equal(found === key, result === "valid", `${hash} ${id}`);
            count++;
        }
        assert.equal(count, 298);
    });

    for (const name of ["md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha3-256", "ripemd160"]) {
        test(`${name}: PBKDF2 equals another implementation, for many lengths`, async () => {
            for (const [password, salt, iterations, length] of [
                [0, 0, 1, 1], [9, 5, 2, 20], [64, 16, 3, 64], [65, 100, 10, 200], [200, 16, 5, 65], [8, 70000, 4, 700],
            ]) {
                const inputs = [bytes(password), bytes(salt), iterations, length];
                assert.equal(toHex(pbkdf2(name, ...inputs)), await reference("pbkdf2", name, ...inputs));
            }
        });
    }

    test("PBKDF2: several passwords at once give the same keys as one by one", () => {
        const names = fc.constantFrom("md5", "sha1", "sha256", "sha512", "blake2s");
        const secret = fc.record({ password: fc.uint8Array({ maxLength: 200 }), salt: fc.uint8Array({ maxLength: 99 }) });
        fc.assert(
            fc.property(names, fc.array(secret, { maxLength: 9 }), fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 99 }),
                (name, secrets, iterations, length) => {
                    const alone = secrets.map(({ password, salt }) => toHex(pbkdf2(name, password, salt, iterations, length)));
                    assert.deepEqual(pbkdf2Many(name, secrets, iterations, length).map(toHex), alone);
                }),
            { numRuns: 50 },
        );
    });

    test("PBKDF2: more blocks than fit into one call", async () => {
        const length = 32 * 500;
        const found = toHex(pbkdf2("sha256", bytes(8), bytes(8), 2, length));
        assert.equal(found, await reference("pbkdf2", "sha256", bytes(8), bytes(8), 2, length));
    });

    test("asynchronous PBKDF2 gives the same key, reports progress, and can be aborted", async () => {
        const secret = { password: bytes(8), salt: bytes(16) };
        const reports = [];
        const key = await pbkdf2Of("sha256", secret, 20000, 32, { progress: (done, total) => reports.push([done, total]) });
        assert.equal(toHex(key), toHex(pbkdf2("sha256", secret.password, secret.salt, 20000, 32)));
        assert.deepEqual(reports.at(-1), [20000, 20000]);
        const controller = new AbortController();
        const ended = pbkdf2Of("sha256", secret, 1e9, 32, { signal: controller.signal, progress: () => controller.abort() });
        await assert.rejects(ended, (error) => error.name === "AbortError");
    });

    test("PBKDF2 and HKDF refuse invalid arguments", () => {
        for (const iterations of [0, -1, 1.5, NaN, 2 ** 33]) {
            assert.throws(() => pbkdf2("sha256", bytes(8), bytes(8), iterations, 32), refused("length"));
        }
        assert.throws(() => pbkdf2("sha256", bytes(8), bytes(8), "1000", 32), refused("argument"));
        assert.throws(() => pbkdf2("sha256", "password", bytes(8), 1, 32), refused("argument"));
        assert.throws(() => pbkdf2("sha2", bytes(8), bytes(8), 1, 32), refused("argument"));
        assert.throws(() => pbkdf2("sha256", bytes(8), bytes(8), 1, 0), refused("length"));
        assert.throws(() => hkdf("sha256", bytes(8), bytes(8), bytes(0), 255 * 32 + 1), refused("length"));
        assert.equal(hkdf("sha256", bytes(8), bytes(8), bytes(0), 0).length, 0);
    });

    test("HMAC with a long key equals HMAC with the key's digest, for every hash", () => {
        for (const name of HASHES) {
            const key = bytes(70000);
            assert.equal(toHex(hmac(name, key, bytes(9))), toHex(hmac(name, digest(name, key), bytes(9))), name);
        }
    });
}
