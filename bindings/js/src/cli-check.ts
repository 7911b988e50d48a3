// `mksum -c`: files compared with the roots in lists, in the words of the tool.
import { escaped, isManifest, type Entry, Lists, shown } from "./lists.js";
import { isThere, OpenFile, pathOf, ReadError, rootsOfFile, rootsOfSlices, STDIN, stdin, whole } from "./cli-files.js";
import type { Output } from "./cli-output.js";
import { MksumError } from "./errors.js";
import { Root } from "./root.js";

/** The options of a check. */
export interface Check {
    /** The format, hash, leaf and salt of lines that name none, or four empty texts. */
    readonly given: readonly string[];
    readonly quiet: boolean;
    readonly status: boolean;
    readonly strict: boolean;
    readonly warn: boolean;
    readonly ignoreMissing: boolean;
}

/** What became of a file that a list names. */
type Status = "OK" | "FAILED" | "FAILED open or read";

/** The failures that are repeated by name at the end. */
const MOST = 20;

/** Compares the files of lists. Returns whether all is good. */
export async function check(lists: readonly string[], options: Check, output: Output): Promise<boolean> {
    const failures = { checked: 0, failed: 0, first: [] as string[] };
    let good = true;
    for (const list of lists.length > 0 ? lists : [STDIN]) {
        if (!(await new Checked(list, options, output, failures).run())) good = false;
    }
    if (failures.failed > 0 && failures.checked > 1) {
        output.note(`${failures.failed} of ${failures.checked} files failed:`);
        for (const line of failures.first) output.note(`  ${line}`);
        const more = failures.failed - failures.first.length;
        if (more > 0) output.note(`  and ${more} more`);
    }
    return good;
}

/** The check of one list. */
class Checked {
    private readonly name: string;
    private readonly count = { listed: 0, malformed: 0, format: 0, path: 0, crc: 0, matched: 0, differing: 0, unreadable: 0, beside: 0 };
    /** The formats that were taken where several fit, by the hex digits of their sums. */
    private readonly taken = new Map<number, { readonly spec: string; readonly others: string; proven: boolean; doubtful: boolean }>();

    constructor(
        private readonly list: string,
        private readonly options: Check,
        private readonly output: Output,
        private readonly failures: { checked: number; failed: number; readonly first: string[] },
    ) {
        this.name = list === STDIN ? "'standard input'" : shown(list);
    }

    async run(): Promise<boolean> {
        let holds = "";
        let lines: Lists;
        let bag: string;
        try {
            const bytes = await whole(this.list, true);
            bag = this.list === STDIN ? "" : await bagVersion(this.list);
            lines = Lists.open(bytes, bag, this.options.given, this.list === STDIN ? "" : this.list);
        } catch (error) {
            this.output.error(this.list, error);
            return false;
        }
        try {
            for (;;) {
                let next;
                try {
                    next = lines.next();
                } catch (error) {
                    this.output.error(this.list, error);
                    return false;
                }
                if (next.kind === "end") {
                    holds = next.holds;
                    break;
                }
                if (next.kind === "malformed") {
                    if (next.word) this.count[next.word]++;
                    this.malformed(next.line, next.why);
                } else if (this.list === STDIN && Buffer.from(next.path).toString() === STDIN) {
                    this.malformed(next.line, "the standard input cannot be both the sum file and a file that it lists");
                } else {
                    await this.entry(lines, next, bag !== "");
                }
            }
        } finally {
            lines.end();
        }
        this.report();
        const hint = this.options.quiet || this.options.status ? undefined : await this.signature(holds);
        if (hint) this.output.note(`${this.name}: ${hint}`);
        const { listed, matched, malformed, differing, unreadable } = this.count;
        const verified = matched > 0 || !this.options.ignoreMissing;
        return listed > 0 && verified && (malformed === 0 || !this.options.strict) && differing === 0 && unreadable === 0;
    }

    private malformed(line: number, why: string): void {
        this.count.malformed++;
        if (this.options.warn) this.output.note(`${this.name}: ${line}: improperly formatted checksum line: ${why}`);
    }

