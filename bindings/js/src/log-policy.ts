// Policies: which logs are trusted, and which witnesses must have cosigned (C2SP tlog-policy); and signatures.
import { MksumError } from "./errors.js";
import { isSignature } from "./log-crypto.js";
import { type Checkpoint, malformed, type Note, numberOf, parseCheckpoint, parseKey, type VerifierKey } from "./log-text.js";

/** A policy: the keys of logs, and the quorum of witnesses. */
export interface Policy {
    /** The keys of the trusted logs. */
    readonly logs: readonly VerifierKey[];
    /** The keys of the witnesses, of the quorum or not. */
    readonly witnesses: readonly VerifierKey[];
    /** Whether the witnesses that cosigned are enough. */
    readonly isQuorum: (cosigned: readonly VerifierKey[]) => boolean;
}

type IsThere = (cosigned: readonly VerifierKey[]) => boolean;

const LONGEST = 1 << 18;
const notPolicy = (why: string) => malformed("a policy", why);
const USAGE = "expected 'log KEY [URL]', 'witness NAME KEY [URL]', 'group NAME any|all|K NAME...' or 'quorum NAME'";

/**
 * Reads a policy; or a verifier key, whose log is trusted then, without witnesses.
 *
 * @throws {MksumError} `proof` if it is neither: the message has the line; `unsupported` if this engine has no Web Cryptography.
 */
export async function parsePolicy(text: string): Promise<Policy> {
    if (!/[\n ]/.test(text.trimEnd())) {
        const key = await parseKey(text.trimEnd());
        return { logs: [key], witnesses: [], isQuorum: () => true };
    }
    if (text.length > LONGEST) throw notPolicy("it is longer than 256 KiB");
    if (!text.endsWith("\n")) throw notPolicy("its last line has no newline");
    const policy = new Reading();
    for (const [at, line] of text.split("\n").entries()) {
        try {
            await policy.line(line);
        } catch (cause) {
            if (cause instanceof MksumError && cause.code === "unsupported") throw cause;
            throw notPolicy(`line ${at + 1}: ${(cause as Error).message}`);
        }
    }
    const { logs, witnesses, quorum } = policy;
    if (!quorum) throw notPolicy("it has no line 'quorum NAME'; 'quorum none' asks for no witness");
    return { logs, witnesses, isQuorum: quorum };
}

/** A policy as far as it was read. */
class Reading {
    readonly logs: VerifierKey[] = [];
    readonly witnesses: VerifierKey[] = [];
    quorum: IsThere | undefined;
    /** The members by name. A group has members of lines above its own alone. */
    private readonly members = new Map<string, IsThere>();
    /** The members that are in a group: each is in one at most. */
    private readonly used = new Set<string>();

    async line(line: string): Promise<void> {
        if (/[^\P{Cc}\t\x80-\x9f]/u.test(line)) throw new Error("control characters are not allowed");
        const [kind, ...words] = line.split(/[ \t]+/).filter((word) => word !== "");
        const [first = "", second = "", ...rest] = words;
        if (kind === undefined || kind.startsWith("#")) return;
        if (kind === "log" && (words.length === 1 || words.length === 2)) {
            this.logs.push(await this.key(first, "log", this.logs));
        } else if (kind === "witness" && (words.length === 2 || words.length === 3)) {
            const key = await this.key(second, "witness", this.witnesses);
            this.add(first, (cosigned) => cosigned.includes(key));
            this.witnesses.push(key);
        } else if (kind === "group" && rest.length > 0) {
            const needed = second === "any" ? 1n : second === "all" ? BigInt(rest.length) : numberOf(second);
            if (needed === undefined || needed < 1n || needed > BigInt(rest.length)) {
                throw new Error(`expected any, all or a number from 1 to ${rest.length}`);
            }
            const members = rest.map((name) => this.take(name));
            this.add(first, (cosigned) => BigInt(members.filter((isThere) => isThere(cosigned)).length) >= needed);
        } else if (kind === "quorum" && words.length === 1) {
            if (this.quorum) throw new Error("a policy has one quorum");
            this.quorum = first === "none" ? () => true : this.find(first);
        } else {
            throw new Error(USAGE);
        }
    }

