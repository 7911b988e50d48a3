// Hashing in JavaScript: every library in each engine, and the engines side by side.
import { lines } from "./results.js";

const ENGINES = { node: "Node", chromium: "Chromium", firefox: "Firefox", "node-current": "Node", bun: "Bun", deno: "Deno" };
const ORDER = Object.keys(ENGINES);
const HASHES = ["sha256", "sha512", "sha1", "md5", "ripemd160", "blake2s", "blake2b", "blake3"];
const NATIVE = /^(?:node:crypto|WebCrypto)/;
const STREAMED = 1 << 22;
const MIB = 1 << 20;

const engine = ({ engine: { name, version }, settings }) => `${ENGINES[name]} ${version.split(".")[0]}${settings.busy ? ", busy machine" : ""}`;
/** Chromium first: most readers hash in a browser of its kind. */
const sorted = (heads) => heads.toSorted((a, b) => rank(a) - rank(b));
const rank = ({ engine: { name } }) => (name === "chromium" ? -1 : ORDER.indexOf(name));

const bytes = (label) => ({ x: { label, log: true }, y: { label: "MB/s", log: true }, rate: (x, ms) => x / ms / 1e3 });
const CASES = {
    ...Object.fromEntries(HASHES.map((hash) => [hash, { choice: hash, title: `${hash} by the length of the input`, ...bytes("bytes of input") }])),
    "pbkdf2-sha256": derived("PBKDF2 with SHA-256"),
    "pbkdf2-sha1": derived("PBKDF2 with SHA-1"),
    keys: {
        choice: "many keys",
        title: "PBKDF2 with SHA-256 of many keys, 1,000 iterations each",
        x: { label: "keys derived together", log: true, ticks: [1, 2, 4, 8, 16] },
        y: { label: "keys a second", log: true },
        rate: (x, ms) => (1e3 * x) / ms,
    },
    trees: { choice: "trees", title: "Merkle root, SHA-256, leaves of 1 KiB", ...bytes("bytes of the file") },
    pool: { choice: "workers", title: "One large file on several workers", ...bytes("bytes of the file") },
    streams: {
        choice: "many streams",
        title: "SHA-256 of files that arrive interleaved, 4 MiB together",
        x: { label: "files", log: true, ticks: [1, 4, 16, 64, 256, 1024] },
        y: { label: "MB/s", log: true },
        rate: (_, ms) => STREAMED / ms / 1e3,
    },
    convert: { choice: "conversions", title: "Conversions of bytes that libraries need", ...bytes("bytes of input") },
};

function derived(name) {
    return {
        choice: name.replace(" with ", ", "),
        title: `${name} by iterations, one key`,
        x: { label: "iterations", log: true },
        y: { label: "iterations per millisecond", log: true },
        rate: (x, ms) => x / ms,
    };
}

function figures(heads) {
    return sorted(heads).flatMap((result) =>
        Object.entries(CASES).flatMap(([name, { choice, title, x, y, rate }]) => {
            const series = curves(result, name, rate);
            if (!series.length) return [];
            return {
                kind: "lines",
                choices: { Measured: choice, Engine: engine(result) },
                title: `${title}, ${engine(result)}`,
                x,
                y,
                series,
                results: [result],
            };
        }),
    );
}

/** Returns a series of rates for each library. */
function curves(result, name, rate) {
    const rows = result.rows.filter((row) => row.case === name && row.median).toSorted((a, b) => a.x - b.x);
    return lines(rows, (row) => row.subject, ({ x, median }) => ({ x, value: rate(x, median) }));
}

export const javascript = {
    name: "javascript",
    suite: "js",
    title: "JavaScript",
    about: "26 libraries in several engines, by the length of the input: hashes, PBKDF2, many keys, many streams, trees.",
    command: "make lab-js",
    document: "lab/js/index.html",
    figures,
};

const LENGTHS = { "1 MiB": MIB, "16 bytes": 16 };

/** Bars for mksum, the best other library and the engine's own, in each engine. */
function sideBySide(heads) {
    return Object.entries(LENGTHS).flatMap(([length, x]) =>
        HASHES.map((hash) => ({
            kind: "bars",
            choices: { Hash: hash, Input: length },
            title: `${hash} of ${length}: mksum, the best other library, and the engine's own`,
            unit: "MB/s",
            rows: heads.toSorted((a, b) => ORDER.indexOf(a.engine.name) - ORDER.indexOf(b.engine.name)).flatMap((head) => best(head, hash, x)),
            results: heads,
        })),
    );
}

function best(head, hash, x) {
    const rows = head.rows.filter((row) => row.case === hash && row.x === x && row.median);
    const fastest = (wanted) => rows.filter(({ subject }) => wanted(subject)).toSorted((a, b) => a.median - b.median).slice(0, 1);
    return [
        ...fastest((subject) => subject === "mksum"),
        ...fastest((subject) => !NATIVE.test(subject) && subject !== "mksum"),
        ...fastest((subject) => NATIVE.test(subject)),
    ].map((row) => ({
        subject: `${row.subject}, ${engine(head)}`,
        median: x / row.median / 1e3,
        // The 95 % interval of the median.
        least: x / row.high / 1e3,
        most: x / row.low / 1e3,
        trials: row.trials,
    }));
}

export const engines = {
    name: "engines",
    suite: "js",
    title: "JavaScript engines",
    about: "mksum, the best other library and the engine's own hash in each engine, for long and short inputs.",
    command: "make lab-js",
    document: "lab/js/index.html#inputs-of-1-mib",
    figures: sideBySide,
};
