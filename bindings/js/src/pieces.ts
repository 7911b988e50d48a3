import type { OwnBytes } from "./bytes.js";
import { INPUT, release, running } from "./engine.js";
import { MksumError } from "./errors.js";
import { answer, call, numbers, withBlocks, write } from "./memory.js";
import { decoded, type Root } from "./root.js";
import type { Spec } from "./spec.js";

/** A subtree: the node over bytes `start..start + len`, `level` levels above its lowest leaves. */
export interface Subtree {
    readonly start: number;
    readonly len: number;
    readonly level: number;
}

/** Returns the first byte behind a subtree. */
export const endOf = ({ start, len }: Subtree): number => start + len;

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
function subtree(spec: Spec, total: number, node: Subtree, bytes: Uint8Array): OwnBytes {
    return withBlocks([bytes], (engine, block) => {
        const named = write(engine, spec.text);
        const { start, len, level } = node;
        return answer(engine, (exports) => exports.subtree(named, total, start, len, level, block));
    });
}

/** Hashes a leaf slice by slice, because it is too long for memory. */
class Leaf {
    private readonly leaf: number;

    /** Creates the hasher of a leaf of a tree. */
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
    finish(): OwnBytes {
        return answer(running(), (exports) => exports.leaf_finish(this.leaf));
    }

    /** Ends the leaf without a digest. */
    free(): void {
        release((exports) => exports.leaf_end(this.leaf));
    }
}

/** Hashes pieces that follow one another in a tree over `total` bytes. Their bytes come in slices of any length. */
export class Feed {
    /** The digests of the pieces, one after the other. */
    readonly digests: OwnBytes;
    private index = 0;
    /** The number of bytes of the current piece so far; and they themselves, if they came in several slices. */
    private filled = 0;
    private held: OwnBytes = new Uint8Array();
    private leaf: Leaf | undefined;

    constructor(
        private readonly spec: Spec,
        private readonly total: number,
        private readonly pieces: readonly Subtree[],
    ) {
        this.digests = new Uint8Array(pieces.length * spec.size);
    }

    /** The length of slices of which none must be copied, in bytes. */
    get slice(): number {
        const [first] = this.pieces;
        return first && atOnce(first) ? first.len : PIECE;
    }

    /**
     * Appends bytes.
     *
     * @throws {MksumError} `length` if the pieces have fewer.
     */
    update(bytes: Uint8Array): void {
        for (let at = 0; at < bytes.length;) {
            const piece = this.pieces[this.index];
            if (!piece) throw new MksumError("length", `${bytes.length - at} bytes after the last piece`);
            const own = bytes.subarray(at, at + piece.len - this.filled);
            at += own.length;
            if (!atOnce(piece)) {
                (this.leaf ??= new Leaf(this.spec, this.total, piece)).update(own);
            } else if (own.length < piece.len) {
                if (this.held.length !== piece.len) this.held = new Uint8Array(piece.len);
                this.held.set(own, this.filled);
            }
            this.filled += own.length;
            if (this.filled === piece.len) this.settle(piece, own.length < piece.len ? this.held : own);
        }
    }

    private settle(piece: Subtree, bytes: Uint8Array): void {
        const digest = this.leaf ? this.leaf.finish() : subtree(this.spec, this.total, piece, bytes);
        this.leaf = undefined;
        this.digests.set(digest, this.index * this.spec.size);
        this.index++;
        this.filled = 0;
    }

    /** Gives up an unfinished piece. */
    free(): void {
        this.leaf?.free();
        this.leaf = undefined;
    }
}

/** Returns the root of a tree over `len` bytes from the digests of its pieces, in order. */
export function join(spec: Spec, len: number, atMost: number, digests: Uint8Array): Root {
    return withBlocks([digests], (engine, block) => {
        const named = write(engine, spec.text);
        return decoded(spec, len, answer(engine, (exports) => exports.join(named, len, atMost, block)));
    });
}

/** Returns the digests of all pieces of bytes in memory, in order. */
export function digestsIn(spec: Spec, atMost: number, bytes: Uint8Array): OwnBytes {
    const feed = new Feed(spec, bytes.length, cover(spec, bytes.length, atMost));
    try {
        feed.update(bytes);
        return feed.digests;
    } finally {
        feed.free();
    }
}

/** Returns whether a piece is hashed at once. A long leaf is hashed in slices. */
function atOnce(node: Subtree): boolean {
    return node.level > 0 || node.len <= 4 * PIECE;
}

/** Returns the root of bytes in memory, computed piece by piece. */
export function piecewise(spec: Spec, bytes: Uint8Array): Root {
    const atMost = pieceFor(bytes.length);
    return join(spec, bytes.length, atMost, digestsIn(spec, atMost, bytes));
}
