// Merkle roots: mksum in one call, and a handwritten loop for other libraries, which do not support trees.
import { pattern } from "../bytes.mjs";
import { plainRoot } from "../plain.mjs";
import references from "../references.json";
import { wrongly } from "./hashes.mjs";

// The fastest libraries, and two in JavaScript.
const LOOPS = [
    "hash-wasm",
    "libsodium-wrappers-sumo",
    "@chainsafe/as-sha256",
    "@noble/hashes",
    "@stablelib",
    "node:crypto",
    "mksum",
];

export function trees(libraries, sizes) {
    const series = (subject, library, call) => ({
        case: "trees",
        subject,
        points: sizes.map((x) => ({
            x,
            start: () => ({ call, argument: pattern(x), wrong: wrongly(library, references.trees[x]) }),
        })),
    });
    return libraries.flatMap(({ name, library }) => [
        ...(library.root ? [series(name, library, library.root)] : []),
        ...(LOOPS.includes(name)
            ? [series(`${name}, a loop`, library, (bytes) => plainRoot(library.hashes.sha256, bytes))]
            : []),
    ]);
}
