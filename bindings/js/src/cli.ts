#!/usr/bin/env node
// The command `mksum` of the package: roots of files, lists checked, files verified by their kept trees.
import { check } from "./cli-check.js";
import { OpenFile, ReadError, rootsOfFile, rootsOfSlices, STDIN, stdin } from "./cli-files.js";
import { type Choice, choice, sumLine } from "./lists.js";
import { Closed, Output } from "./cli-output.js";
import { verify, WrongRoot } from "./cli-verify.js";
import { builtin } from "./builtin.js";
import { load } from "./engine.js";
import { MksumError } from "./errors.js";
import { Root } from "./root.js";
import { formats } from "./spec.js";

const HELP = `Print or check the Merkle roots of files, in all published tree formats. The mksum of your system
does the same on all cores, and more.

Usage: mksum [OPTION]... [FILE]...
       mksum -c [OPTION]... [SUMFILE]...
       mksum verify [--outboard FILE] [--root ROOT] FILE...
       mksum formats

Commands:
  verify   Report the damaged ranges of a file by its kept tree, FILE.mkt
  formats  List all formats

Options:
  -f, --format <FORMAT>   Format: NAME[:HASH][:LEAF][:salt=HEX]; may be given several times
                          [default: rfc6962:sha256:64KiB]
  -a, --algorithm <HASH>  Hash of all formats
  -l, --leaf <SIZE>       Leaf of all formats, as 64KiB
      --salt <HEX>        Salt of all formats
      --untagged          Print ROOT  PATH, as sha256sum does
      --tag               Print FORMAT (PATH) = ROOT [default]
  -c, --check             Compare files with the roots in SUMFILEs
  -q, --quiet             Don't print OK for files that match
      --status            Print nothing: the exit code tells the result
      --strict            Fail if a line is improperly formatted
  -w, --warn              Report improperly formatted lines
      --ignore-missing    Pass over files that are not there
      --outboard <FILE>   Kept tree that verify reads [default: FILE.mkt]
      --root <ROOT>       Root that verify trusts [default: the outboard's own]
  -h, --help              Print help
  -V, --version           Print the version

Examples:
  npx mksum big.iso                    # rfc6962:sha256:64KiB (big.iso) = ...
  npx mksum -f sha256 big.iso > SUMS   # SHA256 (big.iso) = ...
  npx mksum -c SUMS                    # big.iso: OK
  npx mksum verify big.iso             # by big.iso.mkt, which 'mksum keep' or keepOf() wrote

Exit status:
  0    every file was hashed, and matches where it was checked
  1    a file could not be read, or does not match
  2    wrong usage
`;

/** Wrong usage, with the reason. */
class Usage extends Error {}

/** The options with a value, by their short name or their own. */
const VALUES: Record<string, string> = { f: "format", a: "algorithm", l: "leaf" };
/** The options without one. */
const FLAGS: Record<string, string> = { c: "check", q: "quiet", w: "warn", h: "help", V: "version" };
const WITH_VALUE = ["format", "algorithm", "leaf", "salt", "outboard", "root"];
const WITHOUT = ["untagged", "tag", "check", "quiet", "status", "strict", "warn", "ignore-missing", "help", "version"];

/** The options of each job; all have help. */
const JOBS = {
    print: ["format", "algorithm", "leaf", "salt", "untagged", "tag"],
    check: ["format", "algorithm", "leaf", "salt", "check", "quiet", "status", "strict", "warn", "ignore-missing"],
    verify: ["outboard", "root", "quiet"],
    formats: [],
} as const satisfies Record<string, readonly string[]>;
type Job = keyof typeof JOBS;

/** The command line. */
interface Args {
    readonly job: Job;
    readonly values: ReadonlyMap<string, readonly string[]>;
    readonly files: readonly string[];
}

/** Reads the command line. @throws {Usage} If it is wrong. */
function parse(words: readonly string[]): Args {
    const values = new Map<string, string[]>();
    const files: string[] = [];
    let [command, ended]: [Job | undefined, boolean] = [undefined, false];
    const add = (name: string, value: string): void => {
        const all = values.get(name) ?? [];
        if (all.length > 0 && WITH_VALUE.includes(name) && name !== "format") throw new Usage(`--${name} was given twice`);
        values.set(name, [...all, value]);
    };
    for (let at = 0; at < words.length; at++) {
        const word = words[at]!;
        const value = (name: string): string => {
            const next = words[++at];
            if (next === undefined) throw new Usage(`a value is required for '${name}'`);
            return next;
        };
        if (ended || word === STDIN || !word.startsWith("-")) {
            if (!ended && files.length === 0 && command === undefined && (word === "verify" || word === "formats")) command = word;
            else files.push(word);
        } else if (word === "--") {
            ended = true;
        } else if (word.startsWith("--")) {
            const [name, own] = word.slice(2).split(/=(.*)/s) as [string, string | undefined];
            if (WITH_VALUE.includes(name)) add(name, own ?? value(word));
            else if (!WITHOUT.includes(name)) throw new Usage(`there is no option '--${name}'`);
            else if (own !== undefined) throw new Usage(`--${name} has no value`);
            else add(name, "");
        } else {
            for (let letter = 1; letter < word.length; letter++) {
                const short = word[letter]!;
                if (short in FLAGS) {
                    add(FLAGS[short]!, "");
                } else if (short in VALUES) {
                    const rest = word.slice(letter + 1).replace(/^=/, "");
                    add(VALUES[short]!, rest === "" ? value(`-${short}`) : rest);
                    break;
                } else {
                    throw new Usage(`there is no option '-${short}'`);
                }
            }
        }
    }
    const job = command ?? (values.has("check") ? "check" : "print");
    for (const name of values.keys()) {
        const allowed: readonly string[] = JOBS[job];
        if (name !== "help" && name !== "version" && !allowed.includes(name)) {
            throw new Usage(`--${name} is no option of ${job === "print" ? "printing" : job === "check" ? "--check" : job}`);
        }
    }
    if (job === "verify" && files.length === 0 && !values.has("help")) throw new Usage("verify: a file is required");
    if (job === "verify" && files.length > 1 && (values.has("outboard") || values.has("root"))) {
        throw new Usage("--outboard and --root can be used with one file only");
    }
    return { job, values, files };
}

