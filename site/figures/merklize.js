// All nodes of a tree over existing digests, on the CPU and an OpenCL device.
import { byCase, lines } from "./results.js";

/** PoCL gives the CPU a name of its own. */
const device = (subject) => (/^(?:pthread|cpu)-/.test(subject) ? "PoCL on the same CPU" : subject);

function figures([result]) {
    return [...byCase(result.rows)].map(([hash, rows]) => ({
        kind: "lines",
        choices: { Hash: hash },
        title: `All nodes over random leaves of 32 bytes, ${hash}`,
        x: { label: "leaves, as a power of two", ticks: [20, 21, 22, 23, 24, 25] },
        y: { label: "million nodes a second" },
        series: lines(rows, (row) => device(row.subject), (row) => ({ x: Math.log2(row.x), value: row.nodes_per_second / 1e6 })),
        results: [result],
    }));
}

export const merklize = {
    name: "merklize",
    title: "Node trees",
    about: "All nodes over existing digests in memory, on the CPU and on an OpenCL device.",
    command: "gpu/run.py --write",
    document: "lab/index.html#node-trees",
    figures,
};
