/** What went wrong, for programs. */
export type ErrorCode =
    /** An argument of the wrong type, or a name that nothing has. */
    | "argument"
    /** The bytes' buffer was detached (transferred to a worker, say) or shrunk under them. */
    | "detached"
    /** A length or a position out of range, or more memory than WebAssembly gives. */
    | "length"
    /** The hasher, or what else is used up, was used after its end. */
    | "finished"
    /** WebAssembly is not there yet: `await load()` first. */
    | "not-loaded"
    /** The engine failed within: no later call is answered. */
    | "broken"
    /** The format has no root for this input, or needs what a stream does not tell. */
    | "format"
    /** The bytes are no proof, or the proof does not hold. */
    | "proof"
    /** The bytes are no kept tree, or not one to be relied on. */
    | "outboard"
    /** A source failed, or changed while it was read. */
    | "source";

/** Every error of this package but an aborted signal's own reason. */
export class MksumError extends Error {
    /** What went wrong. */
    readonly code: ErrorCode;

    constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
        super(message, options);
        this.name = "MksumError";
        this.code = code;
    }
}
