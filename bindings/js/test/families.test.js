// Each family's entry has its hashes with the same results as `mksum`, and no others.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import * as mksum from "mksum";

const { exports } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
const families = Object.keys(exports).map((name) => name.slice(2)).filter((name) => !["", "fetch", "hashes", "extra", "log"].includes(name) && !name.includes("."));
const data = Uint8Array.from({ length: 200_000 }, (_, at) => at * at);
const everything = await import("mksum/hashes");
let names = [];

/** Returns the names of an entry's exports that are not hashes. */
const functions = (entry) => Object.keys(entry).filter((key) => !mksum.HASHES.includes(key.replace("_", "-").replace(/hex$/, ""))).toSorted();

for (const family of families) {
    const entry = await import(`mksum/${family}`);
    names.push(...entry.HASHES);

    test(`mksum/${family} has its hashes`, async () => {
        for (const name of entry.HASHES) {
            const own = entry[name.replace("-", "_")];
            for (const length of [0, 1, 127, 128, 1000, data.length]) {
                const bytes = data.subarray(0, length);
                assert.deepEqual(own(bytes), mksum.digest(name, bytes), `${name} of ${length} bytes`);
                assert.deepEqual(entry.digest(name, bytes), mksum.digest(name, bytes));
                assert.deepEqual(entry.hmac(name, bytes, bytes), mksum.hmac(name, bytes, bytes), `hmac, ${length} bytes`);
            }
            const salt = data.subarray(0, 20);
            assert.deepEqual(entry.pbkdf2(name, data, salt, 100, 150), mksum.pbkdf2(name, data, salt, 100, 150), name);
            assert.deepEqual(entry.hkdf(name, data, salt, salt, 50), mksum.hkdf(name, data, salt, salt, 50), name);
            assert.deepEqual(await entry.digestOf(name, new Blob([data])), mksum.digest(name, data), name);
        }
    });

    test(`mksum/${family} has no other hashes`, () => {
        const others = mksum.HASHES.filter((name) => !entry.HASHES.includes(name));
        for (const name of others) {
            assert.equal(entry[name.replace("-", "_")], undefined, name);
            for (const act of [() => entry.digest(name, data), () => entry.create(name), () => entry.createHmac(name, data)]) {
                assert.throws(act, ({ code, message }) => code === "argument" && message.includes(`'${name}'`), name);
            }
        }
        assert.deepEqual(functions(entry), functions(everything));
    });
}

const ascending = (one, other) => one.localeCompare(other);

test("every hash is in one family", () => {
    assert.deepEqual(names.toSorted(ascending), mksum.HASHES.toSorted(ascending));
});

test("a hash of another family is a type error", () => {
    const tsc = fileURLToPath(new URL("../node_modules/typescript/bin/tsc", import.meta.url));
    const flags = ["--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "--types", "node"];
    execFileSync(process.execPath, [tsc, ...flags, "--ignoreConfig", "test/types.ts"], {
        cwd: fileURLToPath(new URL("..", import.meta.url)),
        encoding: "utf8",
        stdio: ["ignore", "inherit", "inherit"],
    });
});
