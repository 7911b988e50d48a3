// Writes results in the format of lab/README.md, one file for an engine.
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

const slug = (text) =>
    text
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, "-")
        .replace(/^-|-$/g, "");
// Four digits: no measurement here is better.
const short = (number) => (Number.isInteger(number) ? number : Number(number.toPrecision(4)));

function machine(os) {
    const flags =
        readFileSync("/proc/cpuinfo", "utf8")
            .match(/^flags\s*:(.*)$/m)?.[1]
            .split(" ") ?? [];
    return {
        cpu: os.cpus()[0].model,
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
    const sorted = rows.map((row) => row.map((cell) => (typeof cell === "number" ? short(cell) : cell)));
    const text = `{\n${lines.join("\n")}\n "rows": [\n${sorted.map((row) => `  ${JSON.stringify(row)}`).join(",\n")}\n ]\n}\n`;
    mkdirSync(folder, { recursive: true });
    const file = path.join(folder, `js-${slug(`${where.cpu} ${where.cores} cores`)}-${engine.name}-${date}.json`);
    writeFileSync(file, text);
    return file;
}
