// The entry `mksum/log`: checks proofs of append-only logs (`spec/log.md`), with Web Cryptography.
import { type Bytes, bytesOf, type OwnBytes } from "./bytes.js";
import { MksumError } from "./errors.js";
import { sha256 } from "./log-crypto.js";
import { checkNote, isEqual, type Policy } from "./log-policy.js";
import type { Checkpoint, ConsistencyProof, LogProof } from "./log-text.js";

export type { Bytes } from "./bytes.js";
export { type ErrorCode, MksumError } from "./errors.js";
export { checkNote, parsePolicy, type Policy, verifyNote } from "./log-policy.js";
export {
    type Checkpoint,
    type ConsistencyProof,
    type LogProof,
    type Note,
    type NoteSignature,
    parseCheckpoint,
    parseConsistencyProof,
    parseKey,
    parseNote,
    parseProof,
    type VerifierKey,
} from "./log-text.js";

/** The longest entry of a log, in bytes. */
const LONGEST_ENTRY = 65_535;

/** The bytes before leaves and before pairs of nodes, which keep them apart. */
const [LEAF, PARENT] = [Uint8Array.of(0), Uint8Array.of(1)];

/**
 * Returns the hash of an entry as a leaf: SHA-256(0x00 ‖ entry) (RFC 6962, 2.1).
 *
 * @throws {MksumError} `length` if it has more than 65,535 bytes: no log has such an entry; `unsupported` if this engine has no Web
 * Cryptography.
 */
export async function entryHash(entry: Bytes): Promise<OwnBytes> {
    const bytes = bytesOf(entry);
    if (bytes.length > LONGEST_ENTRY) {
        throw new MksumError("length", `an entry has at most ${LONGEST_ENTRY} bytes, and this has ${bytes.length}: logs have the root of longer ones`);
    }
    return sha256(LEAF, bytes);
}

const invalid = (why: string) => new MksumError("proof", why);
const parent = (left: Uint8Array, right: Uint8Array) => sha256(PARENT, left, right);

/** Where a node of a tree is on its level, and the last node of that level. Both rise together. */
class Place {
    constructor(private node: bigint, private last: bigint) {}

    /** Rises to a node with a sibling, and returns whether that is to the left. */
    siblingIsLeft(): boolean {
        if ((this.node & 1n) === 0n && this.node !== this.last) return false;
        while ((this.node & 1n) === 0n && this.node !== 0n) this.rise();
        return true;
    }

    rise(): void {
        this.node >>= 1n;
        this.last >>= 1n;
    }

    isRoot(): boolean {
        return this.last === 0n;
    }

    /** Rises as long as the node is a right child. */
    riseToLeft(): void {
        while ((this.node & 1n) === 1n) this.rise();
    }
}

/**
 * Checks that a trusted log, and enough witnesses, signed a tree with `entry` at the proof's index (RFC 9162, 2.1.3.2).
 *
 * @param trusted A policy; or the text of one, such as a verifier key.
 * @throws {MksumError} `proof` if the checkpoint is not signed so, or the entry is another one or elsewhere; `length` if no log has so long
 * an entry; `unsupported` if this engine has no Ed25519: nothing was found out then.
 */
export async function checkProof(proof: LogProof, entry: Bytes, trusted: Policy | string): Promise<Checkpoint> {
    const leaf = await entryHash(entry);
    const checkpoint = await checkNote(proof.note, trusted);
    const { index, hashes } = proof;
    const { size, root } = checkpoint;
    if (index >= size) throw invalid(`the tree of ${size} entries has no entry ${index}`);
    const place = new Place(index, size - 1n);
    let found = leaf;
    for (const hash of hashes) {
        if (place.isRoot()) throw invalid(`the proof has ${hashes.length} hashes: fewer are expected`);
        found = await (place.siblingIsLeft() ? parent(hash, found) : parent(found, hash));
        place.rise();
    }
    if (!place.isRoot()) throw invalid(`the proof has ${hashes.length} hashes: more are expected`);
    if (!isEqual(found, root)) {
        throw invalid(`the proof does not lead from this entry at index ${index} to the root of the checkpoint: it is another entry, or another tree`);
    }
    return checkpoint;
}

/**
 * Checks that the newer checkpoint is signed as wanted, and that its tree extends that of the older one (RFC 9162, 2.1.4.2).
 *
 * @param old The older checkpoint, which the caller has checked with `checkNote`.
 * @param trusted A policy; or the text of one, such as a verifier key.
 * @throws {MksumError} `proof` if the newer one is not signed so, is of another log, or does not extend the older one; `unsupported` if
 * this engine has no Ed25519: nothing was found out then.
 */
export async function checkConsistency(proof: ConsistencyProof, old: Checkpoint, trusted: Policy | string): Promise<Checkpoint> {
    const checkpoint = await checkNote(proof.note, trusted);
    if (old.size !== proof.oldSize) {
        throw invalid(`the proof begins at size ${proof.oldSize}, and the older checkpoint has ${old.size} entries`);
    }
    if (old.origin !== checkpoint.origin) throw invalid(`the checkpoints are of two logs, ${old.origin} and ${checkpoint.origin}`);
    if (!(await extendsTree(old, proof.hashes, checkpoint))) {
        throw invalid(`the tree of ${checkpoint.size} entries does not extend this tree of ${old.size}`);
    }
    return checkpoint;
}

async function extendsTree(old: Checkpoint, hashes: readonly Uint8Array[], { size, root }: Checkpoint): Promise<boolean> {
    // Every tree extends that of no entries, and itself alone of its size.
    if (old.size === 0n) return hashes.length === 0 && isEqual(old.root, await sha256());
    if (old.size === size) return hashes.length === 0 && isEqual(old.root, root);
    if (old.size > size) return false;
    // The older tree is one subtree of the newer one if its size is a power of 2.
    const isWhole = (old.size & (old.size - 1n)) === 0n;
    const [first, ...others] = isWhole ? [old.root, ...hashes] : hashes;
    if (!first) return false;
    const place = new Place(old.size - 1n, size - 1n);
    place.riseToLeft();
    let [older, newer] = [first, first];
    for (const hash of others) {
        if (place.isRoot()) return false;
        if (place.siblingIsLeft()) {
            older = await parent(hash, older);
            newer = await parent(hash, newer);
        } else {
            newer = await parent(newer, hash);
        }
        place.rise();
    }
    return place.isRoot() && isEqual(older, old.root) && isEqual(newer, root);
}