    private async key(text: string, kind: VerifierKey["kind"], others: readonly VerifierKey[]): Promise<VerifierKey> {
        const key = await parseKey(text);
        if (key.kind !== kind) throw new Error(`the key of a ${kind} begins with the type ${kind === "log" ? "0x01" : "0x04"}`);
        if (others.some((other) => isEqual(other.key, key.key))) throw new Error(`the key of ${key.name} is there twice`);
        return key;
    }

    private add(name: string, isThere: IsThere): void {
        if (name === "none") throw new Error("the name none is taken");
        if (this.members.has(name)) throw new Error(`${name} is defined twice`);
        this.members.set(name, isThere);
    }

    private find(name: string): IsThere {
        const member = this.members.get(name);
        if (!member) throw new Error(`no line above defines ${name}`);
        return member;
    }

    private take(name: string): IsThere {
        const member = this.find(name);
        if (this.used.has(name)) throw new Error(`${name} is in two groups, or twice in one`);
        this.used.add(name);
        return member;
    }
}

/** Whether bytes are equal. */
export const isEqual = (one: Uint8Array, other: Uint8Array): boolean =>
    one.length === other.length && one.every((byte, at) => byte === other[at]);

/**
 * Verifies the signature of a note by a key.
 *
 * @returns The time of a witness's cosignature, in seconds since 1970, and 0n for a log's signature; undefined if the key did not sign it.
 * @throws {MksumError} `proof` if a signature claims to be by the key, and is not valid; `unsupported` if this engine has no Ed25519.
 */
export async function verifyNote(note: Note, key: VerifierKey): Promise<bigint | undefined> {
    let found: bigint | undefined;
    for (const { name, id, bytes } of note.signatures) {
        if (name !== key.name || id !== key.id) continue;
        const head = key.kind === "witness" ? 8 : 0;
        const time = bytes.slice(0, head).reduce<bigint>((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
        const text = key.kind === "witness" ? `cosignature/v1\ntime ${time}\n${note.text}` : note.text;
        const message = new TextEncoder().encode(text);
        const isValid = bytes.length === head + 64 && time < 1n << 63n && (await isSignature(name, key.key, message, bytes.slice(head)));
        if (isValid === undefined) throw malformed("a verifier key", "its bytes are not a key of Ed25519");
        if (!isValid) {
            throw new MksumError("proof", `the signature of ${key.name} is not valid: the note was changed, or another key of that name signed it`);
        }
        found ??= time;
    }
    return found;
}

/**
 * Checks that a note is a checkpoint which a trusted log signed and enough witnesses cosigned.
 *
 * @param trusted A policy; or the text of one, such as a verifier key.
 * @throws {MksumError} `proof` if it is not; `unsupported` if this engine has no Ed25519: nothing was found out then.
 */
export async function checkNote(note: Note, trusted: Policy | string): Promise<Checkpoint> {
    const policy = typeof trusted === "string" ? await parsePolicy(trusted) : trusted;
    const checkpoint = parseCheckpoint(note.text);
    const signers = async (keys: readonly VerifierKey[]) => {
        const times = await Promise.all(keys.map((key) => verifyNote(note, key)));
        return keys.filter((_, at) => times[at] !== undefined);
    };
    const logs = policy.logs.filter((key) => key.name === checkpoint.origin);
    if ((await signers(logs)).length === 0) {
        const names = policy.logs.map((key) => key.text).join(", ") || "none";
        throw new MksumError("proof", `the checkpoint of ${checkpoint.origin} is not signed by a trusted log: trusted are ${names}`);
    }
    const cosigned = await signers(policy.witnesses);
    if (!policy.isQuorum(cosigned)) {
        const count = `${cosigned.length} of ${policy.witnesses.length}`;
        throw new MksumError("proof", `the checkpoint is cosigned by ${count} witnesses of the policy, which is no quorum`);
    }
    return checkpoint;
}
