import { type Bytes, bytesOf } from "./bytes.js";
import { INPUT, running } from "./engine.js";
import { MksumError } from "./errors.js";
import { Frontier } from "./frontier.js";
import { heard, lengthOf, type Options, read, slices, type Source } from "./input.js";
import { answer, write } from "./memory.js";
import { atOnce, cover, join, Leaf, piecewise, pieceFor, subtree, type Subtree } from "./pieces.js";
import { Root } from "./root.js";
import { Spec } from "./spec.js";

/**
 * The root of bytes in memory.
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
 * The root of bytes from anywhere.
 *
 * @throws {MksumError} `format` if the format has no root for so many bytes, or needs a length that a stream does not
 * tell; `source` if they cannot be read; the signal's reason.
 */
export async function rootOf(spec: Spec | string, source: Source, options: Options = {}): Promise<Root> {
    const format = Spec.parse(spec);
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
    let [done, next] = [0, ahead(pieces[0], source)];
    for (const [index, node] of pieces.entries()) {
        signal?.throwIfAborted();
        const bytes = next && (await heard(next, signal));
        next = ahead(pieces[index + 1], source);
        const before = done;
        const told = { signal, progress: (now: number) => progress?.(before + now, len) };
        const digest = bytes ? subtree(spec, len, node, bytes) : await longLeaf(spec, len, node, source, told);
        digests.set(digest, index * spec.size);
        done += node.len;
        if (bytes) progress?.(done, len);
    }
    return digests;
}

/** The bytes of a piece that is hashed at once, while the one before it is hashed. */
function ahead(node: Subtree | undefined, source: Blob | Uint8Array): Promise<Uint8Array> | undefined {
    if (!node || !atOnce(node)) return undefined;
    const bytes = read(source, node.start, node.start + node.len);
    // Its failure is told when it is waited for.
    bytes.catch(() => {});
    return bytes;
}

/** The digest of one piece of a source, which is read for it. */
export async function digestAt(
    spec: Spec,
    total: number,
    node: Subtree,
    source: Blob | Uint8Array,
): Promise<Uint8Array<ArrayBuffer>> {
    if (atOnce(node)) return subtree(spec, total, node, await read(source, node.start, node.start + node.len));
    return longLeaf(spec, total, node, source, {});
}

/** The digest of a leaf that is read and hashed slice by slice. */
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
