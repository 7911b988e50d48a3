// Texts of logs: base64 and numbers with one form each, signed notes, checkpoints, keys and proofs (`spec/log.md`).
import { type Bytes, bytesOf, type OwnBytes } from "./bytes.js";
import { MksumError } from "./errors.js";
import { sha256 } from "./log-crypto.js";

/** A public key with its name: `NAME+ID+KEY` (C2SP signed-note, "Verifier keys"). */
export interface VerifierKey {
    readonly name: string;
    /** The first four bytes of the hash of name and key, as eight hex digits. */
    readonly id: string;
    /** `log`: it signs notes (type 0x01); `witness`: it cosigns checkpoints (type 0x04). */
    readonly kind: "log" | "witness";
    /** The 32 bytes of Ed25519. */
    readonly key: OwnBytes;
    readonly text: string;
}

/** A line of a note with a signature, which is not verified. */
export interface NoteSignature {
    /** The name of the key. */
    readonly name: string;
    /** The identifier of the key: eight hex digits. */
    readonly id: string;
    readonly bytes: OwnBytes;
}

/** A signed note: a text with its last newline, and its signatures, none of which is verified (C2SP signed-note). */
export interface Note {
    readonly text: string;
    readonly signatures: readonly NoteSignature[];
}

/** A checkpoint: which log, how many entries it has, and the root of their tree (C2SP tlog-checkpoint). */
export interface Checkpoint {
    /** The name of the log: mostly its URL without the scheme. */
    readonly origin: string;
    /** The number of entries, at most 2^63. */
    readonly size: bigint;
    /** 32 bytes (RFC 6962, 2.1). */
    readonly root: OwnBytes;
    /** Further lines, which mean nothing to mksum. */
    readonly extensions: readonly string[];
}

/** A proof that an entry is in a log: a `.tlog-proof` file (C2SP tlog-proof). Nothing in it is trusted before `checkProof`. */
export interface LogProof {
    /** The index of the entry, from 0. */
    readonly index: bigint;
    /** The hashes beside the path from the entry to the root, the lowest first: at most 64 of 32 bytes. */
    readonly hashes: readonly OwnBytes[];
    /** The checkpoint. */
    readonly note: Note;
    /** Opaque data of an application, which nothing vouches for. */
    readonly extra: OwnBytes | undefined;
}

/** A proof that a log has only grown (C2SP tlog-witness). Nothing in it is trusted before `checkConsistency`. */
export interface ConsistencyProof {
    /** The number of entries of the older tree. */
    readonly oldSize: bigint;
    /** The hashes, in the order of RFC 9162, 2.1.4: at most 64 of 32 bytes. */
    readonly hashes: readonly OwnBytes[];
    /** The newer checkpoint. */
    readonly note: Note;
}

const LONGEST_NOTE = 1 << 20;
const LONGEST_EXTRA = 1 << 20;
const MOST_SIGNATURES = 256;
const MOST_HASHES = 64;
const FIRST_LINE = "c2sp.org/tlog-proof@v1";

/** Letters of texts that are refused: controls without the newline and those of Latin 1. */
const CONTROL = /[^\P{Cc}\n\x7f-\x9f]/u;

/** The error that a text is not what it should be. */
export function malformed(what: string, why: string): MksumError {
    return new MksumError("proof", `not ${what}: ${why}`);
}

const notKey = (why: string) => malformed("a verifier key", why);
const notNote = (why: string) => malformed("a signed note", why);
const notCheckpoint = (why: string) => malformed("a checkpoint", why);

/** Returns the text of an argument. The bytes of a text are UTF-8. */
function textOf(data: Bytes | string, what: string, longest: number): string {
    if (typeof data !== "string") {
        try {
            data = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(bytesOf(data)));
        } catch (cause) {
            if (cause instanceof MksumError) throw cause;
            throw malformed(what, "it is not UTF-8");
        }
    }
    if (data.length > longest) throw malformed(what, "it is too long");
    return data;
}

/** Reads base64: padded, with no bits left over, so that equal bytes have one text. */
function fromBase64(text: string): OwnBytes | undefined {
    if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4 !== 0) return undefined;
    const found = atob(text);
    return btoa(found) === text ? Uint8Array.from(found, (letter) => letter.charCodeAt(0)) : undefined;
}

function hashOf(text: string | undefined): OwnBytes | undefined {
    const hash = text === undefined ? undefined : fromBase64(text);
    return hash?.length === 32 ? hash : undefined;
}

/** Reads a decimal number below 2^64 without a sign or leading zeros. */
export function numberOf(text: string | undefined): bigint | undefined {
    if (text === undefined || !/^(?:0|[1-9]\d{0,19})$/.test(text)) return undefined;
    const number = BigInt(text);
    return number < 1n << 64n ? number : undefined;
}

const hex = (bytes: Uint8Array) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
const isName = (name: string) => /^[^\p{White_Space}+]+$/u.test(name) && !CONTROL.test(name);

/**
 * Reads a verifier key.
 *
 * @throws {MksumError} `proof` if it is none; `unsupported` if this engine has no Web Cryptography.
 */
