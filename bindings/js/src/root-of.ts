import { type Bytes, bytesOf } from "./bytes.js";
import { INPUT, running } from "./engine.js";
import { MksumError } from "./errors.js";
import { Frontier } from "./frontier.js";
import { abortable, checked, lengthOf, type Options, read, slices, type Source } from "./input.js";
import { answer, write } from "./memory.js";
import { atOnce, cover, join, Leaf, piecewise, pieceFor, subtree, type Subtree } from "./pieces.js";
import { Root } from "./root.js";
import { Spec } from "./spec.js";

/**
 * Returns the root of bytes in memory.
 *
 * @throws {MksumError} `format` if the format has no root for this length; `argument` if there is no such format.
 */
export function root(spec: Spec | string, data: Bytes): Root {
    const format = Spec.parse(spec);
    const bytes = bytesOf(data);
    const engine = running();
    const named = write(engine, format.text);
    if (named + bytes.length <= INPUT) {
        engine.input.set(bytes, named);
        return new Root(format, bytes.length, answer(engine, (exports) => exports.root(named, named + bytes.length)));
    }
    return piecewise(format, bytes);
}

/**
 * Returns the root of the bytes of any source.
 *
 * @throws {MksumError} `format` if the format has no root for this length, or needs a length that a stream does not have;
 * `source` if the bytes cannot be read; the signal's reason.
 */
export async function rootOf(spec: Spec | string, source: Source, options: Options = {}): Promise<Root> {
    const format = Spec.parse(spec);
    checked(options);
    const len = lengthOf(source);
    if (len !== undefined) {
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

/** Returns the digests of all pieces of a source of known length, in order. */
export async function digestsOf(
    spec: Spec,
    len: number,
    atMost: number,
    source: Blob | Uint8Array,
    options: Options,
): Promise<Uint8Array<ArrayBuffer>> {
    const { signal, progress } = checked(options);
    const found = lengthOf(source);
    if (found !== len) throw new MksumError("source", `the source: expected ${len} bytes, found ${found}`);
    const pieces = cover(spec, len, atMost);
    const digests = new Uint8Array(pieces.length * spec.size);
    let [done, next] = [0, prefetch(pieces[0], source)];
    for (const [index, node] of pieces.entries()) {
        signal?.throwIfAborted();
        const bytes = next && (await abortable(next, signal));
        next = prefetch(pieces[index + 1], source);
        const before = done;
        const ofPiece = { signal, progress: (ofLeaf: number) => progress?.(before + ofLeaf, len) };
        const digest = bytes ? subtree(spec, len, node, bytes) : await longLeaf(spec, len, node, source, ofPiece);
        digests.set(digest, index * spec.size);
        done += node.len;
        if (bytes) progress?.(done, len);
    }
    return digests;
}

/** Reads a piece that is hashed at once, while the one before it is hashed. */
function prefetch(node: Subtree | undefined, source: Blob | Uint8Array): Promise<Uint8Array> | undefined {
    if (!node || !atOnce(node)) return undefined;
    const bytes = read(source, node.start, node.start + node.len);
    // A failure is reported when the promise is awaited.
    bytes.catch(() => {});
    return bytes;
}

/** Reads one piece of a source and returns its digest. */
export async function digestAt(
    spec: Spec,
    total: number,
    node: Subtree,
    source: Blob | Uint8Array,
): Promise<Uint8Array<ArrayBuffer>> {
    if (atOnce(node)) return subtree(spec, total, node, await read(source, node.start, node.start + node.len));
    return longLeaf(spec, total, node, source, {});
}

/** Reads and hashes a leaf slice by slice, and returns its digest. */
async function longLeaf(
    spec: Spec,
    total: number,
    node: Subtree,
    source: Blob | Uint8Array,
    options: Options,
): Promise<Uint8Array<ArrayBuffer>> {
    const leaf = new Leaf(spec, total, node);
    let finished = false;
    try {
        const end = node.start + node.len;
        const own = source instanceof Blob ? source.slice(node.start, end) : source.subarray(node.start, end);
        for await (const bytes of slices(own, options)) leaf.update(bytes);
        finished = true;
        return leaf.finish();
    } finally {
        if (!finished) leaf.free();
    }
}
