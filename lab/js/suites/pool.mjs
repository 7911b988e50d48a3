// One big file on several workers, as a tree; beside one worker, none, and WebCrypto, which wants all of it in memory.
import { pattern } from "../bytes.mjs";
import { plainRoot } from "../plain.mjs";
import { wrongly } from "./hashes.mjs";

const SPEC = "plain:sha256:64KiB";
const LEAF = 1 << 16;
const PIECE = pattern(1 << 22);

const files = new Map();

/** A file of `size` bytes, a multiple of 4 MiB, made once. */
function file(size) {
    if (!files.has(size)) files.set(size, new Blob(Array.from({ length: size / PIECE.length }, () => PIECE)));
    return files.get(size);
}

/** Its root, by another library: equal pieces have equal subtrees, and there are 2^k of them. */
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

/** `mksum` is our package as it is published: workers are modules of their own. */
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
        // SHA-256 of the whole, which is another digest: its length is what is checked here, the hash itself in
        // `sha256`.
        series("WebCrypto, held whole", () => ({
            call: async (blob) => crypto.subtle.digest("SHA-256", await blob.arrayBuffer()),
            wrong: (digest) => (digest.byteLength === 32 ? undefined : `${digest.byteLength} bytes`),
        })),
    ];
}
