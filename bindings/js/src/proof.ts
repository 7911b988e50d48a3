import { type Bytes, bytesOf, integer, kind } from "./bytes.js";
import { running } from "./engine.js";
import { MksumError } from "./errors.js";
import { answer, number, text, withBlocks, write } from "./memory.js";
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
        const [from, to] = [integer(start, "start"), integer(end, "end")];
        return Proof.make(spec, input, (exports, named, block) => exports.prove_range(named, block, from, to));
    }

    /**
     * Creates a proof that the input in memory begins with an older input, its first `old` bytes.
     *
     * @throws {MksumError} `proof` if `old` is 0 or too long, or the format has no consistency proofs.
     */
    static ofConsistency(spec: Spec | string, input: Bytes, old: number): Proof {
        const before = integer(old, "old");
        return Proof.make(spec, input, (exports, named, block) => exports.prove_consistency(named, block, before));
    }

    private static make(
        spec: Spec | string,
        input: Bytes,
        make: (exports: ReturnType<typeof running>["exports"], named: number, block: number) => number,
    ): Proof {
        const format = Spec.parse(spec);
        return new Proof(
            withBlocks([bytesOf(input)], (engine, block) => {
                const named = write(engine, format.text);
                return answer(engine, (exports) => make(exports, named, block));
            }),
        );
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
    toBytes(): Uint8Array<ArrayBuffer> {
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
        throw new MksumError("argument", `expected a trusted root with its format, found ${kind(trusted)}`);
    }
    const { spec, len } = trusted;
    const root = trusted instanceof Root ? trusted.text : trusted.root instanceof Root ? trusted.root.text : trusted.root;
    if (typeof root !== "string" || root.includes("\n")) {
        throw new MksumError("argument", `expected a root as text, found ${kind(root)}`);
    }
    return `${Spec.parse(spec).text}\n${root}\n${len === undefined ? "" : integer(len, "len")}`;
}
