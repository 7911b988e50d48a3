import type { HashName } from "./algorithms.js";
import { unexpected } from "./bytes.js";
import { running } from "./engine.js";
import { fromHex } from "./hex.js";
import { answer, number, text, write } from "./memory.js";

/** The facts that a root commits to, so that a proof shows them even without a trusted length. */
export type Binding = "nothing" | "leaves" | "offsets" | "length";

/** A format with all choices made, for example `rfc6962:sha256:64KiB`. */
export class Spec {
    /** The canonical text: `NAME[:HASH][:LEAF][:salt=HEX]`. */
    readonly text: string;
    /** The format's name. */
    readonly family: string;
    readonly hash: HashName;
    /** The length of a leaf, in bytes; for `mtsum`, the longest leaf; `Infinity` for a plain sum, which has only one. */
    readonly leaf: number;
    readonly salt: Uint8Array;
    /** The size of a digest, in bytes. */
    readonly size: number;
    /** Whether a stream of unknown length can be hashed. */
    readonly streams: boolean;
    /** The facts that a proof shows without a trusted length. */
    readonly binding: Binding;

    private constructor(facts: string) {
        const [text, family, hash, leaf, salt, size, streams, binding] = facts.split("\n") as [string, ...string[]];
        this.text = text;
        this.family = family!;
        this.hash = hash as HashName;
        this.leaf = number(leaf, "a leaf");
        this.salt = fromHex(salt!);
        this.size = number(size, "a digest");
        this.streams = streams === "true";
        this.binding = binding as Binding;
    }

    /**
     * Parses a format string, in which parts may be omitted: `rfc6962`, `plain:blake3:4KiB`.
     *
     * @throws {MksumError} `argument` if it is not a format string.
     */
    static parse(named: string | Spec): Spec {
        if (named instanceof Spec) return named;
        if (typeof named !== "string") {
            throw unexpected("expected a format's name", named);
        }
        const engine = running();
        const len = write(engine, named);
        return new Spec(text(answer(engine, (exports) => exports.spec_facts(len))));
    }

    toString(): string {
        return this.text;
    }
}

/** A format before its choices are made. */
export interface Family {
    readonly name: string;
    /** A description in one line. */
    readonly about: string;
    /** The program that prints the same root. */
    readonly sameAs: string;
    /** The allowed hashes, the default first. */
    readonly hashes: readonly HashName[];
    /** The default length of a leaf, in bytes; `Infinity` for a plain sum. */
    readonly leaf: number;
}

/** Returns all formats, the default first. */
export function formats(): Family[] {
    const lines = text(answer(running(), (exports) => exports.formats())).split("\n");
    return lines.map((line) => {
        const [name, about, sameAs, hashes, leaf] = line.split("\t") as [string, string, string, string, string];
        return { name, about, sameAs, hashes: hashes.split(",") as HashName[], leaf: number(leaf, "a leaf") };
    });
}
