import { MksumError } from "./errors.js";
import { lengthOf, type Options, read, slices, type Source } from "./input.js";
import { cover, join, Leaf, PIECE, pieceFor, subtree, type Subtree } from "./pieces.js";
import { Frontier, type Root } from "./root.js";
import { Spec } from "./spec.js";

/**
 * The root of bytes from anywhere.
 *
 * @throws {MksumError} `format` if the format has no root for so many bytes, or needs a length that a stream does not
 * tell; `source` if they cannot be read; the signal's reason.
 */
export async function rootOf(spec: Spec | string, source: Source, options: Options = {}): Promise<Root> {
    const format = Spec.parse(spec);
    const len = lengthOf(source);
    if (!format.streams && len !== undefined) {
        const atMost = pieceFor(len);
        const digests = await digestsOf(format, len, atMost, source as Blob, options);
        return join(format, len, atMost, digests);
    }
    const frontier = new Frontier(format);
    try {
        for await (const slice of slices(source, options)) frontier.update(slice);
        return frontier.root();
    } finally {
        frontier.free();
    }
}

/** The digests of all pieces of a source of known length, in their order. */
export async function digestsOf(
    spec: Spec,
    len: number,
    atMost: number,
    source: Blob | Uint8Array,
    { signal, progress }: Options,
): Promise<Uint8Array<ArrayBuffer>> {
    const found = lengthOf(source);
    if (found !== len) throw new MksumError("source", `the source has ${found} bytes, not ${len}`);
    const pieces = cover(spec, len, atMost);
    const digests = new Uint8Array(pieces.length * spec.size);
    let done = 0;
    for (const [index, node] of pieces.entries()) {
        signal?.throwIfAborted();
        digests.set(await digestAt(spec, len, node, source, signal), index * spec.size);
        done += node.len;
        progress?.(done, len);
    }
    return digests;
}

/** The digest of one piece of a source, which is read for it. */
export async function digestAt(
    spec: Spec,
    total: number,
    node: Subtree,
    source: Blob | Uint8Array,
    signal?: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>> {
    const end = node.start + node.len;
    if (node.level > 0 || node.len <= 4 * PIECE) {
        return subtree(spec, total, node, await read(source, node.start, end));
    }
    const leaf = new Leaf(spec, total, node);
    let finished = false;
    try {
        for (let at = node.start; at < end; at += PIECE) {
            signal?.throwIfAborted();
            leaf.update(await read(source, at, Math.min(at + PIECE, end)));
        }
        finished = true;
        return leaf.finish();
    } finally {
        if (!finished) leaf.free();
    }
}
