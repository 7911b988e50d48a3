// The seven languages by the length of a leaf, and their hashing rates.
import { byCase } from "./results.js";

const INPUTS = { random: "256 MiB of random bytes", zeros: "4 MiB of zeros" };

function figures([result]) {
    return [...byCase(result.rows)].toSorted(([a], [b]) => order(a) - order(b)).map(([name, rows]) => {
        if (name === "hashes") {
            const named = rows.map((row) => ({ ...row, subject: row.subject.replaceAll("`", "") }));
            return {
                kind: "bars",
                choices: { Input: "short strings" },
                title: "Hashing one short string after the other",
                unit: "million hashes a second",
                rows: named.toSorted((a, b) => b.median - a.median),
                results: [result],
            };
        }
        const series = new Map();
        for (const { subject, x, bytes, median } of rows) {
            const plain = subject.replaceAll("`", "");
            if (!series.has(plain)) series.set(plain, []);
            series.get(plain).push({ x, value: bytes / median / 1e6 });
        }
        return {
            kind: "lines",
            choices: { Input: INPUTS[name] },
            title: `Merkle root in seven languages, ${INPUTS[name]}`,
            note: "A name with a library is the usual way of an ecosystem: a loop that hashes one leaf or node at a time.",
            x: { label: "bytes in a leaf", log: true, ticks: [16, 64, 256, 1024, 4096, 1 << 23] },
            y: { label: "MB/s", log: true },
            series: [...series].map(([subject, points]) => ({ subject, points })),
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
