import { type Bytes, bytesOf, type OwnBytes } from "./bytes.js";
import { INPUT, running } from "./engine.js";
import { MksumError } from "./errors.js";
import { Frontier } from "./frontier.js";
import { checked, lengthOf, type Options, slices, type Source } from "./input.js";
import { answer, write } from "./memory.js";
import { cover, Feed, join, piecewise, pieceFor } from "./pieces.js";
import { decoded, type Root } from "./root.js";
import { Spec } from "./spec.js";

/** The longest slice that is read at once, in bytes. */
const SLICE = 1 << 22;

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
        return decoded(format, bytes.length, answer(engine, (exports) => exports.root(named, named + bytes.length)));
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
    const [found] = await rootsOf([spec], source, options);
    return found!;
}

/**
 * Returns the roots of the bytes of any source in several formats, in one read.
 *
 * @throws {MksumError} As {@link rootOf}, if one of the formats has no root.
 */
export async function rootsOf(specs: readonly (Spec | string)[], source: Source, options: Options = {}): Promise<Root[]> {
    const formats = parsed(specs);
    checked(options);
    const len = lengthOf(source);
    if (len !== undefined) {
        const wanted = formats.map((spec) => ({ spec, atMost: pieceFor(len) }));
        const digests = await digestsOf(wanted, len, source as Blob, options);
        return wanted.map(({ spec, atMost }, at) => join(spec, len, atMost, digests[at]!));
    }
    const frontiers: Frontier[] = [];
    try {
        for (const spec of formats) frontiers.push(new Frontier(spec));
        for await (const slice of slices(source, options)) for (const frontier of frontiers) frontier.update(slice);
        return frontiers.map((frontier) => frontier.root());
    } finally {
        for (const frontier of frontiers) frontier.free();
    }
}

/** Parses several formats. */
export function parsed(specs: readonly (Spec | string)[]): Spec[] {
    if (!Array.isArray(specs) || specs.length === 0) throw new MksumError("argument", "expected formats, found none");
    return specs.map((spec) => Spec.parse(spec as Spec | string));
}

/** A tree whose digests are wanted: its format, and the length of its pieces in bytes, at most. */
export interface Wanted {
    readonly spec: Spec;
    readonly atMost: number;
}

/** Returns the digests of all pieces of several trees over a source of known length, in one read. */
export async function digestsOf(
    wanted: readonly Wanted[],
    len: number,
    source: Blob | Uint8Array,
    options: Options,
): Promise<OwnBytes[]> {
    const found = lengthOf(source);
    if (found !== len) throw new MksumError("source", `the source: expected ${len} bytes, found ${found}`);
    if (options.pool && source instanceof Blob) return options.pool.digestsOf(wanted, source, options);
    return feedAll(wanted.map(({ spec, atMost }) => new Feed(spec, len, cover(spec, len, atMost))), source, options);
}

/** Reads a source and feeds it to all feeds. Returns their digests. */
export async function feedAll(
    feeds: readonly Feed[],
    source: Blob | Uint8Array,
    options: Options,
): Promise<OwnBytes[]> {
    const slice = Math.min(Math.max(...feeds.map((feed) => feed.slice)), SLICE);
    try {
        for await (const bytes of slices(source, options, slice)) for (const feed of feeds) feed.update(bytes);
        return feeds.map((feed) => feed.digests);
    } finally {
        for (const feed of feeds) feed.free();
    }
}
