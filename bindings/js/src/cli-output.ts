// The output of the command: whole lines on the standard output, and notes on the standard error.
import { writeSync } from "node:fs";
import { shown } from "./lists.js";

/** The lines that wait are written when they have this many bytes. */
const FULL = 1 << 16;

/** The reader of the output closed it. */
export class Closed extends Error {}

/** Writes bytes to a descriptor, all of them. */
function writeAll(descriptor: number, bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length;) {
        try {
            at += writeSync(descriptor, bytes, at);
        } catch (error) {
            const { code } = error as NodeJS.ErrnoException;
            if (code === "EPIPE") throw new Closed();
            // A pipe that does not block, and is full.
            if (code !== "EAGAIN") throw error;
            Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
        }
    }
}

export class Output {
    private lines: Uint8Array[] = [];
    private waiting = 0;
    /** Whether something could not be read, or differs. */
    failed = false;

    /** @param isMute Whether only the exit code is wanted, and why something could not be read. */
    constructor(private readonly isMute = false) {}

    /** Prints a line with its end. On a terminal, what could harm it is escaped. */
    print(line: Uint8Array): void {
        if (this.isMute) return;
        this.lines.push(process.stdout.isTTY ? Buffer.from(visible(Buffer.from(line).toString())) : line);
        this.waiting += line.length;
        if (this.waiting >= FULL || process.stdout.isTTY) this.flush();
    }

    /** Prints `NAME: WORDS`. */
    verdict(name: Uint8Array, words: string): void {
        this.print(Buffer.concat([name, Buffer.from(`: ${words}\n`)]));
    }

    /** Writes the lines that wait. */
    flush(): void {
        if (this.lines.length === 0) return;
        const all = Buffer.concat(this.lines);
        [this.lines, this.waiting] = [[], 0];
        writeAll(1, all);
    }

    /** Prints a note on the standard error. */
    note(words: string): void {
        if (!this.isMute) this.complain(words);
    }

    /** Prints why something is wrong on the standard error, also where only the exit code is wanted. */
    complain(words: string): void {
        this.flush();
        writeAll(2, Buffer.from(`mksum: ${words}\n`));
    }

    /** Reports why a file could not be read, and remembers it. */
    error(path: Uint8Array | string, error: unknown): void {
        this.failed = true;
        this.complain(`${shown(path)}: ${error instanceof Error ? error.message : String(error)}`);
    }
}

/** Returns lines in which what could move a terminal's cursor or turn the line around is escaped. */
function visible(lines: string): string {
    return lines.replace(/[\p{Cc}\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/gu, (letter) =>
        letter === "\n" ? letter : `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
