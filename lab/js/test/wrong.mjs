// Adapters with the mistakes of earlier studies, beside a correct one, for study.test.mjs.
import CryptoJS from "crypto-js";
import sjcl from "../build/sjcl.cjs";
import { binaryString } from "../bytes.mjs";
import noble from "../adapters/noble.mjs";
export { run } from "../study.mjs";

/** Returns sjcl's output as hexadecimal, or any other output as text. */
const hex = (output) => (Array.isArray(output) ? sjcl.codec.hex.fromBits(output) : String(output));

const LIBRARIES = [
    noble,
    // sjcl expects words. It accepts a Uint8Array without an error, but hashes something else.
    {
        name: "sjcl fed bytes",
        kind: "js",
        load: () => ({ hex, hashes: { sha256: (bytes) => sjcl.hash.sha256.hash(bytes) } }),
    },
    // Appended bytes are only hashed by finalize, which is never called.
    {
        name: "sjcl without its end",
        kind: "js",
        load: () => ({
            hex,
            hashes: { sha256: (bytes) => new sjcl.hash.sha256().update(sjcl.codec.bytes.toBits(bytes)) },
        }),
    },
    // Without an explicit hash, PBKDF2 used SHA-1 at the time.
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
    // Text is not bytes: UTF-8 encodes characters from 128 on as two bytes.
    {
        name: "bytes as text",
        kind: "js",
        load: () => ({
            input: binaryString,
            hex: (words) => words.toString(),
            hashes: { sha256: (text) => CryptoJS.SHA256(text) },
        }),
    },
    // Returns cached keys instead of deriving them.
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
    // Correct only in the first calls.
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

export const ADAPTERS = {
    ...Object.fromEntries(LIBRARIES.map((library) => [library.name, async () => ({ default: library })])),
    "not installed": () => import("./absent.mjs"),
};
