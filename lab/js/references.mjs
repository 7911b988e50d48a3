// The expected digests of the study. `node references.mjs` writes references.json with node:crypto and b3sum;
// `node references.mjs --check` recomputes all of them, BLAKE3 with @noble/hashes.
import { execFileSync } from "node:child_process";
import { createHash, pbkdf2Sync } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { NAMES } from "./adapters/node-crypto.mjs";
import { concatenated, hexadecimal, password, pattern, SALT } from "./bytes.mjs";
import { plainRoot } from "./plain.mjs";
import { BESIDE, FILES, ITERATIONS, KEYS, KEY_ITERATIONS, SIZES, TREES } from "./points.mjs";

const HASHED = [...new Set([...SIZES, ...BESIDE])].toSorted((one, other) => one - other);
const all = pattern(HASHED.at(-1));
const file = new URL("references.json", import.meta.url);

const sizes = (digest) => Object.fromEntries(HASHED.map((size) => [size, digest(all.subarray(0, size))]));
const key = (hash, length, secret, iterations) => pbkdf2Sync(secret, SALT, iterations, length, hash).toString("hex");
const b3sum = (bytes) => execFileSync("b3sum", ["--no-names"], { input: bytes }).toString().trim();

const derived = (hash, length) =>
    Object.fromEntries(ITERATIONS.map((iterations) => [iterations, key(hash, length, password(0), iterations)]));

const sha256 = (bytes) => createHash("sha256").update(bytes).digest();

/** Returns the digests of files of equal pieces: of the whole, and the root, whose subtrees are equal too. */
function files() {
    const piece = pattern(1 << 22);
    return Object.fromEntries(
        FILES.map((size) => {
            const whole = createHash("sha256");
            for (let at = 0; at < size; at += piece.length) whole.update(piece);
            let root = plainRoot(sha256, piece, 1 << 16);
            for (let length = piece.length; length < size; length *= 2) root = sha256(concatenated([root, root]));
            return [size, { root: hexadecimal(root), whole: whole.digest("hex") }];
        }),
    );
}

function references(blake3) {
    const hashes = Object.fromEntries(
        Object.entries(NAMES).map(([hash, name]) => [
            hash,
            sizes((bytes) => createHash(name).update(bytes).digest("hex")),
        ]),
    );
    return {
        hashes: { ...hashes, blake3: sizes(blake3) },
        pbkdf2: { sha1: derived("sha1", 20), sha256: derived("sha256", 32) },
        trees: Object.fromEntries(
            TREES.map((size) => [
                size,
                hexadecimal(plainRoot(sha256, all.subarray(0, size))),
            ]),
        ),
        pool: files(),
        keys: Array.from({ length: KEYS.at(-1) }, (_, number) => key("sha256", 32, password(number), KEY_ITERATIONS)),
    };
}

if (process.argv[2] === "--check") {
    const { blake3 } = await import("@noble/hashes/blake3.js");
    const expected = JSON.stringify(references((bytes) => hexadecimal(blake3(bytes))));
    if (JSON.stringify(JSON.parse(readFileSync(file))) !== expected) {
        console.error(
            "references.json: the digests differ from those of node:crypto and @noble/hashes; write it again with `node references.mjs`",
        );
        process.exit(1);
    }
} else {
    writeFileSync(file, `${JSON.stringify(references(b3sum), null, 1)}\n`);
}
