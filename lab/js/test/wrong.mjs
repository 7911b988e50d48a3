// Adapters that are wrong in the ways that studies have been, beside one that is right: for adapters.test.mjs.
import CryptoJS from "crypto-js";
import sjcl from "../build/sjcl.cjs";
import { binaryString } from "../bytes.mjs";
import noble from "../adapters/noble.mjs";
export { run } from "../study.mjs";

/** What sjcl gives, told as it is. */
const hex = (output) => (Array.isArray(output) ? sjcl.codec.hex.fromBits(output) : String(output));

export const ADAPTERS = [
    noble,
    // sjcl takes words; it takes a Uint8Array too, without a word of complaint, and hashes something else.
    {
        name: "sjcl fed bytes",
        kind: "js",
        load: () => ({ hex, hashes: { sha256: (bytes) => sjcl.hash.sha256.hash(bytes) } }),
    },
    // What is appended is kept, and nothing is hashed until the end, which nobody asks for.
    {
        name: "sjcl without its end",
        kind: "js",
        load: () => ({
            hex,
            hashes: { sha256: (bytes) => new sjcl.hash.sha256().update(sjcl.codec.bytes.toBits(bytes)) },
        }),
    },
    // Without a hash by name, PBKDF2 of the time meant SHA-1.
    {
        name: "PBKDF2 with its default",
        kind: "js",
        load: () => ({
            input: (bytes) => CryptoJS.lib.WordArray.create(bytes),
            hex: (words) => words.toString(),
            pbkdf2: {
                sha256: (password, salt, iterations) =>
                    CryptoJS.PBKDF2(password, salt, { keySize: 8, iterations, hasher: CryptoJS.algo.SHA1 }),
            },
        }),
    },
    // Text is no bytes: from 128 on, UTF-8 makes two of one.
    {
        name: "bytes as text",
        kind: "js",
        load: () => ({
            input: binaryString,
            hex: (words) => words.toString(),
            hashes: { sha256: (text) => CryptoJS.SHA256(text) },
        }),
    },
    // A key that is remembered is no key derived.
    {
        name: "remembers",
        kind: "js",
        load: () => {
            const { pbkdf2 } = noble.load();
            const known = {};
            return {
                pbkdf2: { sha256: (password, salt, count) => (known[count] ??= pbkdf2.sha256(password, salt, count)) },
            };
        },
    },
    // Right while it is watched.
    {
        name: "right at first",
        kind: "js",
        load: async () => {
            const { hashes } = noble.load();
            const calls = {};
            const call = (bytes) =>
                (calls[bytes.length] = (calls[bytes.length] ?? 0) + 1) > 2 ? new Uint8Array(32) : hashes.sha256(bytes);
            return { hashes: { sha256: call } };
        },
    },
    { name: "gone", kind: "js", load: () => Promise.reject(new Error("not here")) },
];
