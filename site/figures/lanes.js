// The kernels in memory on one core: work by hash.
import { byCase, grouped, inMegabytes, lines, SPEED } from "./results.js";

const UNITS = { "M/s": "million a second", "GB/s": SPEED, ms: "ms, less is better" };
const WORK = {
    "messages of 8 KiB": "Many messages of 8 KiB",
    "pairs of 64 bytes": "Pairs of digests, 64 bytes",
    "nodes of 65 bytes": "Nodes with a prefix, 65 bytes",
    "leaves of 64 KiB, prefix": "Leaves of 64 KiB with a prefix",
    "leaves skewed, prefix": "Leaves a cache line apart, with a prefix",
    "streams of 1 MiB by 64 KiB": "Streams of 1 MiB, slice by slice",
    "one stream of 32 MiB": "One stream of 32 MiB",
    "root of 2^6 leaves of 64 bytes": "Root of 2^6 leaves of 64 bytes",
    "root of 2^20 leaves of 64 bytes": "Root of 2^20 leaves of 64 bytes",
};
const FEW = "few messages";

/** Returns bars for each work and hash, and lines for few messages of each hash. */
function figures([result]) {
    const bars = [...byCase(result.rows)].flatMap(([name, rows]) => {
        const [hash, ...words] = name.split(" ");
        const work = words.join(" ");
        if (!WORK[work]) return [];
        return {
            kind: "bars",
            choices: { Work: work, Hash: hash.toLowerCase() },
            title: `${WORK[work]}, ${hash.toLowerCase()}, one core`,
            unit: UNITS[result.cases[name].unit],
            rows: (result.cases[name].unit === "GB/s" ? rows.map(inMegabytes) : rows).toSorted((a, b) => (result.cases[name].unit === "ms" ? a.median - b.median : b.median - a.median)),
            results: [result],
        };
    });
    return [...bars, ...few(result)];
}

/** A line for mksum and one for the hash's own crate, for each length of the messages. */
function few(result) {
    const measured = result.rows.flatMap((row) => {
        const [, hash, messages] = row.case.match(/^(\S+) few: (\d+)$/) ?? [];
        return hash ? { hash, messages, name: `${row.subject}, ${row.x} bytes`, median: row.median } : [];
    });
    return [...grouped(measured, ({ hash }) => hash)].map(([hash, rows]) => ({
        kind: "lines",
        choices: { Work: FEW, Hash: hash },
        title: `Few messages at once, ${hash}, one core`,
        note: "Lines are mksum and the crate of the hash, which takes one message after the other; the bytes are the length of a message.",
        x: { label: "messages at once", ticks: [1, 4, 8, 11, 15, 20, 31] },
        y: { label: "million messages a second", log: true },
        // A case tells the nanoseconds for one message of so many.
        series: lines(rows, ({ name }) => name, ({ messages, median }) => ({ x: Number(messages), value: 1e3 / median })),
        results: [result],
    }));
}

export const lanes = {
    name: "lanes",
    title: "Lanes",
    about: "Each kernel in memory on one core, beside crates of one hash each and multi-buffer libraries.",
    command: "lanes/run.sh",
    document: "crates/lanes/index.html#measured",
    figures,
};
