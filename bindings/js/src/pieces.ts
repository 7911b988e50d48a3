import { INPUT, release, running } from "./engine.js";
import { MksumError } from "./errors.js";
import { answer, call, numbers, withBlocks, write } from "./memory.js";
import { Root } from "./root.js";
import type { Spec } from "./spec.js";

/** A subtree: the node over bytes `start..start + len`, `level` levels above its lowest leaves. */
export interface Subtree {
    readonly start: number;
    readonly len: number;
    readonly level: number;
}

/** The longest piece that is hashed at once, in bytes. A longer leaf is hashed in slices. */
export const PIECE = 1 << 20;

/** The target number of pieces, whose digests are kept in memory. */
const PIECES = 1 << 16;

/** Returns the length of pieces for an input of `len` bytes, so that their digests fit into memory. */
export function pieceFor(len: number): number {
    return Math.max(PIECE, 2 ** Math.ceil(Math.log2(len / PIECES)));
}

/**
 * Returns the largest subtrees of at most `atMost` bytes, or single leaves, of a tree over `len` bytes, left to right.
 *
 * @throws {MksumError} `format` if the format has no root for this length; `length` if there are too many.
 */
export function cover(spec: Spec, len: number, atMost: number): Subtree[] {
    const engine = running();
    const named = write(engine, spec.text);
    const found = numbers(answer(engine, (exports) => exports.cover(named, len, atMost)), 3);
    return found.map(([start, len, level]) => ({ start, len, level }) as Subtree);
}

/** Returns the digest of a subtree of a tree over `total` bytes, from the subtree's bytes. */
export function subtree(spec: Spec, total: number, node: Subtree, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
    return withBlocks([bytes], (engine, block) => {
        const named = write(engine, spec.text);
        const { start, len, level } = node;
        return answer(engine, (exports) => exports.subtree(named, total, start, len, level, block));
    });
}

/** Hashes a leaf slice by slice, because it is too long for memory. */
export class Leaf {
    private readonly leaf: number;

    /** Creates the hasher of a leaf of a tree over `total` bytes. */
    constructor(spec: Spec, total: number, { start, len }: Subtree) {
        const engine = running();
        const named = write(engine, spec.text);
        const made = answer(engine, (exports) => exports.leaf(named, total, start, len));
        this.leaf = new DataView(made.buffer).getUint32(0, true);
    }

    /** Appends bytes. */
    update(bytes: Uint8Array): void {
        const engine = running();
        for (let at = 0; at < bytes.length; at += INPUT) {
            const slice = bytes.subarray(at, at + INPUT);
            engine.views().input.set(slice);
            call(engine, (exports) => exports.leaf_append(this.leaf, slice.length));
        }
    }

    /** Returns the digest, and ends the leaf. */
    finish(): Uint8Array<ArrayBuffer> {
        return answer(running(), (exports) => exports.leaf_finish(this.leaf));
    }

    /** Ends the leaf without a digest. */
    free(): void {
        release((exports) => exports.leaf_end(this.leaf));
    }
}

/** Returns the root of a tree over `len` bytes from the digests of its pieces, in order. */
export function join(spec: Spec, len: number, atMost: number, digests: Uint8Array): Root {
    return withBlocks([digests], (engine, block) => {
        const named = write(engine, spec.text);
        return new Root(spec, len, answer(engine, (exports) => exports.join(named, len, atMost, block)));
    });
}

/** Returns the digests of all pieces of bytes in memory, in order. */
export function digestsIn(spec: Spec, atMost: number, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
    const pieces = cover(spec, bytes.length, atMost);
    const digests = new Uint8Array(pieces.length * spec.size);
    for (const [index, node] of pieces.entries()) {
        const own = bytes.subarray(node.start, node.start + node.len);
        if (own.length !== node.len) throw new MksumError("length", `bytes from ${node.start} are missing`);
        digests.set(digestIn(spec, bytes.length, node, own), index * spec.size);
    }
    return digests;
}

/** Returns whether a piece is hashed at once. A long leaf is hashed in slices. */
export function atOnce(node: Subtree): boolean {
    return node.level > 0 || node.len <= 4 * PIECE;
}

/** Returns the digest of a piece from its bytes in memory. A long leaf is copied in slices. */
export function digestIn(spec: Spec, total: number, node: Subtree, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
    if (atOnce(node)) return subtree(spec, total, node, bytes);
    const leaf = new Leaf(spec, total, node);
    leaf.update(bytes);
    return leaf.finish();
}

/** Returns the root of bytes in memory, computed piece by piece. */
export function piecewise(spec: Spec, bytes: Uint8Array): Root {
    const atMost = pieceFor(bytes.length);
    return join(spec, bytes.length, atMost, digestsIn(spec, atMost, bytes));
}
