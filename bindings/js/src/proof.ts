import { type Bytes, bytesOf, integer, type OwnBytes, unexpected } from "./bytes.js";
import { abortable, blobOf, checked, type Options, read } from "./input.js";
import { answer, number, text, withBlocks, write } from "./memory.js";
import { Outboard } from "./outboard.js";
import { cover, digestsIn, pieceFor, type Subtree } from "./pieces.js";
import { digestsOf } from "./root-of.js";
import { Root } from "./root.js";
import { Spec } from "./spec.js";

/** The claim of a proof: that bytes lie in an input, or that an input begins with an older one. */
export type Claim =
    | { readonly kind: "range"; readonly start: number; readonly end: number }
    | { readonly kind: "consistency"; readonly old: number };

/** The trusted data of a verifier, all from one source: a root, its format and, if available, the length. */
export interface Trusted {
    readonly spec: Spec | string;
    /** The root, as the format's tools print it. */
    readonly root: string | Root;
    /** The input's length, in bytes. {@link Spec.binding} states what a proof shows without it. */
    readonly len?: number | undefined;
}

/** The start of a claim about an older input: `wasm/src/tree_abi.rs`. */
const CONSISTENCY = -1;

/** A claim, encoded: the start of its range or {@link CONSISTENCY}, and its end. */
type Ends = readonly [start: number, end: number];

/** What a proof about an input of `len` bytes is made from: the pieces of a tree, or an outboard. */
interface Planned {
    readonly spec: Spec;
    readonly len: number;
    /** The length of pieces, at most. */
    readonly atMost: number;
    /** The outboard's bytes. */
    readonly kept: Uint8Array | undefined;
}

/**
 * Returns what a proof is made from.
 *
 * @throws {MksumError} `length` if the outboard is of an input of another length.
 */
function planned(of: Spec | string | Outboard, len: number): Planned {
    if (!(of instanceof Outboard)) return { spec: Spec.parse(of), len, atMost: pieceFor(len), kept: undefined };
    of.checkLength(len);
    // A piece must be a kept node.
    return { spec: of.spec, len, atMost: Math.max(of.unit, pieceFor(len)), kept: of.bytes };
}

/** The pieces in which a claim's range begins and ends. */
type Cut = readonly [Subtree, Subtree];

/** Returns the pieces in which a claim's range begins and ends, where it begins or ends within one. */
function cutAt({ spec, len, atMost, kept }: Planned, [start, end]: Ends): Cut {
    const pieces = cover(spec, len, atMost);
    const none = { start: 0, len: 0, level: 0 };
    // An outboard of a single unit has no digests below its root, which the proof has to lead to.
    if (kept && pieces.length === 1) return [pieces[0]!, none];
    const at = (place: number): Subtree => pieces.find((piece) => piece.start < place && place < piece.start + piece.len) ?? none;
    return [at(start), at(end)];
}

/** The bytes of the pieces that {@link cutAt} returns. */
type Held = readonly [Uint8Array, Uint8Array];

/** Returns an encoded proof, from the digests of all pieces if there is no outboard. */
function encoded({ spec, len, atMost, kept }: Planned, digests: Uint8Array | undefined, [first, last]: Cut, held: Held, ends: Ends): OwnBytes {
    return withBlocks([kept ?? digests!, ...held], (engine, block, head, tail) => {
        const rest = [first.start, head, last.start, tail, ...ends] as const;
        if (kept) return answer(engine, (exports) => exports.outboard_prove(block, ...rest));
        const named = write(engine, spec.text);
        return answer(engine, (exports) => exports.prove(named, len, atMost, block, ...rest));
    });
}

/** A proof about an input. Nothing in it is trusted: it is valid if it recomputes the trusted root. */
export class Proof {
    readonly spec: Spec;
    /** The input's length as stated by the proof, in bytes. */
    readonly len: number;
    /** The claim, which is true if the proof is valid. */
    readonly claim: Claim;
    /** The number of digests. */
    readonly digests: number;
    private readonly bytes: Uint8Array;

    private constructor(bytes: Uint8Array) {
        const facts = withBlocks([bytes], (engine, proof) => text(answer(engine, (exports) => exports.proof_facts(proof))));
        const [spec, len, claim, start, end, digests] = facts.split("\n");
        this.bytes = bytes;
        this.spec = Spec.parse(spec!);
        this.len = number(len, "the input's length");
        this.claim = claim === "range"
            ? { kind: "range", start: number(start, "a start"), end: number(end, "an end") }
            : { kind: "consistency", old: number(end, "a length") };
        this.digests = number(digests, "digests");
    }

