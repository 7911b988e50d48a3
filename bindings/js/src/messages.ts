import type { OwnBytes } from "./bytes.js";
// What a pool and its workers send to each other.
import type { ErrorCode } from "./errors.js";
import type { FileLike } from "./hash-files.js";
import type { Subtree } from "./pieces.js";

/** A request to a worker: pieces of trees over a file to hash, in one read of a range of it; or many files. */
export type Job = { readonly id: number } & (
    | {
          readonly file: Blob;
          /** The range: its bytes `start..end`. */
          readonly start: number;
          readonly end: number;
          /** The format of each tree, and its pieces, which tile the range. */
          readonly trees: readonly { readonly spec: string; readonly pieces: readonly Subtree[] }[];
      }
    | { readonly files: readonly FileLike[]; readonly specs: readonly string[] }
);

/** What a pool sends to a worker that runs: a job, or that a job is no longer wanted. */
export type Message = Job | { readonly cancel: number };

/** The first message to a worker: the compiled engine, if this host can send it. */
export interface Start {
    readonly module: WebAssembly.Module | undefined;
}

/** An error as a message. */
export interface Refused {
    readonly code: ErrorCode;
    readonly message: string;
}

/** The roots of a file as a message, one for each format, or why there are none. */
export type RootsReply =
    | { readonly len: number; readonly roots: readonly { readonly digest: OwnBytes; readonly text: string }[] }
    | Refused;

/** A worker's reply, or the bytes of a range that it has hashed so far. */
export type Reply = { readonly id: number } & (
    | { readonly digests: readonly Uint8Array[] }
    | { readonly results: readonly RootsReply[] }
    | { readonly done: number }
    | Refused
);
