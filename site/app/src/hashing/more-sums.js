// The formats that the engine leaves out for its size, with the module of the tool's parser, and a hash without a format.
import { create, MksumError, Spec, toHex } from "mksum/fetch";
import { tool } from "../internal.js";

/** Bytes that are read and hashed at a time: few enough to leave the page responsive. */
const SLICE = 1 << 19;

/** A hash of the engine without a format. */
const KECCAK = "keccak256";

/** The formats that the engine has. @type {Set<string>} */
const known = new Set();

/** Returns whether a format is none of the engine. @param {string} format */
export function isMore(format) {
    if (format === KECCAK) return true;
    if (known.has(format)) return false;
    try {
        Spec.parse(format);
        known.add(format);
        return false;
    } catch (error) {
        return !(error instanceof MksumError && error.code === "not-loaded");
    }
}

/**
 * Returns sums of a file as their formats print them, by format.
 *
 * @param {Blob} file
 * @param {readonly string[]} formats
 * @param {{ signal: AbortSignal, progress: (done: number) => void }} options
 */
export async function moreSums(file, formats, { signal, progress }) {
    const sums = formats.map((format) => (format === KECCAK ? create(KECCAK) : new tool.Frontier(format)));
    try {
        for (let at = 0; at < file.size; at += SLICE) {
            signal.throwIfAborted();
            const bytes = new Uint8Array(await file.slice(at, at + SLICE).arrayBuffer());
            for (const sum of sums) sum.update(bytes);
            progress(Math.min(at + SLICE, file.size));
        }
        return new Map(sums.map((sum, at) => [formats[at], "root" in sum ? sum.root().text : toHex(sum.digest())]));
    } finally {
        for (const sum of sums) sum.free();
    }
}
