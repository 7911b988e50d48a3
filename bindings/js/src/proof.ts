import { type Bytes, bytesOf, integer, type OwnBytes, unexpected } from "./bytes.js";
import { abortable, blobOf, checked, type Options, read } from "./input.js";
import { answer, number, text, withBlocks, write } from "./memory.js";
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

/** Returns the pieces in which a range begins and ends, where it begins or ends within one. */
function cutAt(spec: Spec, len: number, atMost: number, start: number, end: number): readonly [Subtree, Subtree] {
    const pieces = cover(spec, len, atMost);
    const none = { start: 0, len: 0, level: 0 };
    const at = (place: number): Subtree => pieces.find((piece) => piece.start < place && place < piece.start + piece.len) ?? none;
    return [at(start), at(end)];
}

/** Returns an encoded proof, from the digests of all pieces and the bytes of those that {@link cutAt} returns. */
function proof(
    spec: Spec,
    len: number,
    atMost: number,
    digests: Uint8Array,
    [first, last]: readonly [Subtree, Subtree],
    held: readonly [Uint8Array, Uint8Array],
    start: number,
    end: number,
): OwnBytes {
    return withBlocks([digests, ...held], (engine, block, head, tail) => {
        const named = write(engine, spec.text);
        return answer(engine, (exports) => exports.prove(named, len, atMost, block, first.start, head, last.start, tail, start, end));
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
     * Creates a proof that bytes `start..end` lie in the input in memory. Hashes the whole input.
     *
     * @throws {MksumError} `proof` if the range is empty or not within the input; `format` if there is no root.
     */
    static ofRange(spec: Spec | string, input: Bytes, start: number, end: number): Proof {
        return Proof.make(spec, input, integer(start, "start"), integer(end, "end"));
    }

    /**
     * Creates a proof that the input in memory begins with an older input, its first `old` bytes.
     *
     * @throws {MksumError} `proof` if `old` is 0 or too long, or the format has no consistency proofs.
     */
    static ofConsistency(spec: Spec | string, input: Bytes, old: number): Proof {
        return Proof.make(spec, input, CONSISTENCY, integer(old, "old"));
    }

    /**
     * Creates a proof that bytes `start..end` lie in a `Blob` or `File` of any length. Hashes the whole file.
     *
     * @throws {MksumError} As {@link Proof.ofRange}; `source` if the file cannot be read; the signal's reason.
     */
    static async rangeOf(spec: Spec | string, file: Blob, start: number, end: number, options: Options = {}): Promise<Proof> {
        return Proof.makeOf(spec, file, integer(start, "start"), integer(end, "end"), options);
    }

    /**
     * Creates a proof that a `Blob` or `File` of any length begins with an older input, its first `old` bytes.
     *
     * @throws {MksumError} As {@link Proof.ofConsistency}; `source` if the file cannot be read; the signal's reason.
     */
    static async consistencyOf(spec: Spec | string, file: Blob, old: number, options: Options = {}): Promise<Proof> {
        return Proof.makeOf(spec, file, CONSISTENCY, integer(old, "old"), options);
    }

    private static make(spec: Spec | string, input: Bytes, start: number, end: number): Proof {
        const [format, bytes] = [Spec.parse(spec), bytesOf(input)];
        const atMost = pieceFor(bytes.length);
        const cut = cutAt(format, bytes.length, atMost, start, end);
        const held = cut.map((piece) => bytes.subarray(piece.start, piece.start + piece.len)) as [Uint8Array, Uint8Array];
        return new Proof(proof(format, bytes.length, atMost, digestsIn(format, atMost, bytes), cut, held, start, end));
    }

    private static async makeOf(spec: Spec | string, file: Blob, start: number, end: number, options: Options): Promise<Proof> {
        const [format, len] = [Spec.parse(spec), blobOf(file).size];
        const atMost = pieceFor(len);
        const cut = cutAt(format, len, atMost, start, end);
        const [digests] = await digestsOf([{ spec: format, atMost }], len, file, checked(options));
        const held = cut.map((piece) => abortable(read(file, piece.start, piece.start + piece.len), options.signal));
        return new Proof(proof(format, len, atMost, digests!, cut, await Promise.all(held) as [Uint8Array, Uint8Array], start, end));
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
