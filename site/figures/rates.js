// Suites whose rows are times for an amount: whole files, many files, directories.
import { byCase, inMegabytes, SPEED } from "./results.js";

/** Turns the time of a row into a rate; the lowest rate belongs to the longest time. */
function rate(row) {
    const own = {
        subject: row.subject,
        median: row.amount / row.median,
        least: row.amount / row.most,
        most: row.amount / row.least,
        trials: row.trials,
    };
    return row.amount_unit === "GB" ? inMegabytes(own) : own;
}

const UNITS = { GB: SPEED, file: "files per second", run: "runs per second" };

/** Returns the figures of a suite. `cases` gives the choices and the title of each case, or undefined to leave it out. */
const figures = (describe) => ([result]) =>
    [...byCase(result.rows)].flatMap(([name, rows]) => {
        const found = describe(name, rows);
        return found ? { kind: "bars", ...found, unit: UNITS[rows[0].amount_unit], rows: rows.map((row) => rate(row)).toSorted((a, b) => b.median - a.median), results: [result] } : [];
    });

const FILES = {
    cached: ["cached", "Hashing a file of 4 GiB in the page cache"],
    cold: ["not cached", "Hashing a file of 4 GiB that is not in the page cache"],
    pipe: ["pipe", "Hashing 4 GiB from a pipe"],
    leaf: ["leaf size", "Hashing a file of 4 GiB with leaves of different lengths"],
    small: ["small files", "Hashing 10,000 small files"],
    start: ["start-up", "Starting the program for one small file"],
};

export const files = {
    name: "files",
    title: "Whole files",
    about: "mksum beside sha256sum, OpenSSL and b3sum on whole files: cached, not cached, through a pipe, small ones, start-up.",
    command: "make lab",
    document: "lab/index.html#whole-files",
    figures: figures((name) => FILES[name] && { choices: { Input: FILES[name][0] }, title: FILES[name][1] }),
};

const MANY = {
    lognormal: ["files of about 200 KiB", "of 1,500 files of about 200 KiB"],
    equal: ["files of 64 MiB", "of 16 files of 64 MiB"],
    tiny: ["files of 4 KiB", "of 10,000 files of 4 KiB"],
    check: ["checking", "of 20,000 files of 4 KiB, checked with -c"],
};

export const many = {
    name: "many",
    title: "Many files",
    about: "Plain sums of many files, beside tools that hash one file after the other, or one in each process.",
    command: "many/run.sh",
    document: "lab/index.html#many-files",
    figures: figures((name) => {
        const [kind, hash] = name.split(" ");
        return MANY[kind] && { choices: { Input: MANY[kind][0], Hash: hash }, title: `${hash} ${MANY[kind][1]}` };
    }),
};

const DIRECTORIES = {
    small: ["first, 1,000 files", "First catalogue of 1,000 files of 1 KiB"],
    first: ["first, 20,000 files", "First catalogue of 20,000 files of 4 KiB"],
    status: ["status", "Status of 100,000 unchanged files"],
    update: ["update", "Update of 100,000 files, of which 100 changed"],
    diff: ["diff", "Difference of 100,000 files"],
};

export const directories = {
    name: "directories",
    title: "Directories",
    about: "Catalogues of directories, beside tools that hash all files, or look at all of them.",
    command: "directories/run.sh",
    document: "lab/index.html#directories",
    figures: figures((name) => DIRECTORIES[name] && { choices: { Command: DIRECTORIES[name][0] }, title: DIRECTORIES[name][1] }),
};