    private async entry(lines: Lists, entry: Entry, isBag: boolean): Promise<void> {
        this.count.listed++;
        const taken = entry.others === "" ? undefined : entry.digits;
        if (taken !== undefined && !this.taken.has(taken)) {
            this.taken.set(taken, { spec: entry.choice.spec, others: entry.others, proven: false, doubtful: false });
        }
        const path = await this.placed(entry);
        const found = await this.compared(lines, entry, path, isBag);
        if (!found) return;
        const [status, words] = found;
        this.failures.checked++;
        if (status !== "OK") {
            this.failures.failed++;
            if (this.failures.first.length < MOST) this.failures.first.push(`${shown(path)} (${status})`);
        }
        this.count[status === "OK" ? "matched" : status === "FAILED" ? "differing" : "unreadable"]++;
        const doubt = taken === undefined ? undefined : this.taken.get(taken);
        if (doubt) {
            doubt.proven ||= status === "OK";
            doubt.doubtful ||= status === "FAILED";
        }
        if (!(status === "OK" && this.options.quiet)) this.output.verdict(escaped(path), words);
    }

    /** Returns the path of an entry: beside the list, if a file is there and none where the entry says. */
    private async placed({ path }: Entry): Promise<Uint8Array> {
        const cut = Math.max(this.list.lastIndexOf("/"), process.platform === "win32" ? this.list.lastIndexOf("\\") : -1);
        const isAbsolute = path[0] === 47 || (process.platform === "win32" && /^(\\|[a-zA-Z]:)/.test(String(pathOf(path))));
        if (this.list === STDIN || cut < 0 || isAbsolute || (await isThere(path))) return path;
        const beside = Buffer.concat([Buffer.from(this.list.slice(0, cut + 1)), path]);
        if (!(await isThere(beside))) return path;
        this.count.beside++;
        return beside;
    }

    /** Returns what became of a file, and the words of its line; `undefined` if it is passed over. */
    private async compared(lines: Lists, entry: Entry, path: Uint8Array, isBag: boolean): Promise<[Status, string] | undefined> {
        const unread: [Status, string] = ["FAILED open or read", "FAILED open or read"];
        const refuse = (why: string): [Status, string] => {
            this.output.error(path, new ReadError(why));
            return unread;
        };
        const text = Buffer.from(path).toString();
        if (isBag && (text.startsWith("/") || text.slice(this.list.lastIndexOf("/") + 1).split("/").includes(".."))) {
            return refuse("leads out of the bag: not read");
        }
        if (entry.oneSpace && /^[U^]/.test(text) && !(await isThere(path)) && (await isThere(path.subarray(1)))) {
            const mode = text.startsWith("U") ? "universal newlines (U): of the text with other line ends" : "bits (^): of the digits in the file as bits";
            return refuse(`a sum in shasum's mode ${mode}: use 'shasum -c'`);
        }
        if (entry.choice.isDirectory) {
            if (this.options.ignoreMissing && !(await isThere(path))) return undefined;
            return refuse("the root of a directory, which the package does not compute: use the mksum of your system");
        }
        let file: OpenFile | undefined;
        try {
            const isStdin = text === STDIN;
            if (!isStdin) file = await OpenFile.open(path, false);
            const len = file ? Math.min(entry.range?.end ?? Infinity, file.len) - (entry.range?.start ?? 0) : 0;
            const wanted = lines.candidates(entry, Math.max(len, 0));
            const specs = wanted.map(({ spec }) => spec);
            const roots = file ? await rootsOfFile(file, specs, entry.range) : await rootsOfSlices(specs, undefined, stdin());
            const at = roots.findIndex((root, own) => root instanceof Root && root.text === wanted[own]!.root);
            if (at >= 0) return ["OK", wanted.length > 1 ? `OK (part size ${partSize(specs[at]!)})` : "OK"];
            const error = roots.find((root) => !(root instanceof Root));
            if (error) throw error;
            return ["FAILED", "FAILED"];
        } catch (error) {
            if (error instanceof ReadError && error.code === "ENOENT" && this.options.ignoreMissing) return undefined;
            if (error instanceof MksumError && error.code === "broken") throw error;
            this.output.error(path, error);
            return unread;
        } finally {
            await file?.close();
        }
    }

