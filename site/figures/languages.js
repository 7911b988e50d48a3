// The seven languages by the length of a leaf, and their hashing rates.
import { byCase, lines } from "./results.js";

const INPUTS = { random: "256 MiB of random bytes", zeros: "4 MiB of zeros" };

function figures([result]) {
    return [...byCase(result.rows)].toSorted(([a], [b]) => order(a) - order(b)).map(([name, rows]) => {
        const named = rows.map((row) => ({ ...row, subject: row.subject.replaceAll("`", "") }));
        if (name === "hashes") {
            return {
                kind: "bars",
                choices: { Input: "short strings" },
                title: "Hashing one short string after the other",
                unit: "million hashes a second",
                rows: named.toSorted((a, b) => b.median - a.median),
                results: [result],
            };
        }
        return {
            kind: "lines",
            choices: { Input: INPUTS[name] },
            title: `Merkle root in seven languages, ${INPUTS[name]}`,
            note: "A name with a library is the usual way of an ecosystem: a loop that hashes one leaf or node at a time.",
            x: { label: "bytes in a leaf", log: true, ticks: [16, 64, 256, 1024, 4096, 1 << 23] },
            y: { label: "MB/s", log: true },
            series: lines(named, (row) => row.subject, ({ x, bytes, median }) => ({ x, value: bytes / median / 1e6 })),
            results: [result],
        };
    });
}

const order = (name) => ["random", "zeros", "hashes"].indexOf(name);

export const languages = {
    name: "languages",
    title: "Languages",
    about: "The Merkle root of a file in Go, C, Zig, Rust, D, Haskell and Perl, beside the usual way of each ecosystem.",
    command: "make -C languages table",
    document: "languages/index.html#how-fast",
    figures,
};
