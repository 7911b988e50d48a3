// Files of the command: read slice by slice, once for all formats.
import type { BigIntStats } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { builtin } from "./builtin.js";
import { MksumError } from "./errors.js";
import { Frontier } from "./frontier.js";
import { cover, Feed, join, pieceFor } from "./pieces.js";
import type { Root } from "./root.js";
import { Spec } from "./spec.js";

/** The bytes that are read at a time. */
const SLICE = 1 << 20;

/** The standard input has no path. */
export const STDIN = "-";

/** Why a file could not be read, in the words of the tool. */
export class ReadError extends Error {
    /** @param code The system's name of the error. */
    constructor(message: string, readonly code = "") {
        super(message);
    }
}

/** The words of the C library, which the tool prints. libuv has its own. */
const WORDS: Record<string, string> = {
    ENOENT: "No such file or directory",
    EISDIR: "Is a directory",
    ENOTDIR: "Not a directory",
    EACCES: "Permission denied",
    EPERM: "Operation not permitted",
    ELOOP: "Too many levels of symbolic links",
    ENAMETOOLONG: "File name too long",
    EMFILE: "Too many open files",
    EIO: "Input/output error",
    ENXIO: "No such device or address",
};

/** Returns the error of a system call in the words of the tool. */
function readError(cause: unknown): Error {
    if (cause instanceof MksumError || cause instanceof ReadError) return cause;
    const { code = "", message } = cause as NodeJS.ErrnoException;
    return new ReadError(WORDS[code] ?? message, code);
}

const fs = (): Promise<typeof import("node:fs/promises")> => builtin("node:fs/promises") as Promise<typeof import("node:fs/promises")>;

/** Returns a path as Node takes it. */
export function pathOf(path: Uint8Array | string): Buffer | string {
    // Windows has no names of bytes.
    return typeof path === "string" || process.platform === "win32" ? Buffer.from(path as string).toString() : Buffer.from(path);
}

/** Returns whether something is at this path, be it a link that leads nowhere. */
export async function isThere(path: Uint8Array | string): Promise<boolean> {
    return (await fs()).lstat(pathOf(path)).then(() => true, () => false);
}

/** A file whose bytes are hashed. */
export class OpenFile {
    private constructor(private readonly handle: FileHandle, private readonly first: BigIntStats, readonly isStream: boolean) {}

    /**
     * Opens a file. Pipes and terminals are read only if `pipes`.
     *
     * @throws {ReadError} If it cannot be read.
     */
    static async open(path: Uint8Array | string, pipes: boolean): Promise<OpenFile> {
        const named = pathOf(path);
        let handle: FileHandle | undefined;
        try {
            const { open, stat } = await fs();
            const before = await stat(named, { bigint: true });
            if (before.isDirectory()) throw new ReadError(WORDS["EISDIR"]!, "EISDIR");
            // A pipe without a writer would be waited for.
            if (!before.isFile() && !pipes) {
                throw new ReadError("a pipe or a terminal: it is read only if the command line names it, without --recursive");
            }
            handle = await open(named, "r");
            const found = await handle.stat({ bigint: true });
            return new OpenFile(handle, found, !found.isFile());
        } catch (cause) {
            await handle?.close();
            throw readError(cause);
        }
    }

    /** The length, in bytes; of a stream 0. */
    get len(): number {
        return Number(this.first.size);
    }

    /** Yields the bytes `start..end`, which may be overwritten when the next are asked for. @throws {ReadError} If they cannot be read. */
    async *slices(start: number, end: number): AsyncGenerator<Uint8Array, void> {
        const buffer = new Uint8Array(SLICE);
        for (let at = start; at < end;) {
            let bytesRead;
            try {
                const length = Math.min(SLICE, end - at);
                ({ bytesRead } = await this.handle.read(buffer, 0, length, this.isStream ? null : at));
            } catch (cause) {
                throw readError(cause);
            }
            if (bytesRead === 0) {
                if (end === Infinity) return;
                throw new ReadError(`ended after ${at} of ${end} bytes`);
            }
            at += bytesRead;
            yield buffer.subarray(0, bytesRead);
        }
    }

    /** Checks that the file is as it was when it was opened: no root is of two versions. @throws {ReadError} If it is not. */
    async finish(): Promise<void> {
        if (this.isStream) return;
        const last = await this.handle.stat({ bigint: true }).catch((cause: unknown) => {
            throw readError(cause);
        });
        const how = last.size !== this.first.size ? `it has ${last.size} bytes now, and had ${this.first.size}`
            : last.mtimeNs !== this.first.mtimeNs ? "it has another mtime now" : undefined;
        if (how) throw new ReadError(`changed while it was read: ${how}; try again when nothing writes to it`);
    }

