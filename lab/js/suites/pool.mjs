// One large file as a tree on several workers, on one worker, without workers, and in WebCrypto, which needs it in memory.
import { pattern } from "../bytes.mjs";
import references from "../references.json";
import { wrongly } from "./hashes.mjs";

const SPEC = "plain:sha256:64KiB";
const PIECE = pattern(1 << 22);

const files = new Map();

/** Returns a file of `size` bytes, a multiple of 4 MiB, created once. */
function file(size) {
    if (!files.has(size)) files.set(size, new Blob(Array.from({ length: size / PIECE.length }, () => PIECE)));
    return files.get(size);
}

/** The subjects, and the library of each. */
const SUBJECTS = {
    "mksum, no worker": "mksum",
    "mksum, 1 worker": "mksum",
    "mksum, 2 workers": "mksum",
    "WebCrypto, in memory": "WebCrypto",
};

/** Measures pools. `load` imports the published package, because workers are separate modules. */
export function pools(libraries, sizes, load) {
    const calls = {
        "mksum, no worker": async () => (await load()).rootOf,
        "mksum, 1 worker": () => rootOf(1),
        "mksum, 2 workers": () => rootOf(2),
    };
    async function rootOf(workers) {
        const pool = await (await load()).Pool.start(workers);
        return (spec, blob) => pool.rootOf(spec, blob);
    }
    return Object.entries(SUBJECTS)
        .filter(([, name]) => libraries.some((library) => library.name === name))
        .map(([subject]) => {
            let started;
            return {
                case: "pool",
                subject,
                points: sizes.map((x) => ({
                    x,
                    start: async () => {
                        const { root, whole } = references.pool[x];
                        // SHA-256 of the whole file is another digest than its root.
                        if (!calls[subject])
                            return {
                                call: async (blob) => crypto.subtle.digest("SHA-256", await blob.arrayBuffer()),
                                wrong: wrongly({}, whole),
                                argument: file(x),
                            };
                        const call = await (started ??= calls[subject]());
                        return {
                            call: async (blob) => (await call(SPEC, blob)).digest,
                            wrong: wrongly({}, root),
                            argument: file(x),
                        };
                    },
                })),
            };
        });
}
