// The plain sums that the engine has no format for: CRCs and SM3, whose code would make it too large, and two of its hashes without
// a format.
import { create } from "mksum/fetch";

/** Bytes that are read and hashed at a time: few enough to leave the page responsive. */
const SLICE = 1 << 19;

/** @typedef {{ update: (bytes: Uint8Array) => void, digest: () => Uint8Array }} Sum */

/** @type {ReadonlyMap<string, () => Sum>} */
const SUMS = new Map(/** @type {[string, () => Sum][]} */ ([
    ["crc32", () => new Crc(0xedb88320n, 32)],
    ["crc32c", () => new Crc(0x82f63b78n, 32)],
    ["crc64nvme", () => new Crc(0x9a6c9329ac4bc9b5n, 64)],
    ["sm3", () => new Sm3()],
    ["ripemd160", () => create("ripemd160")],
    ["keccak256", () => create("keccak256")],
]));

/** Returns whether a format is one of these sums. @param {string} format */
export function isMore(format) {
    return SUMS.has(format);
}

/**
 * Returns sums of a file in lowercase hex, by format.
 *
 * @param {Blob} file
 * @param {readonly string[]} formats
 * @param {{ signal: AbortSignal, progress: (done: number) => void }} options
 */
export async function moreSums(file, formats, { signal, progress }) {
    const sums = formats.flatMap((format) => SUMS.get(format)?.() ?? []);
    for (let at = 0; at < file.size; at += SLICE) {
        signal.throwIfAborted();
        const bytes = new Uint8Array(await file.slice(at, at + SLICE).arrayBuffer());
        for (const sum of sums) sum.update(bytes);
        progress(Math.min(at + SLICE, file.size));
    }
    return new Map(formats.map((format, at) => [format, hex(sums[at].digest())]));
}

/** @param {Iterable<number>} bytes */
function hex(bytes) {
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A reflected CRC whose register begins with ones and ends inverted (spec/crc.md). */
class Crc {
    /** @param {bigint} polynomial Reflected, without its highest term. @param {32 | 64} width */
    constructor(polynomial, width) {
        /** @private */
        this.width = width;
        const rows = Array.from({ length: 256 }, (_, byte) => {
            let row = BigInt(byte);
            for (let bit = 0; bit < 8; bit++) row = (row >> 1n) ^ (row & 1n ? polynomial : 0n);
            return row;
        });
        /** The halves of the table, since numbers have no 64 bits. @private */
        this.lows = Uint32Array.from(rows, (row) => Number(row & 0xffffffffn));
        /** @private */
        this.highs = Uint32Array.from(rows, (row) => Number(row >> 32n));
        /** @private */
        this.low = -1;
        /** @private */
        this.high = width === 64 ? -1 : 0;
    }

    /** @param {Uint8Array} bytes */
    update(bytes) {
        let { low, high } = this;
        const { lows, highs } = this;
        for (const byte of bytes) {
            const index = (low ^ byte) & 255;
            low = (low >>> 8) ^ (high << 24) ^ lows[index];
            high = (high >>> 8) ^ highs[index];
        }
        this.low = low;
        this.high = high;
    }

    digest() {
        const bytes = new DataView(new ArrayBuffer(8));
        bytes.setInt32(0, ~this.high);
        bytes.setInt32(4, ~this.low);
        return new Uint8Array(bytes.buffer, 8 - this.width / 8);
    }
}

/** Rotates a word to the left. @param {number} word @param {number} bits */
const rotated = (word, bits) => (word << bits) | (word >>> (32 - bits));

/** SM3 (GB/T 32905-2016, draft-sca-cfrg-sm3). */
class Sm3 {
    constructor() {
        /** @private */
        this.state = Int32Array.of(0x7380166f, 0x4914b2b9, 0x172442d7, 0xda8a0600, 0xa96f30bc, 0x163138aa, 0xe38dee4d, 0xb0fb0e4e);
        /** @private */
        this.block = new DataView(new ArrayBuffer(64));
        /** @private */
        this.words = new Int32Array(68);
        /** @private */
        this.len = 0;
    }

    /** @param {Uint8Array} bytes */
    update(bytes) {
        const block = new Uint8Array(this.block.buffer);
        for (let at = 0; at < bytes.length; ) {
            const filled = this.len % 64;
            const part = bytes.subarray(at, at + 64 - filled);
            block.set(part, filled);
            at += part.length;
            this.len += part.length;
            if (filled + part.length === 64) this.compress();
        }
    }

    digest() {
        const { len } = this;
        const end = new DataView(new ArrayBuffer(((len + 8) % 64 < len % 64 ? 128 : 64) - (len % 64)));
        end.setUint8(0, 0x80);
        end.setBigUint64(end.byteLength - 8, 8n * BigInt(len));
        this.update(new Uint8Array(end.buffer));
        const bytes = new DataView(new ArrayBuffer(32));
        this.state.forEach((word, at) => bytes.setInt32(4 * at, word));
        return new Uint8Array(bytes.buffer);
    }

    /** @private */
    compress() {
        const words = /** @type {number[]} */ (/** @type {unknown} */ (this.words));
        for (let at = 0; at < 16; at++) words[at] = this.block.getInt32(4 * at);
        for (let at = 16; at < 68; at++) {
            const mixed = words[at - 16] ^ words[at - 9] ^ rotated(words[at - 3], 15);
            words[at] = mixed ^ rotated(mixed, 15) ^ rotated(mixed, 23) ^ rotated(words[at - 13], 7) ^ words[at - 6];
        }
        let [a, b, c, d, e, f, g, h] = /** @type {[number, number, number, number, number, number, number, number]} */ (/** @type {unknown} */ (this.state));
        for (let round = 0; round < 64; round++) {
            const early = round < 16;
            const turned = rotated(a, 12);
            const first = rotated((turned + e + rotated(early ? 0x79cc4519 : 0x7a879d8a, round % 32)) | 0, 7);
            const left = ((early ? a ^ b ^ c : (a & b) | (a & c) | (b & c)) + d + (first ^ turned) + (words[round] ^ words[round + 4])) | 0;
            const right = ((early ? e ^ f ^ g : (e & f) | (~e & g)) + h + first + words[round]) | 0;
            [d, c, b, a] = [c, rotated(b, 9), a, left];
            [h, g, f, e] = [g, rotated(f, 19), e, right ^ rotated(right, 9) ^ rotated(right, 17)];
        }
        [a, b, c, d, e, f, g, h].forEach((word, at) => (this.state[at] ^= word));
    }
}
