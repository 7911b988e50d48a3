import type { OwnBytes } from "./bytes.js";
import { text } from "./memory.js";
import type { Spec } from "./spec.js";

/** The root of an input: a digest with its format and the input's length. */
export class Root {
    readonly spec: Spec;
    /** The input's length, in bytes. */
    readonly len: number;
    /** The digest: `spec.size` bytes. */
    readonly digest: OwnBytes;
    /** The root as the format's tools print it: lowercase hex, or S3's text. */
    readonly text: string;

    /** @internal */
    constructor(spec: Spec, len: number, digest: OwnBytes, text: string) {
        this.spec = spec;
        this.len = len;
        this.digest = digest;
        this.text = text;
    }

    toString(): string {
        return this.text;
    }
}

/** Decodes the engine's answer: the digest, then the text. */
export function decoded(spec: Spec, len: number, answer: OwnBytes): Root {
    return new Root(spec, len, answer.slice(0, spec.size), text(answer.subarray(spec.size)));
}