export async function parseKey(text: string): Promise<VerifierKey> {
    if (text.startsWith("PRIVATE+KEY+")) throw notKey("it is a private key, which belongs to its log alone");
    const [name = "", id, ...rest] = text.split("+");
    if (rest.length === 0) throw notKey("expected NAME+ID+KEY");
    if (!isName(name)) throw notKey("its name is empty, or has spaces");
    const bytes = fromBase64(rest.join("+"));
    if (!bytes) throw notKey("the last part is not base64");
    const kind = bytes[0] === 1 ? "log" : bytes[0] === 4 ? "witness" : undefined;
    if (!kind) throw notKey("its algorithm is not supported: expected 0x01 or 0x04");
    if (bytes.length !== 33) throw notKey("an Ed25519 key has 32 bytes");
    const expected = hex((await sha256(new TextEncoder().encode(`${name}\n`), bytes)).subarray(0, 4));
    if (id !== expected) throw notKey(`its identifier is ${id}, and that of its name and key is ${expected}`);
    return { name, id, kind, key: bytes.slice(1), text };
}

/**
 * Reads a signed note, and verifies nothing.
 *
 * @throws {MksumError} `proof` if it has no signature, is longer than 1 MiB, is not UTF-8, or has control characters.
 */
export function parseNote(data: Bytes | string): Note {
    const all = textOf(data, "a signed note", LONGEST_NOTE);
    const control = all.search(CONTROL);
    if (control >= 0) throw notNote(`character ${control} is a control character`);
    const split = all.lastIndexOf("\n\n");
    if (split < 0) throw notNote("no empty line is before its signatures");
    if (!all.endsWith("\n") || all.length === split + 2) throw notNote("its last line has no newline, or it has no signature");
    const lines = all.slice(split + 2, -1).split("\n");
    if (lines.length > MOST_SIGNATURES) throw notNote(`it has more than ${MOST_SIGNATURES} signatures`);
    return { text: all.slice(0, split + 1), signatures: lines.map(signatureOf) };
}

function signatureOf(line: string): NoteSignature {
    const [, name, text = ""] = /^\u2014 ([^ ]*) (.*)$/u.exec(line) ?? [];
    if (name === undefined || !isName(name)) throw malformed("a signature line", "expected an em dash, a space, a name, a space and base64");
    const bytes = fromBase64(text);
    if (!bytes || bytes.length < 5) throw malformed("a signature line", "expected the base64 of 5 bytes or more");
    return { name, id: hex(bytes.subarray(0, 4)), bytes: bytes.slice(4) };
}

/**
 * Reads the text of a checkpoint: that of a note.
 *
 * @throws {MksumError} `proof` if it is none.
 */
export function parseCheckpoint(text: string): Checkpoint {
    if (!text.endsWith("\n")) throw notCheckpoint("its last line has no newline");
    const [origin = "", second, third, ...extensions] = text.slice(0, -1).split("\n");
    const [size, root] = [numberOf(second), hashOf(third)];
    if (origin === "" || /\p{Cc}/u.test(origin)) throw notCheckpoint("line 1, the origin, is empty or has control characters");
    if (size === undefined || size > 1n << 63n) throw notCheckpoint("line 2 is not the size, a decimal number of at most 2^63");
    if (!root) throw notCheckpoint("line 3 is not the root, the base64 of 32 bytes");
    if (extensions.includes("")) throw notCheckpoint("an extension line is empty");
    return { origin, size, root, extensions };
}

/** Returns the lines before the first empty one, and the note after it. */
function splitProof(data: Bytes | string, what: string): [lines: string[], note: Note] {
    const text = textOf(data, what, 2 * LONGEST_EXTRA + LONGEST_NOTE);
    const split = text.indexOf("\n\n");
    if (split < 0) throw malformed(what, "no empty line is before its checkpoint");
    return [text.slice(0, split).split("\n", MOST_HASHES + 5), parseNote(text.slice(split + 2))];
}

function hashesOf(lines: readonly string[], first: number, what: string): OwnBytes[] {
    if (lines.length - first > MOST_HASHES) throw malformed(what, `it has more than ${MOST_HASHES} hashes`);
    return lines.slice(first).map((line, at) => {
        const hash = hashOf(line);
        if (!hash) throw malformed(what, `line ${first + at + 1} is not the base64 of 32 bytes`);
        return hash;
    });
}

/**
 * Reads a `.tlog-proof`; one without the first line, as the prototype `spicy` wrote it, too.
 *
 * @throws {MksumError} `proof` if it is none: the message has the line.
 */
export function parseProof(data: Bytes | string): LogProof {
    const what = "a tlog-proof";
    const [lines, note] = splitProof(data, what);
    let at = lines[0] === FIRST_LINE ? 1 : 0;
    let extra: OwnBytes | undefined;
    if (at === 1 && lines[1]?.startsWith("extra ")) {
        extra = fromBase64(lines[at++]!.slice("extra ".length));
        if (!extra || extra.length > LONGEST_EXTRA) throw malformed(what, "line 2 has no base64 of at most 1 MiB");
    }
    const line = lines[at++] ?? "";
    const index = line.startsWith("index ") ? numberOf(line.slice("index ".length)) : undefined;
    if (index === undefined) throw malformed(what, `line ${at}: expected '${FIRST_LINE}' and 'index N'`);
    return { index, hashes: hashesOf(lines, at, what), note, extra };
}

/**
 * Reads a consistency proof, as `mksum log prove --from` writes it.
 *
 * @throws {MksumError} `proof` if it is none: the message has the line.
 */
export function parseConsistencyProof(data: Bytes | string): ConsistencyProof {
    const what = "a consistency proof";
    const [lines, note] = splitProof(data, what);
    const oldSize = lines[0]!.startsWith("old ") ? numberOf(lines[0]!.slice("old ".length)) : undefined;
    if (oldSize === undefined) throw malformed(what, "line 1: expected 'old N'");
    return { oldSize, hashes: hashesOf(lines, 1, what), note };
}
