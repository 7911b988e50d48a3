// Writes results in the format of lab/README.md, one file for each engine.
import { readFileSync, writeFileSync, mkdirSync } from "node:fs";
import path from "node:path";

const HASHES = ["md5", "sha1", "sha256", "sha512", "ripemd160", "blake2s", "blake2b", "blake3"];
const CASES = {
    ...Object.fromEntries(HASHES.map((hash) => [hash, { x: "bytes", unit: "ms" }])),
    convert: { x: "bytes", unit: "ms" },
    "pbkdf2-sha1": { x: "iterations", unit: "ms" },
    "pbkdf2-sha256": { x: "iterations", unit: "ms" },
    keys: { x: "keys", unit: "ms" },
    trees: { x: "bytes", unit: "ms" },
    pool: { x: "bytes", unit: "ms" },
    streams: { x: "files", unit: "ms" },
    memory: { x: "files", unit: "bytes" },
};

// Four digits: no measurement here is more precise.
const short = (number) => (Number.isInteger(number) ? number : Number(number.toPrecision(4)));
const VENDORS = { GenuineIntel: "intel", AuthenticAMD: "amd" };

/** Returns the machine as `machine` of lab/results.py does. */
function machine(os) {
    const info = readFileSync("/proc/cpuinfo", "utf8");
    const field = (name) => info.match(new RegExp(`^${name}\\s*: (.*)$`, "m"))?.[1] ?? "";
    const flags = field("flags").split(" ");
    return {
        cpu: os.cpus()[0].model,
        vendor: VENDORS[field("vendor_id")] ?? (field("vendor_id").toLowerCase() || os.arch()),
        family_model: [Number(field("cpu family")), Number(field("model"))],
        cores: os.cpus().length,
        has: ["avx2", "avx512f", "sha_ni"].filter((flag) => flags.includes(flag)),
        system: `${os.type()}-${os.release()}`,
        load_1min: Number(os.loadavg()[0].toFixed(2)),
    };
}

export function write(
    folder,
    { rows, refused, stopped, absent, subjects, clock, engine, plan, quick, commit, versions, os },
) {
    const where = machine(os);
    const date = new Date().toISOString().slice(0, 10);
    const { seed, trialMs, limitMs, rounds, budgetMs } = plan;
    const head = {
        suite: "js",
        date,
        machine: where,
        engine,
        commit,
        versions,
        clock,
        settings: { quick, seed, trialMs, limitMs, rounds, budgetMs },
        cases: CASES,
        subjects,
        absent,
        refused,
        stopped,
        columns: ["case", "subject", "x", "median", "least", "most", "trials"],
    };
    const lines = Object.entries(head).map(([name, value]) => ` ${JSON.stringify(name)}: ${JSON.stringify(value)},`);
    const series = new Map();
    for (const [name, subject, ...cells] of rows) {
        const key = JSON.stringify([name, subject]);
        if (!series.has(key)) series.set(key, [name, subject]);
        series.get(key).push(cells.map((cell) => (typeof cell === "number" ? short(cell) : cell)));
    }
    const encoded = [...series.values()].map((one) => `  ${JSON.stringify(one)}`).join(",\n");
    mkdirSync(folder, { recursive: true });
    const chip = [where.vendor, ...where.family_model].join("-");
    const file = path.join(folder, `js-${chip}-${where.cores}-cores-${engine.name}.json`);
    writeFileSync(file, `{\n${lines.join("\n")}\n "series": [\n${encoded}\n ]\n}\n`);
    return file;
}
