// Writes results in the format of lab/README.md, one file for each engine.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));

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
const short = (cell) => (typeof cell !== "number" || Number.isInteger(cell) ? cell : Number(cell.toPrecision(4)));
const VENDORS = { GenuineIntel: "intel", AuthenticAMD: "amd" };

/** Returns the machine as `machine` of lab/results.py does. */
function machine() {
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

/** Returns the versions of the packages that are installed. */
export function versions() {
    const { dependencies } = JSON.parse(readFileSync(path.join(here, "package.json")));
    const found = Object.keys(dependencies).flatMap((name) => {
        const file = path.join(here, "node_modules", name, "package.json");
        return existsSync(file) ? [[name, JSON.parse(readFileSync(file)).version]] : [];
    });
    return Object.fromEntries(found);
}

const COLUMNS = ["case", "subject", "x", "median", "least", "most", "trials", "low", "high", "processes"];

/** Writes the results of an engine. `rows` have the cells of `COLUMNS`. Returns the file. */
export function write(folder, { run, engine, commit, versions, clock, settings, subjects, absent, refused, stopped, rows }) {
    const where = machine();
    const date = new Date().toISOString().slice(0, 10);
    const head = {
        suite: "js",
        date,
        machine: where,
        run,
        engine,
        commit,
        versions,
        clock,
        settings,
        cases: CASES,
        subjects,
        absent,
        refused,
        stopped,
        columns: COLUMNS,
    };
    const lines = Object.entries(head).map(([name, value]) => ` ${JSON.stringify(name)}: ${JSON.stringify(value)},`);
    const series = new Map();
    for (const [name, subject, ...cells] of rows) {
        const key = JSON.stringify([name, subject]);
        if (!series.has(key)) series.set(key, [name, subject]);
        series.get(key).push(cells);
    }
    const encoded = [...series.values()].map((one) => `  ${JSON.stringify(one, (_, cell) => short(cell))}`).join(",\n");
    mkdirSync(folder, { recursive: true });
    const chip = [where.vendor, ...where.family_model].join("-");
    const file = path.join(folder, `js-${chip}-${where.cores}-cores-${engine.name}.json`);
    writeFileSync(file, `{\n${lines.join("\n")}\n "series": [\n${encoded}\n ]\n}\n`);
    return file;
}

/** Removes the results of earlier runs from a folder: all but these files. */
export function outdated(folder, files) {
    const kept = files.map((file) => path.basename(file));
    for (const name of readdirSync(folder))
        if (/^js-.*\.json$/.test(name) && !kept.includes(name)) rmSync(path.join(folder, name));
}
