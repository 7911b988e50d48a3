import { type Bytes, bytesOf, integer, type OwnBytes } from "./bytes.js";
import { blobOf, checked, type Options } from "./input.js";
import { running } from "./engine.js";
import { answer, number, numbers, text, withBlocks, write } from "./memory.js";
import { digestsOf } from "./root-of.js";
import { digestsIn } from "./pieces.js";
import { MksumError } from "./errors.js";
import { Spec } from "./spec.js";

/** Damage to bytes `start..end` of the file, or to their digests in the outboard. */
export interface Damage {
    readonly of: "file" | "outboard";
    readonly start: number;
    readonly end: number;
}

/**
 * Returns the outboard of bytes in memory. Its units are the largest subtrees of at most `atMost` bytes, or single leaves.
 *
 * @throws {MksumError} `format` if the format has no root for this length; `length` if there are too many digests.
 */
export function keep(spec: Spec | string, atMost: number, input: Bytes): OwnBytes {
    const format = Spec.parse(spec);
    const unit = unitWithin(format, atMost);
    const bytes = bytesOf(input);
    return kept(format, bytes.length, unit, digestsIn(format, unit, bytes));
}

/**
 * Returns the outboard of a `Blob` or `File` of any length, as {@link keep} does.
 *
 * @throws {MksumError} As {@link keep}; `source` if the file cannot be read; the signal's reason.
 */
export async function keepOf(
    spec: Spec | string,
    atMost: number,
    file: Blob,
    options: Options = {},
): Promise<OwnBytes> {
    const format = Spec.parse(spec);
    const unit = unitWithin(format, atMost);
    const len = blobOf(file).size;
    const [digests] = await digestsOf([{ spec: format, atMost: unit }], len, file, checked(options));
    return kept(format, len, unit, digests!);
}

/** Returns the length of an outboard's units, at most `atMost` bytes, and at least a leaf. That of a plain sum is `Infinity`. */
function unitWithin(spec: Spec, atMost: number): number {
    const most = atMost === Infinity ? Number.MAX_SAFE_INTEGER : integer(atMost, "atMost", 1);
    const engine = running();
    const named = write(engine, spec.text);
    return numbers(answer(engine, (exports) => exports.unit(named, most)), 1)[0]![0]!;
}

function kept(spec: Spec, len: number, unit: number, digests: Uint8Array): OwnBytes {
    return withBlocks([digests], (engine, block) => {
        const named = write(engine, spec.text);
        return answer(engine, (exports) => exports.keep(named, len, unit, block));
    });
}

/** The kept nodes of a file. It is only as trustworthy as its root: compare {@link Outboard.root} with a trusted root. */
export class Outboard {
    readonly spec: Spec;
    /** The length of the file, in bytes. */
    readonly len: number;
    /** The length of a unit, the smallest subtree with a digest, in bytes. */
    readonly unit: number;
    /** The root of the file, as the format's tools print it. */
    readonly root: string;
    /** @internal */
    readonly bytes: Uint8Array;

    private constructor(bytes: Uint8Array) {
        const facts = withBlocks([bytes], (engine, block) => text(answer(engine, (exports) => exports.outboard_facts(block))));
        const [spec, len, unit, root] = facts.split("\n");
        this.bytes = bytes;
        this.spec = Spec.parse(spec!);
        this.len = number(len, "the file's length");
        this.unit = number(unit, "the unit");
        this.root = root!;
    }

    /**
     * Reads a finished outboard.
     *
     * @throws {MksumError} `outboard` if the bytes are not an outboard, or its header is damaged.
     */
    static open(bytes: Bytes): Outboard {
        return new Outboard(bytesOf(bytes).slice());
    }

    /**
     * Reads the tree that another program keeps over a file of `len` bytes: `bao encode --outboard` (`blake3`), `fsverity digest
     * --out-merkle-tree` (`fsverity`, with the salt and block size of the tree in `spec`) or `veritysetup format` (`dmverity`).
     *
     * @throws {MksumError} `outboard` if it is not such a tree, or has no digests because the file is a single leaf: compare its root then;
     * `format` if the format has no root for this length; `length` if there is not enough memory.
     */
    static openForeign(spec: Spec | string, len: number, tree: Bytes): Outboard {
        const [format, size] = [Spec.parse(spec), integer(len, "len")];
        return new Outboard(withBlocks([bytesOf(tree)], (engine, block) => {
            const named = write(engine, format.text);
            return answer(engine, (exports) => exports.outboard_from(named, size, block));
        }));
    }

    /** @internal Checks the length of the file. */
    checkLength(found: number): void {
        if (found !== this.len) throw new MksumError("length", `the file: expected ${this.len} bytes, found ${found}`);
    }

    /**
     * Returns the damage to the file in memory, and to the outboard.
     *
     * @throws {MksumError} `length` if the file has another length; `outboard` if the outboard is unusable.
     */
    damagedIn(input: Bytes): Damage[] {
        const file = bytesOf(input);
        this.checkLength(file.length);
        return this.damagedBy(digestsIn(this.spec, this.unit, file));
    }

    /**
     * Returns the damage to a `Blob` or `File`, read piece by piece, and to the outboard.
     *
     * @throws {MksumError} As {@link Outboard.damagedIn}; `source` if the file cannot be read; the signal's reason.
     */
    async damagedOf(file: Blob, options: Options = {}): Promise<Damage[]> {
        this.checkLength(blobOf(file).size);
        const wanted = { spec: this.spec, atMost: this.unit };
        const [digests] = await digestsOf([wanted], this.len, file, checked(options));
        return this.damagedBy(digests!);
    }

    /**
     * @internal Returns the digests of the units, one after the other, each checked up to the root.
     *
     * @throws {MksumError} `outboard` if one does not lead to the root.
     */
    units(): OwnBytes {
        return withBlocks([this.bytes], (engine, block) => answer(engine, (exports) => exports.outboard_units(block)));
    }

    /** @internal Returns the damage to a file with these digests of its pieces. */
    damagedBy(digests: Uint8Array): Damage[] {
        const found = withBlocks([this.bytes, digests], (engine, outboard, pieces) =>
            numbers(answer(engine, (exports) => exports.outboard_damaged(outboard, pieces)), 4),
        );
        return found.map(([of, start, len]) => ({ of: of ? "outboard" : "file", start: start!, end: start! + len! }));
    }
}
