import { MksumError } from "./errors.js";
import { compile, compileSync } from "./source.js";

/** The exports of the module: `wasm/src/abi.rs` and `tree_abi.rs`. */
export interface Exports {
    readonly memory: WebAssembly.Memory;
    input(): number;
    output(): number;
    digest(algorithm: number, len: number): void;
    begin(algorithm: number): number;
    keyed(algorithm: number, len: number): number;
    append(number: number, len: number): void;
    peek(number: number): number;
    finish(number: number): number;
    copy(number: number): number;
    forget(number: number): void;
    kept(): number;
    iterate(algorithm: number, count: number, times: number): void;

    block(len: number): number;
    block_at(number: number): number;
    block_end(number: number): void;
    answer_at(): number;
    answer_len(): number;
    answer_end(): void;
    spec_facts(len: number): number;
    formats(): number;
    root(len: number, end: number): number;
    tree(len: number): number;
    tree_append(number: number, len: number): number;
    tree_root(number: number): number;
    tree_end(number: number): void;
    cover(spec: number, len: number, atMost: number): number;
    subtree(spec: number, total: number, start: number, len: number, level: number, block: number): number;
    leaf(spec: number, total: number, start: number, len: number): number;
    leaf_append(number: number, len: number): void;
    leaf_finish(number: number): number;
    leaf_end(number: number): void;
    join(spec: number, len: number, atMost: number, block: number): number;
    prove_range(spec: number, block: number, start: number, end: number): number;
    prove_consistency(spec: number, block: number, old: number): number;
    proof_facts(proof: number): number;
    verify_range(proof: number, len: number, bytes: number): number;
    verify_consistency(proof: number, len: number): number;
    keep(spec: number, atMost: number, block: number): number;
    outboard_facts(block: number): number;
    outboard_damaged(block: number, digests: number): number;
}

/** The largest input of one call, in bytes. */
export const INPUT = 1 << 16;
const OUTPUT = 1 << 10;

/** A running instance. Each thread has one, whose memory holds all states. */
export class Engine {
    readonly exports: Exports;
    /** Views of the input and the output of calls. Valid until memory grows: see {@link views}. */
    input!: Uint8Array<ArrayBuffer>;
    output!: Uint8Array<ArrayBuffer>;

    constructor(module: WebAssembly.Module) {
        this.exports = new WebAssembly.Instance(module, {}).exports as unknown as Exports;
        this.renew();
    }

    /** Renews the views if memory has grown, which detached the old ones. */
    views(): this {
        if (this.input.length === 0) this.renew();
        return this;
    }

    private renew(): void {
        const { memory, input, output } = this.exports;
        this.input = new Uint8Array(memory.buffer as ArrayBuffer, input(), INPUT);
        this.output = new Uint8Array(memory.buffer as ArrayBuffer, output(), OUTPUT);
    }

    /** Stops the engine after a trap, because its states can no longer be trusted. */
    fail(cause: unknown): never {
        broken ??= new MksumError("broken", `the engine failed and has stopped: ${String(cause)}`, { cause });
        throw broken;
    }
}

let engine: Engine | undefined;
let broken: MksumError | undefined;

/**
 * Returns the running instance, and starts it if it can be compiled synchronously.
 *
 * @throws {MksumError} `not-loaded` or `broken`.
 */
export function running(): Engine {
    if (broken) throw broken;
    return (engine ??= new Engine(compileSync())).views();
}

/**
 * Compiles the engine asynchronously and starts it. Required once before the first call if WebAssembly is fetched or has no
 * SIMD; otherwise it saves the first call some milliseconds.
 *
 * @param module A compiled module of this package, for example from another thread.
 */
export async function load(module?: WebAssembly.Module): Promise<void> {
    const compiled = engine ? undefined : (module ?? (await compile()));
    if (compiled) engine ??= new Engine(compiled);
}
