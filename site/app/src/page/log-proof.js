// Proofs of append-only logs: each is checked as soon as the entry and whom to trust are there.
import { checkProof, MksumError } from "mksum/log";
import { counted } from "../text/sizes.js";
import { announce } from "./announce.js";
import { make } from "./dom.js";
import { badge } from "./verdict.js";

/** @typedef {import("../known/recognise.js").KnownLogProof} KnownLogProof @typedef {import("../workspace.js").Item} Item @typedef {import("../workspace.js").Workspace} Workspace */
/** @typedef {{ state: "match" | "mismatch" | "unable", text: string }} Outcome */

/** The longest file that can be an entry, in bytes: one more for the newline at its end. */
const LONGEST = 65_536;
/** More files than this are not tried. */
const MOST = 100;

/** @param {KnownLogProof} known @param {Workspace} workspace */
export function logProofCard(known, workspace) {
    const { name, proof, checkpoint } = known;
    const out = make("div", { "aria-live": "polite" });
    let shown = "";
    const render = () => {
        const trust = workspace.known.filter((own) => own.kind === "trust").at(-1);
        const key = JSON.stringify([trust?.text, workspace.items.map(({ id, size, file }) => [id, size, file.lastModified])]);
        if (key === shown) return;
        shown = key;
        void outcomeOf(known, trust?.policy, workspace.items).then(({ state, text }) => {
            // The files may have changed meanwhile.
            if (key !== shown) return;
            out.replaceChildren(make("div", { class: `verdict ${state}` }, make("p", {}, badge(state), " ", text)));
            announce(text);
        });
    };
    const element = make("article", { class: "card proof", "aria-label": `Proof ${name}` },
        make("h3", {}, `Proof: ${name}`),
        make("p", {}, `It claims that a file is entry ${proof.index} of ${checkpoint.size} in the log `, make("code", {}, checkpoint.origin), ". Entries are counted from 0."), out);
    return { element, render };
}

/** @param {string} text @returns {Outcome} */
const unable = (text) => ({ state: "unable", text });

/**
 * Returns whether one of the files is the entry.
 *
 * @param {KnownLogProof} known
 * @param {import("mksum/log").Policy | undefined} policy
 * @param {readonly Item[]} items
 * @returns {Promise<Outcome>}
 */
async function outcomeOf({ proof, checkpoint }, policy, items) {
    if (!policy) return unable("Paste the key of the log above (NAME+ID+KEY), or a policy with its witnesses: the proof is only as good as the key that signed it.");
    const files = items.filter(({ size }) => size <= LONGEST);
    const [first] = files;
    if (!first) return unable(items.length === 0 ? "Add the file that is the entry." : `No file can be an entry of a log: all have more than ${(LONGEST - 1).toLocaleString("en-US")} bytes.`);
    if (files.length > MOST) return unable(`Add the file that is the entry alone: more than ${MOST} files are not tried.`);
    /** @type {MksumError | undefined} */
    let wrong;
    for (const { path, file } of files) {
        try {
            const way = await matches(proof, new Uint8Array(await file.arrayBuffer()), policy);
            return { state: "match", text: `${path}${way} is entry ${proof.index} of ${checkpoint.size} in the log ${checkpoint.origin}, which is signed as you trust.` };
        } catch (error) {
            if (!(error instanceof MksumError)) return unable(`${path} cannot be read: ${String(error)}`);
            if (error.code !== "proof" && error.code !== "length") return unable(error.message);
            wrong = error;
        }
    }
    const which = files.length === 1 ? first.path : `None of these ${counted(files.length, "file")}`;
    return { state: "mismatch", text: `${which}: ${wrong?.message}` };
}

/**
 * Checks an entry, also without the newline at the end of its file, as the tool does. Returns which of them it is.
 *
 * @param {import("mksum/log").LogProof} proof
 * @param {Uint8Array} bytes
 * @param {import("mksum/log").Policy} policy
 */
async function matches(proof, bytes, policy) {
    if (bytes.at(-1) === 10) {
        try {
            await checkProof(proof, bytes.subarray(0, -1), policy);
            return ", without the newline at its end,";
        } catch (error) {
            if (!(error instanceof MksumError) || error.code !== "proof") throw error;
        }
    }
    await checkProof(proof, bytes, policy);
    return "";
}
