import { type Bytes, bytesOf, kind, whole } from "./bytes.js";
import { running } from "./engine.js";
import { MksumError } from "./errors.js";
import { answer, number, text, withBlocks, write } from "./memory.js";
import { Root } from "./root.js";
import { Spec } from "./spec.js";

/** What a proof shows: that bytes lie in an input, or that an input begins with an older one. */
export type Claim =
    | { readonly kind: "range"; readonly start: number; readonly end: number }
    | { readonly kind: "consistency"; readonly old: number };

/** What a verifier trusts, all of it from one place: a root, its format and, if that place tells it, the length. */
export interface Trusted {
    readonly spec: Spec | string;
    /** The root, as the format's tools print it. */
    readonly root: string | Root;
    /** The input's length, in bytes; what a proof shows without it tells {@link Spec.binding}. */
    readonly len?: number | undefined;
}

/** A proof about an input. Nothing in it is to be trusted: it holds if the root that comes of it is the one that is. */
export class Proof {
    readonly spec: Spec;
    /** The length that the proof says the input has, in bytes. */
    readonly len: number;
    /** What it shows if it holds. */
    readonly claim: Claim;
    /** The number of digests in it. */
    readonly digests: number;
    private readonly bytes: Uint8Array;

    private constructor(bytes: Uint8Array) {
        const facts = withBlocks([bytes], (engine, proof) => text(answer(engine, (exports) => exports.proof_facts(proof!))));
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
     * A proof that bytes `start..end` lie in the input in memory. Hashes the whole input.
     *
     * @throws {MksumError} `proof` if the range is empty or not within the input; `format` if there is no root.
     */
    static ofRange(spec: Spec | string, input: Bytes, start: number, end: number): Proof {
        const [from, to] = [whole(start, "start"), whole(end, "end")];
        return Proof.made(spec, input, (exports, named, block) => exports.prove_range(named, block, from, to));
    }

    /**
     * A proof that the input in memory begins with its first `old` bytes, as they were before it grew.
     *
     * @throws {MksumError} `proof` if `old` is 0 or too long, or the format's splits move.
     */
    static ofConsistency(spec: Spec | string, input: Bytes, old: number): Proof {
        const before = whole(old, "old");
        return Proof.made(spec, input, (exports, named, block) => exports.prove_consistency(named, block, before));
    }

    private static made(
        spec: Spec | string,
        input: Bytes,
        make: (exports: ReturnType<typeof running>["exports"], named: number, block: number) => number,
    ): Proof {
        const format = Spec.parse(spec);
        return new Proof(
            withBlocks([bytesOf(input)], (engine, block) => {
                const named = write(engine, format.text);
                return answer(engine, (exports) => make(exports, named, block!));
            }),
        );
    }

    /**
     * Reads a proof.
     *
     * @throws {MksumError} `proof` if the bytes are none.
     */
    static parse(bytes: Bytes): Proof {
        return new Proof(bytesOf(bytes).slice());
    }

    /** The proof as it is sent. */
    toBytes(): Uint8Array<ArrayBuffer> {
        return new Uint8Array(this.bytes);
    }

    /**
     * Checks that `bytes` are those of the range in the input whose root is trusted.
     *
     * @throws {MksumError} `proof` if they are not, or nobody can tell.
     */
    verifyRange(trusted: Trusted | Root, bytes: Bytes): void {
        withBlocks([this.bytes, bytesOf(bytes)], (engine, proof, held) => {
            const len = write(engine, lines(trusted));
            answer(engine, (exports) => exports.verify_range(proof!, len, held!));
        });
    }

    /**
     * Checks that the input whose root is trusted begins with the older one whose root is.
     *
     * @throws {MksumError} `proof` if it does not, or nobody can tell.
     */
    verifyConsistency(old: Trusted | Root, now: Trusted | Root): void {
        withBlocks([this.bytes], (engine, proof) => {
            const len = write(engine, `${lines(old)}\n${lines(now)}`);
            answer(engine, (exports) => exports.verify_consistency(proof!, len));
        });
    }
}

/** What is trusted, as the engine reads it: three lines. */
function lines(trusted: Trusted | Root): string {
    const { spec, len } = trusted;
    const root = trusted instanceof Root ? trusted.text : trusted.root instanceof Root ? trusted.root.text : trusted.root;
    if (typeof root !== "string" || root.includes("\n")) {
        throw new MksumError("argument", `expected a root as text, found ${kind(root)}`);
    }
    return `${Spec.parse(spec).text}\n${root}\n${len === undefined ? "" : whole(len, "len")}`;
}
