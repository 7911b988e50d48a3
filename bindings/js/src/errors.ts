/** The kind of an error. */
export type ErrorCode =
    /** An argument has the wrong type, or is an unknown name. */
    | "argument"
    /** The buffer of the bytes was detached (for example transferred to a worker) or shrunk. */
    | "detached"
    /** A length or a position is out of range, or WebAssembly has not enough memory. */
    | "length"
    /** A hasher, frontier or pool was used after its end. */
    | "finished"
    /** WebAssembly is not loaded yet: call `await load()` first; or the host does not allow it. */
    | "not-loaded"
    /** The engine trapped: all later calls fail too. */
    | "broken"
    /** The format has no root for this input, or needs a length that a stream does not have. */
    | "format"
    /** The bytes are not a proof, or the proof is not valid. */
    | "proof"
    /** The bytes are not an outboard, or it is damaged. */
    | "outboard"
    /** The bytes are not a saved state of such a hasher, or are damaged. */
    | "state"
    /** This engine lacks what the check needs, such as Ed25519 in Web Cryptography. Nothing was found out. */
    | "unsupported"
    /** A source failed, or changed while it was read; or no worker could be started. */
    | "source";

/**
 * The error class of this package. Only an aborted signal rejects with its own reason, and an error that `progress` throws is
 * passed on.
 */
export class MksumError extends Error {
    /** The kind of the error. */
    readonly code: ErrorCode;

    constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
        super(message, options);
        this.name = "MksumError";
        this.code = code;
    }
}

/**
 * Returns the error of a call into WebAssembly that failed. It is `broken` after a trap, because the states in the module can no longer be
 * trusted. Errors of JavaScript, for example when memory cannot be allocated, change no state.
 */
export function failure(cause: unknown): MksumError {
    if (cause instanceof MksumError) return cause;
    if (cause instanceof WebAssembly.RuntimeError) {
        return new MksumError("broken", `the engine failed and has stopped: ${String(cause)}`, { cause });
    }
    return new MksumError(cause instanceof RangeError ? "length" : "argument", `the call failed: ${String(cause)}`, { cause });
}
