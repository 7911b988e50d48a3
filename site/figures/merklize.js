// All nodes of a tree over existing digests, on the CPU and an OpenCL device.

/** PoCL gives the CPU a name of its own. */
const device = (subject) => (/^(?:pthread|cpu)-/.test(subject) ? "PoCL on the same CPU" : subject);

function figures([result]) {
    const hashes = [...new Set(result.rows.map((row) => row.case))];
    return hashes.map((hash) => {
        const series = new Map();
        for (const row of result.rows) {
            if (row.case !== hash) continue;
            const name = device(row.subject);
            if (!series.has(name)) series.set(name, []);
            series.get(name).push({ x: Math.log2(row.x), value: row.nodes_per_second / 1e6 });
        }
        return {
            kind: "lines",
            choices: { Hash: hash },
            title: `All nodes over random leaves of 32 bytes, ${hash}`,
            x: { label: "leaves, as a power of two", ticks: [20, 21, 22, 23, 24, 25] },
            y: { label: "million nodes a second" },
            series: [...series].map(([subject, points]) => ({ subject, points })),
            results: [result],
        };
    });
}

export const merklize = {
    name: "merklize",
    title: "Node trees",
    about: "All nodes over existing digests in memory, on the CPU and on an OpenCL device.",
    command: "gpu/run.py MKSUM --write",
    document: "lab/index.html#node-trees",
    figures,
};
