// The verified bytes of an interrupted download, in a file of the origin private file system.
import type { OwnBytes } from "./bytes.js";
import { MksumError } from "./errors.js";

/** The share of a file that an interruption may cost, since the file system keeps what is written only when the file is closed. */
const SHARE = 1 / 8;
const LEAST = 1 << 26;

/** The kept file. Reads are of what it had when it was last opened or closed. */
export class Held {
    private writable: FileSystemWritableFileStream | undefined;
    private written = 0;

    private constructor(private readonly handle: FileSystemFileHandle, private readonly len: number, private old: Blob) {}

    /** Opens the file for a download of `len` bytes. @throws {MksumError} `source` if it cannot be read. */
    static async open(handle: FileSystemFileHandle, len: number): Promise<Held> {
        try {
            return new Held(handle, len, await handle.getFile());
        } catch (cause) {
            throw new MksumError("source", `the file to resume from cannot be read: ${String(cause)}`, { cause });
        }
    }

    /** Returns bytes of the earlier run, not verified; `undefined` if it has none there. */
    async read(start: number, end: number): Promise<OwnBytes | undefined> {
        if (end > this.old.size) return undefined;
        try {
            return new Uint8Array(await this.old.slice(start, end).arrayBuffer());
        } catch {
            // The file was written since: what it had is read no more.
            return undefined;
        }
    }

    /** Writes verified bytes. @throws {MksumError} `source` if the file system refuses, for example because it is full. */
    async write(start: number, bytes: OwnBytes): Promise<void> {
        try {
            this.writable ??= await this.handle.createWritable({ keepExistingData: true });
            await this.writable.write({ type: "write", position: start, data: bytes });
            this.written += bytes.length;
            if (this.written > Math.max(LEAST, this.len * SHARE)) await this.flush();
        } catch (cause) {
            throw new MksumError("source", `the file to resume from cannot be written: ${String(cause)}`, { cause });
        }
    }

    private async flush(): Promise<void> {
        const { writable } = this;
        [this.writable, this.written] = [undefined, 0];
        if (!writable) return;
        await writable.close();
        // The view of before is not readable any more.
        this.old = await this.handle.getFile();
    }

    /** Keeps what was written; of a whole file no byte more. */
    async close(isWhole: boolean): Promise<void> {
        if (isWhole && this.old.size > this.len) {
            this.writable ??= await this.handle.createWritable({ keepExistingData: true });
            await this.writable.truncate(this.len);
        }
        await this.flush();
    }

    /** Returns the whole file. */
    async blob(): Promise<Blob> {
        return this.handle.getFile();
    }
}
