import type { OwnBytes } from "./bytes.js";
import { failure, MksumError } from "./errors.js";

/** The exports of the module: `wasm/src/abi.rs` and `tree_abi.rs`. */
export interface Exports {
    readonly memory: WebAssembly.Memory;
    readonly input: () => number;
    readonly output: () => number;
    readonly digest: (algorithm: number, at: number, len: number) => void;
    readonly begin: (algorithm: number) => number;
    readonly keyed: (algorithm: number, len: number) => number;
    readonly append: (number: number, at: number, len: number) => void;
    readonly save: (number: number, header: number) => number;
    readonly load: (number: number, header: number, len: number) => number;
    readonly finish: (number: number) => number;
    readonly copy: (number: number) => number;
    readonly forget: (number: number) => void;
    readonly kept: () => number;
    readonly iterate: (algorithm: number, count: number, times: number) => void;

    readonly block: (len: number) => number;
    readonly block_at: (number: number) => number;
    readonly block_end: (number: number) => void;
    readonly answer_at: () => number;
    readonly answer_len: () => number;
    readonly answer_end: () => void;
    readonly spec_facts: (len: number) => number;
    readonly formats: () => number;
    readonly root: (len: number, end: number) => number;
    readonly tree: (len: number) => number;
    readonly tree_append: (number: number, len: number) => number;
    readonly tree_root: (number: number) => number;
    readonly tree_end: (number: number) => void;
    readonly cover: (spec: number, len: number, atMost: number) => number;
    readonly subtree: (spec: number, total: number, start: number, len: number, level: number, block: number) => number;
    readonly leaf: (spec: number, total: number, start: number, len: number) => number;
    readonly leaf_append: (number: number, len: number) => void;
    readonly leaf_finish: (number: number) => number;
    readonly leaf_end: (number: number) => void;
    readonly lot: (spec: number) => number;
    readonly lot_takes: (lot: number, len: number) => number;
    readonly lot_begin: (lot: number, slot: number, len: number) => void;
    readonly lot_room: (lot: number, slot: number) => number;
    readonly lot_advance: (lot: number) => void;
    readonly lot_state: (lot: number, slot: number) => number;
    readonly lot_finish: (lot: number, slot: number) => number;
    readonly lot_free: (lot: number, slot: number) => void;
    readonly lot_end: (lot: number) => void;
    readonly join: (spec: number, len: number, atMost: number, block: number) => number;
    readonly prove: (
        spec: number, len: number, atMost: number, digests: number, first: number, head: number, last: number, tail: number,
        start: number, end: number,
    ) => number;
    readonly outboard_prove: (
        block: number, first: number, head: number, last: number, tail: number, start: number, end: number,
    ) => number;
    readonly proof_facts: (proof: number) => number;
    readonly verify_range: (proof: number, len: number, bytes: number) => number;
    readonly verify_consistency: (proof: number, len: number) => number;
    readonly unit: (spec: number, atMost: number) => number;
    readonly keep: (spec: number, len: number, unit: number, digests: number) => number;
    readonly outboard_from: (spec: number, len: number, block: number) => number;
    readonly outboard_facts: (block: number) => number;
    readonly outboard_units: (block: number) => number;
    readonly outboard_damaged: (block: number, digests: number) => number;
}

/** The largest input of one call, in bytes. */
export const INPUT = 1 << 16;
/** The longest input that the engine erases, and the length of the stage: `wasm/src/abi.rs`. */
export const SHORT = 1 << 10;
/** The length of the output, in bytes. No saved state is longer. */
export const OUTPUT = 1 << 12;

/** A running instance. Each thread has one, whose memory holds all states. */
export class Engine {
    readonly exports: Exports;
    readonly module: WebAssembly.Module;
    /** The trap that stopped it. */
    broken: MksumError | undefined;
    /** Views of the input, the stage behind it, and the output of calls. Valid until memory grows: see {@link views}. */
    input!: OwnBytes;
    stage!: OwnBytes;
    output!: OwnBytes;

    constructor(module: WebAssembly.Module) {
        this.module = module;
        this.exports = new WebAssembly.Instance(module, {}).exports as unknown as Exports;
        this.renew();
    }

    /**
     * Returns this engine, ready for a call.
     *
     * @throws {MksumError} `broken` after a trap.
     */
    ready(): this {
        if (this.broken) throw this.broken;
        return this.views();
    }

    /** Renews the views if memory has grown, which detached the old ones. */
    views(): this {
        if (this.input.length === 0) this.renew();
        return this;
    }

    private renew(): void {
        const { memory, input, output } = this.exports;
        this.input = new Uint8Array(memory.buffer, input(), INPUT);
        this.stage = new Uint8Array(memory.buffer, input() + INPUT, SHORT);
        this.output = new Uint8Array(memory.buffer, output(), OUTPUT);
    }

    /** Throws the error of a failed call. After a trap, the engine stops. */
    fail(cause: unknown): never {
        const error = failure(cause);
        throw error.code === "broken" ? (this.broken ??= error) : error;
    }

    /** Frees a value, unless the engine stopped. Never throws: finalizers and `finally` call it. */
    release(act: (exports: Exports, engine: Engine) => void): void {
        if (this.broken) return;
        try {
            act(this.exports, this.views());
        } catch (cause) {
            if (cause instanceof WebAssembly.RuntimeError) this.broken ??= failure(cause);
        }
    }
}

/** Returns the error for WebAssembly that cannot be compiled. */
export function refused(cause: unknown): MksumError {
    if (cause instanceof MksumError) return cause;
    const hint = "a page's Content-Security-Policy must allow 'wasm-unsafe-eval'";
    return new MksumError("not-loaded", `this host does not compile WebAssembly (${hint}): ${String(cause)}`, { cause });
}