/** Returns the chosen formats. @throws {Usage} If one is wrong. */
function choices(values: Args["values"]): Choice[] {
    const one = (name: string): string => values.get(name)?.[0] ?? "";
    return (values.get("format") ?? [""]).map((format) => {
        try {
            if (values.has("format")) choice(format);
        } catch (error) {
            throw new Usage(`invalid value '${format}' for '--format <FORMAT>': ${(error as Error).message}`);
        }
        let found: Choice;
        try {
            found = choice(format, one("algorithm"), one("leaf"), one("salt"));
        } catch (error) {
            throw new Usage((error as Error).message);
        }
        if (found.isDirectory) throw new Usage("the package hashes files only: the mksum of your system hashes directories");
        return found;
    });
}

/** Prints the roots of files. */
async function print(files: readonly string[], all: readonly Choice[], isTagged: boolean, output: Output): Promise<void> {
    const specs = all.map(({ spec }) => spec);
    for (const path of files.length > 0 ? files : [STDIN]) {
        let file: OpenFile | undefined;
        try {
            if (path !== STDIN) file = await OpenFile.open(path, true);
            const roots = file ? await rootsOfFile(file, specs) : await rootsOfSlices(specs, undefined, stdin());
            const name = Buffer.from(process.platform === "win32" && !path.startsWith("\\\\") ? path.replaceAll("\\", "/") : path);
            roots.forEach((root, at) => {
                if (root instanceof Root) output.print(sumLine(all[at]!.tag, root.text, name, isTagged));
                else output.error(path, `${specs[at]}: ${root.message}`);
            });
        } catch (error) {
            if (!(error instanceof ReadError)) throw error;
            output.error(path, error);
        } finally {
            await file?.close();
        }
    }
}

/** Runs the command, and returns its exit code. */
async function run(words: readonly string[]): Promise<number> {
    const { job, values, files } = parse(words);
    const output = new Output(values.has("status"));
    if (values.has("help")) {
        output.print(Buffer.from(HELP));
    } else if (values.has("version")) {
        const { readFile } = (await builtin("node:fs/promises")) as typeof import("node:fs/promises");
        const own = JSON.parse(await readFile(new URL("../../package.json", import.meta.url), "utf8")) as { version: string };
        output.print(Buffer.from(`mksum ${own.version} (npm)\n`));
    } else {
        await load();
        let good = true;
        if (job === "formats") {
            for (const { name, about } of formats()) output.print(Buffer.from(`${name.padEnd(14)} ${about}\n`));
        } else if (job === "verify") {
            const one = (name: string): string | undefined => values.get(name)?.[0];
            good = await verify(files, { outboard: one("outboard"), root: one("root"), quiet: values.has("quiet") }, output);
        } else if (job === "check") {
            choices(values);
            const flag = (name: string): boolean => values.has(name);
            good = await check(files, {
                given: ["format", "algorithm", "leaf", "salt"].map((name) => values.get(name)?.[0] ?? ""), quiet: flag("quiet"), status: flag("status"), strict: flag("strict"), warn: flag("warn"),
                ignoreMissing: flag("ignore-missing"),
            }, output);
        } else {
            await print(files, choices(values), !values.has("untagged") || values.has("tag"), output);
        }
        output.flush();
        return good && !output.failed ? 0 : 1;
    }
    output.flush();
    return 0;
}

try {
    process.exitCode = await run(process.argv.slice(2));
} catch (error) {
    if (error instanceof Closed) {
        // As shells number it: 128 + SIGPIPE.
        process.exit(141);
    }
    const isUsage = error instanceof Usage || error instanceof WrongRoot;
    process.stderr.write(`mksum: ${error instanceof MksumError || isUsage ? error.message : String(error)}\n`);
    if (isUsage) process.stderr.write(`Try 'mksum ${process.argv[2] === "verify" ? "verify " : ""}--help' for examples.\n`);
    process.exitCode = isUsage ? 2 : 1;
}