    /** Reports the counts, in the words of coreutils, which scripts may know. */
    private report(): void {
        const { count, options, output, name } = this;
        if (count.listed === 0) output.complain(`${name}: no properly formatted checksum lines found`);
        if (options.status) return;
        if (count.format > 0) {
            output.note(`${name}: some lines do not name their format: give it with -f, for example -f sha256 for sums of sha256sum, or -f blake3 for b3sum`);
        }
        if (count.crc > 0) {
            output.note(`${name}: some lines are those of POSIX cksum, whose CRC mksum does not have: compare them with the output of cksum, or list the files with cksum -a sha256`);
        }
        if (count.path > 0 && count.listed === 0 && !options.warn) output.note(`${name}: a sum without the name of its file`);
        if (count.listed === 0) return;
        const doubtful = [...this.taken].filter(([, taken]) => taken.doubtful && !taken.proven).toSorted(([one], [other]) => one - other);
        if (doubtful.length > 0) {
            const words = doubtful.map(([digits, { spec, others }]) => `${digits} hex digits were taken as ${spec} (other possibilities: ${others})`);
            output.note(`${name}: its lines do not name their hash: ${words.join("; ")}; choose the hash with -f if this is wrong`);
        }
        if (count.beside > 0) {
            output.note(`${name}: ${count.beside === 1 ? "1 file was" : `${count.beside} files were`} found beside it, and not in the current directory`);
        }
        const warn = (number: number, one: string, more: string): void => {
            if (number > 0) output.note(`WARNING: ${number} ${number === 1 ? one : more}`);
        };
        warn(count.malformed, "line is improperly formatted", "lines are improperly formatted");
        warn(count.unreadable, "listed file could not be read", "listed files could not be read");
        warn(count.differing, "computed checksum did NOT match", "computed checksums did NOT match");
        if (options.ignoreMissing && count.matched === 0) output.note(`${name}: no file was verified`);
    }

    /** Returns that a signature was not checked, if there is one in the list or beside it. */
    private async signature(holds: string): Promise<string | undefined> {
        if (holds === "pgp") return `its PGP signature was not checked: gpg --verify ${this.name}`;
        if (holds === "signify") return "its signature was not checked: the mksum of your system does, with --key";
        if (this.list === STDIN) return undefined;
        for (const end of ["minisig", "sig", "asc", "gpg", "sign"]) {
            const beside = `${this.list}.${end}`;
            if (!(await isThere(beside))) continue;
            const begin = await whole(beside, false).then((bytes) => Buffer.from(bytes.subarray(0, 18)).toString(), () => undefined);
            if (begin === undefined) continue;
            const how = begin === "untrusted comment:" || begin === "-----BEGIN SSH SIG"
                ? `the mksum of your system does, with --sig ${shown(beside)} --key KEY` : `gpg --verify ${shown(beside)} ${this.name}`;
            return `the signature beside it was not checked: ${how}`;
        }
        return undefined;
    }
}

/** Returns the part size of a format of S3 as the tool writes it: its last part. */
function partSize(spec: string): string {
    return spec.slice(spec.lastIndexOf(":") + 1);
}

/** Returns the version of BagIt if a list is the manifest of a bag, beside whose `bagit.txt` it is (RFC 8493, 2.1.1); else an empty text. */
async function bagVersion(list: string): Promise<string> {
    if (!isManifest(list)) return "";
    try {
        const text = Buffer.from(await whole(`${list.slice(0, list.lastIndexOf("/") + 1)}bagit.txt`, false)).toString();
        return /^\uFEFF?BagIt-Version:\s*(\S+)/.exec(text)?.[1] ?? "";
    } catch (error) {
        if (error instanceof ReadError) return "";
        throw error;
    }
}
