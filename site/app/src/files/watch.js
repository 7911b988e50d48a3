// Notices that a file changes while it is read. Chromium refuses to read such a file; other browsers go on reading.
import { MksumError } from "mksum/fetch";

/** Files of at least this length are sampled, in bytes: shorter ones are read almost at once. */
const LONG = 1 << 25;

/** The number of samples, and the length of each in bytes. */
const SAMPLES = 128;
const SAMPLE = 1 << 12;

/** Returns the file as it is now, where the browser tells: of files that were dropped, or chosen with a handle. @typedef {() => Promise<File>} Fresh */

/** A file that is about to be read. */
export class Watched {
    /**
     * @private
     * @param {File} file
     * @param {Fresh | undefined} fresh
     * @param {Uint8Array[]} samples
     */
    constructor(file, fresh, samples) {
        this.file = file;
        this.fresh = fresh;
        /** @private */
        this.samples = samples;
    }

    /**
     * Begins to watch a file.
     *
     * @param {File} file
     * @param {Fresh | undefined} fresh
     */
    static async begin(file, fresh) {
        return new Watched(file, fresh, await sampled(file));
    }

    /**
     * Checks that the file has not changed since.
     *
     * @throws {MksumError} `source` if it has changed, or can no longer be read.
     */
    async check() {
        const { file, fresh } = this;
        let now;
        try {
            await file.slice(0, 1).arrayBuffer();
            now = await fresh?.();
        } catch (cause) {
            throw new MksumError("source", `it can no longer be read: ${String(cause)}`, { cause });
        }
        if (now && (now.size !== file.size || now.lastModified !== file.lastModified)) {
            const [before, after] = [file, now].map(({ size, lastModified }) => `${size} bytes of ${new Date(lastModified).toISOString()}`);
            throw new MksumError("source", `expected ${before}, found ${after}`);
        }
        for (const [index, bytes] of (await sampled(file)).entries()) {
            const before = this.samples[index];
            const at = bytes.findIndex((byte, own) => byte !== before?.[own]);
            if (at >= 0) throw new MksumError("source", `byte ${startOf(index, file.size) + at} was another one before`);
        }
    }
}

/** @param {number} index @param {number} len */
function startOf(index, len) {
    return Math.floor(((len - SAMPLE) * index) / (SAMPLES - 1));
}

/** Reads samples of a long file, from its begin to its end. @param {File} file @returns {Promise<Uint8Array[]>} */
async function sampled(file) {
    if (file.size < LONG) return [];
    try {
        return await Promise.all(Array.from({ length: SAMPLES }, async (_, index) => {
            const start = startOf(index, file.size);
            return new Uint8Array(await file.slice(start, start + SAMPLE).arrayBuffer());
        }));
    } catch (cause) {
        throw new MksumError("source", `it cannot be read: ${String(cause)}`, { cause });
    }
}
