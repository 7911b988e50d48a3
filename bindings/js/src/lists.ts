// Lists of sums, published sums, and the lines of the command's output: `wasm/src/sums.rs`, `wasm/src/published.rs`.
import type { OwnBytes } from "./bytes.js";
import { INPUT, release, running } from "./engine.js";
import { MksumError } from "./errors.js";
import { answer, text, withBlocks } from "./memory.js";

/** The exports of the modules with the parser that no other has. */
interface Exports {
    readonly published: (len: number, inLine: number, size: number) => number;
    readonly lone_file: (len: number) => number;
    readonly choice_facts: (len: number) => number;
    readonly list: (block: number, len: number) => number;
    readonly list_next: (list: number) => number;
    readonly list_candidates: (list: number, len: number) => number;
    readonly list_end: (list: number) => void;
    readonly root_given: (len: number) => number;
    readonly sum_line: (len: number, tagged: number) => number;
    readonly name_escaped: (len: number) => number;
    readonly name_shown: (len: number) => number;
    readonly is_manifest: (len: number) => number;
    readonly picture_unit: (spec: number, len: number) => number;
    readonly tree_svg: (outboard: number, damaged: number, len: number) => number;
}

const encoder = /* @__PURE__ */ new TextEncoder();

/** Calls a function of the module that may fail. */
function ask(act: (exports: Exports) => number): OwnBytes {
    return answer(running(), (exports) => act(exports as unknown as Exports));
}

/** Calls a function with the fields of the input, of which each but the last ends in a newline. */
export function askOf(fields: readonly (string | Uint8Array)[], act: (exports: Exports, len: number) => number): OwnBytes {
    const parts = fields.map((field) => (typeof field === "string" ? encoder.encode(field) : field));
    const len = parts.reduce((sum, part) => sum + part.length + 1, -1);
    if (len >= INPUT) throw new MksumError("length", `a text of ${len} bytes is too long`);
    const { input } = running();
    let at = 0;
    for (const part of parts) {
        input.set(part, at);
        at += part.length;
        // Behind the last one it is not read.
        input[at++] = 10;
    }
    return ask((exports) => act(exports, len));
}

/** A published sum, and the formats that it can be of. */
export interface Published {
    /** The format that its text names; `undefined` if it names none, or several. */
    readonly format: string | undefined;
    /** Its text in the first of the usual formats. */
    readonly root: string;
    /** The number of its parts, as S3 writes it behind a root. */
    readonly parts: number | undefined;
    /** The usual formats and the others, and the root as each prints it. */
    readonly usual: readonly { readonly spec: string; readonly root: string }[];
    readonly unusual: readonly { readonly spec: string; readonly root: string }[];
}

/**
 * Returns the formats that a published sum can be of: hex, base64, an ETag, perhaps behind a name. `size` is the length of its file,
 * which decides on the sizes of parts.
 *
 * @param inLine Whether it may stand in the line of a list.
 * @throws {MksumError} `argument` if it is none.
 */
export function published(sum: string, size = 0, inLine = false): Published {
    const found = text(askOf([sum], (exports, len) => exports.published(len, Number(inLine), size)));
    const [format, parts, root, ...rows] = found.split("\n");
    const of = (word: string) => rows.map((row) => row.split("\t")).filter(([own]) => own === word).map(([, spec, root]) => ({ spec: spec!, root: root! }));
    return { format: format || undefined, root: root!, parts: parts ? Number(parts) : undefined, usual: of("usual"), unusual: of("unusual") };
}

/** Returns the file that a list is about if its lines name none, by the list's name: `x` for `x.md5`; else an empty text. */
export function loneFile(path: string): string {
    return text(askOf([path], (exports, len) => exports.lone_file(len)));
}

/** A format as the command line or a list chose it. */
export interface Choice {
    /** The choice as text: for a directory `dir:…`. */
    readonly text: string;
    /** The format string of the tree. */
    readonly spec: string;
    /** The name of the format in lines of lists. */
    readonly tag: string;
    readonly isDirectory: boolean;
}

function choiceOf([text, spec, tag, directory]: readonly string[]): Choice {
    return { text: text!, spec: spec!, tag: tag!, isDirectory: directory === "true" };
}

/**
 * Returns a format, perhaps with another hash, leaf or salt. Empty texts are the format's own, and an empty format is the default.
 *
 * @throws {MksumError} `argument` if there is none.
 */
export function choice(format: string, hash = "", leaf = "", salt = ""): Choice {
    return choiceOf(text(askOf([format, hash, leaf, salt], (exports, len) => exports.choice_facts(len))).split("\n"));
}

/** Returns a root in any form in which roots are published as its format prints it. @throws {MksumError} `argument` if it is none. */
export function rootGiven(spec: string, root: string): string {
    return text(askOf([spec, root], (exports, len) => exports.root_given(len)));
}