    async close(): Promise<void> {
        await this.handle.close();
    }
}

/** A root, or why the file has none in this format. */
export type RootOrError = Root | MksumError;

/** Returns the result of an act, or the error about its format. */
function attempt<T>(act: () => T): T | MksumError {
    try {
        return act();
    } catch (error) {
        if (error instanceof MksumError && error.code !== "broken") return error;
        throw error;
    }
}

/** What computes the root of a file in one format. */
type Hashing = { readonly update: (bytes: Uint8Array) => void; readonly root: () => Root; readonly free: () => void };

/** Begins a root of `len` bytes, or of a stream. */
function begin(spec: Spec, len: number | undefined): Hashing {
    // A tree of known length is hashed in pieces of many leaves; a chain or a layout that the content decides as it comes.
    if (len === undefined || (spec.streams && (spec.leaf === Infinity || spec.family === "xet"))) {
        const frontier = new Frontier(spec);
        return { update: (bytes) => void frontier.update(bytes), root: () => frontier.root(), free: () => frontier.free() };
    }
    const atMost = pieceFor(len);
    const feed = new Feed(spec, len, cover(spec, len, atMost));
    return { update: (bytes) => feed.update(bytes), root: () => join(spec, len, atMost, feed.digests), free: () => feed.free() };
}

/**
 * Returns the roots of the bytes of slices, `len` of them if that is known, in several formats. An error about one format is its result.
 *
 * @throws {ReadError} If the bytes cannot be read.
 */
export async function rootsOfSlices(specs: readonly string[], len: number | undefined, slices: AsyncIterable<Uint8Array>): Promise<RootOrError[]> {
    const all = specs.map((spec) => attempt(() => begin(Spec.parse(spec), len)));
    const running = all.filter((one) => !(one instanceof MksumError)) as Hashing[];
    try {
        if (running.length > 0) for await (const slice of slices) for (const one of running) one.update(slice);
        return all.map((one) => (one instanceof MksumError ? one : attempt(() => one.root())));
    } finally {
        for (const one of running) one.free();
    }
}

/** Returns the roots of a file, or of its bytes in `range`, in several formats. @throws {ReadError} If it cannot be read. */
export async function rootsOfFile(file: OpenFile, specs: readonly string[], range?: { readonly start: number; readonly end: number }): Promise<RootOrError[]> {
    const end = Math.min(range?.end ?? Infinity, file.isStream ? Infinity : file.len);
    const start = range?.start ?? 0;
    if (file.isStream && range) throw new ReadError("a stream has no ranges of bytes");
    if (start > end) throw new ReadError(`the range ${start}.. starts past the end of the file (${file.len} bytes)`);
    if (range && range.end !== Infinity && range.end > file.len) {
        throw new ReadError(`the range ${range.start}..${range.end} ends past the end of the file (${file.len} bytes)`);
    }
    const roots = await rootsOfSlices(specs, end === Infinity ? undefined : end - start, file.slices(start, end));
    await file.finish();
    return roots;
}

/** Yields the bytes of the standard input. @throws {ReadError} If they cannot be read. */
export async function* stdin(): AsyncGenerator<Uint8Array, void> {
    try {
        for await (const bytes of process.stdin) yield bytes as Uint8Array;
    } catch (cause) {
        throw readError(cause);
    }
}

/** The longest file that is read into memory: a list or an outboard. */
const LONGEST = 1 << 28;

/** Returns all bytes of a list or an outboard. @throws {ReadError} If they cannot be read, or are more than 256 MiB. */
export async function whole(path: string, pipes: boolean): Promise<Uint8Array> {
    const parts: Uint8Array[] = [];
    let len = 0;
    const add = (bytes: Uint8Array): void => {
        len += bytes.length;
        if (len > LONGEST) throw new ReadError("more than 256 MiB: use the mksum of your system for it");
        parts.push(bytes.slice());
    };
    if (path === STDIN) {
        for await (const bytes of stdin()) add(bytes);
    } else {
        const file = await OpenFile.open(path, pipes);
        try {
            for await (const bytes of file.slices(0, Infinity)) add(bytes);
            await file.finish();
        } finally {
            await file.close();
        }
    }
    return Buffer.concat(parts);
}
