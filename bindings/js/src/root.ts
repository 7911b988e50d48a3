import { text } from "./memory.js";
import type { Spec } from "./spec.js";

/** The root of an input: a digest with its format and the input's length. */
export class Root {
    readonly spec: Spec;
    /** The input's length, in bytes. */
    readonly len: number;
    /** The digest: `spec.size` bytes. */
    readonly digest: Uint8Array<ArrayBuffer>;
    /** The root as the format's tools print it: lowercase hex, or S3's text. */
    readonly text: string;

    /** Decodes the engine's answer: the digest, then the text. */
    constructor(spec: Spec, len: number, answer: Uint8Array<ArrayBuffer>) {
        this.spec = spec;
        this.len = len;
        this.digest = answer.slice(0, spec.size);
        this.text = text(answer.subarray(spec.size));
    }

    toString(): string {
        return this.text;
    }
}
