// Texts of append-only logs: proofs of entries, and the keys and policies that they are checked with (spec/log.md).
import { MksumError, parseCheckpoint, parsePolicy, parseProof } from "mksum/log";

/**
 * @typedef {{ kind: "log-proof", name: string, proof: import("mksum/log").LogProof, checkpoint: import("mksum/log").Checkpoint }} KnownLogProof
 * The checkpoint is as the proof claims it.
 * @typedef {{ kind: "trust", name: string, text: string, policy: import("mksum/log").Policy }} KnownTrust
 */

const PROOF = /^(c2sp\.org\/tlog-proof@v1\n|index \d+\n)/;
const KEY = /^[^\s+]+\+[0-9a-f]{8}\+[A-Za-z0-9+/]{40,}={0,2}\s*$/;

/** Returns whether a text is a key or has the lines of a policy. @param {string} text */
const isTrust = (text) => KEY.test(text) || (/^quorum[ \t]+\S+[ \t]*$/m.test(text) && /^(log|witness|group)[ \t]/m.test(text));

/** Returns whether a text is a proof by its beginning or its name. @param {string} text @param {string} name */
const isProof = (text, name) => PROOF.test(text) || /\.tlog-proof$/i.test(name);

/** Returns whether a text begins as one about a log. @param {string} text @param {string} name */
export const isOfLog = (text, name) => isProof(text, name) || isTrust(text);

/**
 * Recognises a proof of a log, a verifier key or a policy.
 *
 * @param {string} pasted
 * @param {string} name The name of the file that it comes from; empty if it was pasted.
 * @returns {Promise<KnownLogProof | KnownTrust | import("./recognise.js").Unknown | undefined>} `undefined` for other texts.
 */
export async function recogniseLog(pasted, name) {
    // A text that was copied may have lost its last newline.
    const text = name === "" && !pasted.endsWith("\n") ? `${pasted}\n` : pasted;
    try {
        if (isProof(text, name)) {
            const proof = parseProof(text);
            return { kind: "log-proof", name: name || "pasted proof", proof, checkpoint: parseCheckpoint(proof.note.text) };
        }
        return isTrust(text) ? { kind: "trust", name, text, policy: await parsePolicy(text) } : undefined;
    } catch (error) {
        if (!(error instanceof MksumError)) throw error;
        return { kind: "unknown", name, message: name ? `${name}: ${error.message}` : error.message };
    }
}
