// The results of all benchmarks: lab/results, in the format of lab/README.md.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

const read = (...parts) => JSON.parse(readFileSync(path.join(...parts), "utf8"));

/** Returns the heads of all files of results, with `file`, `machineTitle` and `rows` as objects. */
export function results(repository) {
    const folder = path.join(repository, "lab/results");
    const chips = read(repository, "lab/chips.json");
    const files = readdirSync(folder).filter((name) => name.endsWith(".json")).toSorted();
    return files.map((file) => {
        const { series, ...head } = read(folder, file);
        const rows = series.flatMap(([name, subject, ...cells]) =>
            cells.map((own) => Object.fromEntries(head.columns.map((column, index) => [column, [name, subject, ...own][index]]))),
        );
        return { ...head, file, machineTitle: machineTitle(head.machine, chips), rows };
    });
}

/** The name of a machine, as lab/results.py gives it. */
function machineTitle({ vendor, family_model: model, cores }, chips) {
    const name = chips[[vendor, ...model].join("-")] ?? `${vendor[0].toUpperCase()}${vendor.slice(1)} ${model.join("-")}`;
    return `${name}, ${cores} cores`;
}

/** Groups rows by case, in the order of the file. */
export const byCase = (rows) => grouped(rows, (row) => row.case);

/** Returns a line for each name that `named` gives to rows: the points that `point` makes of them. */
export function lines(rows, named, point) {
    return [...grouped(rows, named)].map(([subject, own]) => ({ subject, points: own.map((row) => point(row)) }));
}

/** A map from each key that `key` gives to the items that have it. Both keep their order. */
export function grouped(items, key) {
    const found = new Map();
    for (const item of items) {
        const name = key(item);
        if (!found.has(name)) found.set(name, []);
        found.get(name).push(item);
    }
    return found;
}

/** The unit of all figures of speed. */
export const SPEED = "MB/s";

/** Returns a row of gigabytes a second in megabytes a second. */
export const inMegabytes = (row) => ({ ...row, median: 1000 * row.median, least: 1000 * row.least, most: 1000 * row.most });