    /**
     * Creates a proof that bytes `start..end` lie in the input in memory. Hashes the whole input, or with its outboard in the place of the
     * format only a unit or 1 MiB where the range begins and where it ends.
     *
     * @throws {MksumError} `proof` if the range is empty or not within the input; `format` if there is no root; `length` if the outboard
     * is of an input of another length, and `outboard` if it is damaged or differs from the input there.
     */
    static ofRange(of: Spec | string | Outboard, input: Bytes, start: number, end: number): Proof {
        return Proof.make(of, input, [integer(start, "start"), integer(end, "end")]);
    }

    /**
     * Creates a proof that the input in memory begins with an older input, its first `old` bytes.
     *
     * @throws {MksumError} `proof` if `old` is 0 or too long, or the format has no consistency proofs; otherwise as {@link Proof.ofRange}.
     */
    static ofConsistency(of: Spec | string | Outboard, input: Bytes, old: number): Proof {
        return Proof.make(of, input, [CONSISTENCY, integer(old, "old")]);
    }

    /**
     * Creates a proof that bytes `start..end` lie in a `Blob` or `File` of any length. Hashes the whole file, or with its outboard in the
     * place of the format reads only a unit or 1 MiB where the range begins and where it ends.
     *
     * @throws {MksumError} As {@link Proof.ofRange}; `source` if the file cannot be read; the signal's reason.
     */
    static async rangeOf(of: Spec | string | Outboard, file: Blob, start: number, end: number, options: Options = {}): Promise<Proof> {
        return Proof.makeOf(of, file, [integer(start, "start"), integer(end, "end")], options);
    }

    /**
     * Creates a proof that a `Blob` or `File` of any length begins with an older input, its first `old` bytes.
     *
     * @throws {MksumError} As {@link Proof.ofConsistency}; `source` if the file cannot be read; the signal's reason.
     */
    static async consistencyOf(of: Spec | string | Outboard, file: Blob, old: number, options: Options = {}): Promise<Proof> {
        return Proof.makeOf(of, file, [CONSISTENCY, integer(old, "old")], options);
    }

    private static make(of: Spec | string | Outboard, input: Bytes, ends: Ends): Proof {
        const bytes = bytesOf(input);
        const plan = planned(of, bytes.length);
        const cut = cutAt(plan, ends);
        const held = cut.map((piece) => bytes.subarray(piece.start, piece.start + piece.len)) as unknown as Held;
        return new Proof(encoded(plan, plan.kept ? undefined : digestsIn(plan.spec, plan.atMost, bytes), cut, held, ends));
    }

    private static async makeOf(of: Spec | string | Outboard, file: Blob, ends: Ends, options: Options): Promise<Proof> {
        const plan = planned(of, blobOf(file).size);
        const cut = cutAt(plan, ends);
        const { signal } = checked(options);
        const [digests] = plan.kept ? [] : await digestsOf([plan], plan.len, file, options);
        const reads = cut.map((piece) => abortable(read(file, piece.start, piece.start + piece.len), signal));
        return new Proof(encoded(plan, digests, cut, (await Promise.all(reads)) as unknown as Held, ends));
    }

    /**
     * Reads a proof.
     *
     * @throws {MksumError} `proof` if the bytes are not a proof.
     */
    static parse(bytes: Bytes): Proof {
        return new Proof(bytesOf(bytes).slice());
    }

    /** Returns the encoded proof. */
    toBytes(): OwnBytes {
        return new Uint8Array(this.bytes);
    }

    /**
     * Checks that `bytes` are the range of the input with the trusted root.
     *
     * @throws {MksumError} `proof` if they are not, or the proof cannot show it.
     */
    verifyRange(trusted: Trusted | Root, bytes: Bytes): void {
        withBlocks([this.bytes, bytesOf(bytes)], (engine, proof, held) => {
            const len = write(engine, lines(trusted));
            answer(engine, (exports) => exports.verify_range(proof, len, held));
        });
    }

    /**
     * Checks that the input with the trusted root `current` begins with the older input with the trusted root `old`.
     *
     * @throws {MksumError} `proof` if it does not, or the proof cannot show it.
     */
    verifyConsistency(old: Trusted | Root, current: Trusted | Root): void {
        withBlocks([this.bytes], (engine, proof) => {
            const len = write(engine, `${lines(old)}\n${lines(current)}`);
            answer(engine, (exports) => exports.verify_consistency(proof, len));
        });
    }
}

/** Encodes the trusted data for the engine, as three lines. */
function lines(trusted: Trusted | Root): string {
    if (typeof trusted !== "object" || trusted === null) {
        throw unexpected("expected a trusted root with its format", trusted);
    }
    const { spec, len } = trusted;
    const root = trusted instanceof Root ? trusted.text : trusted.root instanceof Root ? trusted.root.text : trusted.root;
    if (typeof root !== "string" || root.includes("\n")) {
        throw unexpected("expected a root as text", root);
    }
    return `${Spec.parse(spec).text}\n${root}\n${len === undefined ? "" : integer(len, "len")}`;
}
