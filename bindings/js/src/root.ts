import { text } from "./memory.js";
import type { Spec } from "./spec.js";

/** The root of an input: a digest that carries its format and the input's length. */
export class Root {
    readonly spec: Spec;
    /** The input's length, in bytes. */
    readonly len: number;
    /** The digest alone: `spec.size` bytes. */
    readonly digest: Uint8Array<ArrayBuffer>;
    /** As the format's own tools print it: lower-case hex, or as S3 does. */
    readonly text: string;

    constructor(spec: Spec, len: number, answered: Uint8Array<ArrayBuffer>) {
        this.spec = spec;
        this.len = len;
        this.digest = answered.slice(0, spec.size);
        this.text = text(answered.subarray(spec.size));
    }

    toString(): string {
        return this.text;
    }
}