/** Returns the line of a root, with its end. */
export function sumLine(tag: string, root: string, path: Uint8Array, isTagged: boolean): OwnBytes {
    return askOf([tag, root, path], (exports, len) => exports.sum_line(len, Number(isTagged)));
}

/** Returns a name as a line of a list has it, with a backslash before it if some of it is escaped. */
export function escaped(path: Uint8Array): OwnBytes {
    return askOf([path], (exports, len) => exports.name_escaped(len));
}

/** Returns a name as messages show it: quoted if it could harm a terminal. */
export function shown(path: string | Uint8Array): string {
    return text(askOf([path], (exports, len) => exports.name_shown(len)));
}

/** Returns whether a path is that of a bag's manifest, by its name. */
export function isManifest(path: string): boolean {
    return askOf([path], (exports, len) => exports.is_manifest(len)).length > 0;
}

/** An entry of a list: a file and its claimed root. */
export interface Entry {
    readonly kind: "entry";
    readonly choice: Choice;
    /** The claimed root, as the format prints it. */
    readonly root: string;
    /** The bytes `start..end` that the root is of, if it is not of the whole file. */
    readonly range: { readonly start: number; readonly end: number } | undefined;
    /** The other formats that it may be of, where the most usual was taken. */
    readonly others: string;
    /** The hex digits of its sum. */
    readonly digits: number;
    /** Whether one space stands before the path, whose first letter may be a mode of shasum. */
    readonly oneSpace: boolean;
    /** Whether the size of its parts has to be found from their number. */
    readonly guesses: boolean;
    readonly line: number;
    readonly path: Uint8Array;
}

/** A line that has no entry, with the reason as a sentence; some reasons have a word. */
export interface Malformed {
    readonly kind: "malformed";
    readonly line: number;
    readonly word: "" | "format" | "path" | "crc";
    readonly why: string;
}

/** The end of a list, and the program whose signature it holds. */
export interface End {
    readonly kind: "end";
    readonly holds: "" | "pgp" | "signify";
}

/** The lines of a list in memory. */
export class Lists {
    /** What was read ahead: a text for each line, and the paths of entries. */
    private ahead: string[] = [];
    private at = 0;
    private paths = new Uint8Array();

    private constructor(private readonly number: number) {}

    /**
     * Opens a list. `bag` is the version of the bag whose manifest it is, or empty; `given` the
     * format, hash, leaf and salt of lines that name none, or nothing; and
     * `path` is empty for standard input.
     */
    static open(bytes: Uint8Array, bag: string, given: readonly string[], path: string): Lists {
        return withBlocks([bytes], (_, block) => {
            const made = askOf([bag, ...given, path], (exports, len) => exports.list(block, len));
            return new Lists(new DataView(made.buffer).getUint32(0, true));
        });
    }

    /** Returns what the next line is. @throws {MksumError} `argument` if the list cannot be read. */
    next(): Entry | Malformed | End {
        if (this.at === this.ahead.length) {
            const found = ask((exports) => exports.list_next(this.number));
            const end = 4 + new DataView(found.buffer).getUint32(0, true);
            this.ahead = text(found.subarray(4, end - 1)).split("\n");
            this.paths = found.subarray(end);
            this.at = 0;
        }
        const [kind, ...fields] = this.ahead[this.at++]!.split("\t") as [string, ...string[]];
        if (kind === "end") return { kind, holds: fields[0] as End["holds"] };
        if (kind === "malformed") return { kind, line: Number(fields[0]), word: fields[1] as Malformed["word"], why: fields[2]! };
        if (kind === "failed") throw new MksumError("argument", fields[0]!);
        const [others, digits, root, start, end, oneSpace, guesses, line, len] = fields.slice(4);
        const path = this.paths.subarray(0, Number(len));
        this.paths = this.paths.subarray(path.length);
        return {
            kind: "entry",
            choice: choiceOf(fields),
            root: root!,
            range: start === "" ? undefined : { start: Number(start), end: end === "" ? Infinity : Number(end) },
            others: others!,
            digits: Number(digits),
            oneSpace: oneSpace === "true",
            guesses: guesses === "true",
            line: Number(line),
            path,
        };
    }

    /** Returns the formats in which a file of `len` bytes may have the root of the last entry, `entry`, and the root in each. */
    candidates({ choice: { spec }, root, guesses }: Entry, len: number): { readonly spec: string; readonly root: string }[] {
        if (!guesses) return [{ spec, root }];
        const lines = text(ask((exports) => exports.list_candidates(this.number, len))).split("\n");
        return lines.map((line) => {
            const [spec, root] = line.split("\t") as [string, string];
            return { spec, root };
        });
    }

    /** Frees the list. */
    end(): void {
        release((exports) => (exports as unknown as Exports).list_end(this.number));
    }
}
