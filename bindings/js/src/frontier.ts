/// <reference lib="esnext.disposable" preserve="true" />
import { type Bytes, bytesOf } from "./bytes.js";
import { INPUT, release, running } from "./engine.js";
import { MksumError } from "./errors.js";
import { answer, write } from "./memory.js";
import { decoded, type Root } from "./root.js";
import { Spec } from "./spec.js";

/** Hashes a stream into a root. It holds the digests of the perfect subtrees so far, and a bounded buffer. */
export class Frontier {
    readonly spec: Spec;
    private tree: number;
    private len = 0;

    /**
     * Creates a frontier without bytes.
     *
     * @throws {MksumError} `argument` if there is no such format; `format` if the format needs the length first.
     */
    constructor(spec: Spec | string) {
        this.spec = Spec.parse(spec);
        const engine = running();
        const named = write(engine, this.spec.text);
        const made = answer(engine, (exports) => exports.tree(named));
        this.tree = new DataView(made.buffer).getUint32(0, true);
        finalizer().register(this, this.tree, this);
    }

    /** The number of bytes so far. */
    get position(): number {
        return this.len;
    }

    /**
     * Appends bytes.
     *
     * @throws {MksumError} `finished` after the end; `argument` or `detached` if `data` is not bytes.
     */
    update(data: Bytes): this {
        const bytes = bytesOf(data);
        const tree = this.alive();
        const engine = running();
        for (let at = 0; at < bytes.length; at += INPUT) {
            const slice = bytes.subarray(at, at + INPUT);
            engine.views().input.set(slice);
            answer(engine, (exports) => exports.tree_append(tree, slice.length));
            this.len += slice.length;
        }
        engine.views().input.fill(0, 0, Math.min(bytes.length, INPUT));
        return this;
    }

    /**
     * Returns the root of the bytes so far. More bytes may be appended afterwards.
     *
     * @throws {MksumError} `finished` after the end; `format` if the format has no root for this length.
     */
    root(): Root {
        const tree = this.alive();
        return decoded(this.spec, this.len, answer(running(), (exports) => exports.tree_root(tree)));
    }

    /** Ends the frontier and frees its memory. Does nothing after the end. */
    free(): void {
        if (this.tree < 0) return;
        const tree = this.alive();
        this.tree = -1;
        finalizer().unregister(this);
        release((exports) => exports.tree_end(tree));
    }

    /** As {@link free}, at the end of the block of a `using` declaration. */
    [Symbol.dispose](): void {
        this.free();
    }

    private alive(): number {
        if (this.tree < 0) throw new MksumError("finished", "this frontier has ended: create another one");
        return this.tree;
    }
}

/** Frees frontiers that are collected before their end. */
let registry: FinalizationRegistry<number> | undefined;

function finalizer(): FinalizationRegistry<number> {
    return (registry ??= new FinalizationRegistry((tree) => release((exports) => exports.tree_end(tree))));
}
