// One large file as a tree on several workers, on one worker, without workers, and in WebCrypto, which needs it in memory.
import { pattern } from "../bytes.mjs";
import { plainRoot } from "../plain.mjs";
import { wrongly } from "./hashes.mjs";

const SPEC = "plain:sha256:64KiB";
const LEAF = 1 << 16;
const PIECE = pattern(1 << 22);

const files = new Map();

/** Returns a file of `size` bytes, a multiple of 4 MiB, created once. */
function file(size) {
    if (!files.has(size)) files.set(size, new Blob(Array.from({ length: size / PIECE.length }, () => PIECE)));
    return files.get(size);
}

/** Computes the file's root with another library: the file is 2^k equal pieces, which have equal subtrees. */
function root(hash, size) {
    let digest = plainRoot(hash, PIECE, LEAF);
    for (let length = PIECE.length; length < size; length *= 2) {
        const pair = new Uint8Array(64);
        pair.set(digest);
        pair.set(digest, 32);
        digest = hash(pair);
    }
    return digest;
}

/** Measures pools. `mksum` is the published package, because workers are separate modules. */
export function pools(libraries, sizes, mksum) {
    const other = libraries.find(({ name }) => name === "hash-wasm")?.library.hashes.sha256;
    if (!mksum || !other) return [];
    const series = (subject, prepare) => ({
        case: "pool",
        subject,
        last: sizes.length,
        points: sizes.map((x) => ({
            x,
            start: async () => {
                const hex = Array.from(root(other, x), (byte) => byte.toString(16).padStart(2, "0")).join("");
                return { ...(await prepare(hex)), argument: file(x) };
            },
        })),
    });
    const workers = (count) => {
        const pool = mksum.Pool.start(count);
        return async (hex) => {
            const started = await pool;
            return { call: async (blob) => (await started.rootOf(SPEC, blob)).digest, wrong: wrongly({}, hex) };
        };
    };
    return [
        series("mksum, no worker", (hex) => ({
            call: async (blob) => (await mksum.rootOf(SPEC, blob)).digest,
            wrong: wrongly({}, hex),
        })),
        series("mksum, 1 worker", workers(1)),
        series("mksum, 2 workers", workers(2)),
        // SHA-256 of the whole file is another digest. Only its length is checked here; the suite `sha256` checks the hash.
        series("WebCrypto, in memory", () => ({
            call: async (blob) => crypto.subtle.digest("SHA-256", await blob.arrayBuffer()),
            wrong: (digest) => (digest.byteLength === 32 ? undefined : `${digest.byteLength} bytes`),
        })),
    ];
}
