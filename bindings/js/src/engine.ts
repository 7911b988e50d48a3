import { MksumError } from "./errors.js";
import { later, now } from "./source.js";

/** What the module exports: `wasm/src/abi.rs` and `tree_abi.rs`. */
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

/** The most bytes that one call takes. */
export const INPUT = 1 << 16;
const OUTPUT = 1 << 10;

/** A running instance. There is one a thread, and all states live in its memory. */
export class Engine {
    readonly exports: Exports;
    /** Where a call's bytes go, and where its answer is. Valid until memory grows: see {@link views}. */
    input!: Uint8Array<ArrayBuffer>;
    output!: Uint8Array<ArrayBuffer>;

    constructor(module: WebAssembly.Module) {
        this.exports = new WebAssembly.Instance(module, {}).exports as unknown as Exports;
        this.renew();
    }

    /** Looks at memory anew if it has grown: the old views then have no bytes. */
    views(): this {
        if (this.input.length === 0) this.renew();
        return this;
    }

    private renew(): void {
        const { memory, input, output } = this.exports;
        this.input = new Uint8Array(memory.buffer as ArrayBuffer, input(), INPUT);
        this.output = new Uint8Array(memory.buffer as ArrayBuffer, output(), OUTPUT);
    }

    /** After a trap nobody can trust the states: no call is answered any more. */
    fail(cause: unknown): never {
        broken ??= new MksumError("broken", `the engine failed, and gives no digest any more: ${String(cause)}`, { cause });
        throw broken;
    }
}

let engine: Engine | undefined;
let broken: MksumError | undefined;

/**
 * The running instance, started if it can be at once.
 *
 * @throws {MksumError} `not-loaded` or `broken`.
 */
export function running(): Engine {
    if (broken) throw broken;
    return (engine ??= new Engine(now())).views();
}

/**
 * Compiles the engine aside and starts it. Needed once before the first call where WebAssembly is fetched, or has no SIMD;
 * elsewhere it saves the first call some milliseconds.
 *
 * @param module A compiled module of this package, from another thread, say.
 */
export async function load(module?: WebAssembly.Module): Promise<void> {
    const compiled = engine ? undefined : (module ?? (await later()));
    if (compiled) engine ??= new Engine(compiled);
}
