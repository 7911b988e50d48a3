import type { OwnBytes } from "./bytes.js";
import { type Engine, INPUT, release, running } from "./engine.js";
import { type ErrorCode, MksumError } from "./errors.js";

/** The error codes by the engine's error classes: `wasm/src/refusal.rs`. */
const CLASSES: readonly ErrorCode[] = ["broken", "argument", "length", "format", "proof", "outboard"];

const encoder = /* @__PURE__ */ new TextEncoder();
const decoder = /* @__PURE__ */ new TextDecoder();

/** The number of a block of bytes in the engine's memory. */
export type Block = number;

/**
 * Copies bytes to the engine's memory, calls `act`, and frees the memory.
 *
 * @throws {MksumError} `length` if there is not enough memory.
 */
export function withBlocks<T>(all: readonly Uint8Array[], act: (engine: Engine, ...blocks: Block[]) => T): T {
    const engine = running();
    const blocks: Block[] = [];
    try {
        for (const bytes of all) {
            const number = block(engine, bytes.length);
            blocks.push(number);
            const { memory, block_at } = engine.exports;
            call(engine, () => new Uint8Array(memory.buffer, block_at(number), bytes.length).set(bytes));
        }
        return act(engine, ...blocks);
    } finally {
        release(({ block_end }) => blocks.forEach((number) => block_end(number)));
    }
}

function block(engine: Engine, len: number): Block {
    // Memory has 2^32 bytes in all.
    const number = len < 2 ** 32 ? call(engine, (exports) => exports.block(len)) : -1;
    if (number === 0xffff_ffff || number < 0) {
        throw new MksumError("length", `${len} bytes do not fit into WebAssembly's memory`);
    }
    return number;
}

/** Calls into the engine. A trap stops the engine. */
export function call<T>(engine: Engine, act: (exports: Engine["exports"]) => T): T {
    try {
        return act(engine.exports);
    } catch (cause) {
        return engine.fail(cause);
    }
}

/**
 * Returns the answer of a call that may fail.
 *
 * @throws {MksumError} With the engine's message.
 */
export function answer(engine: Engine, act: (exports: Engine["exports"]) => number): OwnBytes {
    const failed = call(engine, act);
    const { memory, answer_at, answer_len, answer_end } = engine.exports;
    const length = answer_len();
    const bytes = call(engine, () => new Uint8Array(memory.buffer, answer_at(), length).slice());
    // The memory of a short answer is reused by the next one.
    if (length > INPUT) answer_end();
    if (failed !== 0) throw new MksumError(CLASSES[failed] ?? "broken", decoder.decode(bytes));
    return bytes;
}

/**
 * Writes text to the input. Returns its length in bytes.
 *
 * @throws {MksumError} `length` if it is too long.
 */
export function write(engine: Engine, text: string): number {
    const { input } = engine.views();
    const { read, written } = encoder.encodeInto(text, input);
    if (read < text.length) throw new MksumError("length", `a text of ${text.length} characters is too long`);
    return written;
}

/** Decodes the text of an answer. */
export function text(bytes: Uint8Array): string {
    return decoder.decode(bytes);
}

/**
 * Parses an integer that the engine wrote as text.
 *
 * @throws {MksumError} `length` if a `number` cannot represent it.
 */
export function number(written: string | undefined, name: string): number {
    // The longest input of all, 2^63 bytes: the leaf of a plain sum.
    if (written === "9223372036854775808") return Infinity;
    const value = Number(written);
    if (!Number.isSafeInteger(value)) throw new MksumError("length", `${name}: ${written} is more than 2^53 - 1`);
    return value;
}

/** Returns the `f64` numbers of an answer, in groups of `width`. */
export function numbers(bytes: OwnBytes, width: number): number[][] {
    const all = Array.from(new Float64Array(bytes.buffer, bytes.byteOffset, bytes.length / 8));
    return Array.from({ length: all.length / width }, (_, at) => all.slice(width * at, width * (at + 1)));
}
