// The list of what is known about the files, with what it was compared with.
import { counted, grouped } from "../text/sizes.js";
import { button, byId, make } from "./dom.js";
import { badge } from "./verdict.js";

/** @typedef {import("../known/recognise.js").Known} Known @typedef {import("../workspace.js").Workspace} Workspace */

/** @param {Workspace} workspace */
export function showKnown(workspace) {
    let shown = "";
    workspace.addEventListener("change", () => {
        const rows = workspace.known.map((known) => ({ known, text: describe(known), result: resultOf(known, workspace) }));
        const key = JSON.stringify(rows.map(({ text, result }) => [text, result]));
        if (key === shown) return;
        shown = key;
        byId("known-list").replaceChildren(...rows.map(({ known, text, result }) => row(known, text, result, workspace)));
    });
}

/** @param {Known} known @param {string} text @param {ReturnType<typeof resultOf>} result @param {Workspace} workspace */
function row(known, text, result, workspace) {
    const forget = button("Remove", () => {
        workspace.forget(known);
        byId("claim").focus();
    }, { class: "small quiet", "aria-label": `Remove: ${text}` });
    const malformed = known.kind === "sums" || known.kind === "claim" ? known.malformed : [];
    return make(
        "li",
        {},
        make("div", { class: "known-text" }, make("span", { class: "known-name" }, text), result && make("span", {}, badge(result.state, result.word), " ", result.text)),
        malformed.length > 0 &&
            make("details", { class: "problem" }, make("summary", {}, `${counted(malformed.length, "line")} cannot be read`),
                make("ul", {}, ...malformed.slice(0, 20).map(({ line, message }) => make("li", {}, `line ${line}: ${message}`)))),
        forget,
    );
}

/** @param {Known} known */
function describe(known) {
    switch (known.kind) {
        case "claim": return known.claim.lineOf && known.name ? `${known.name}: ${known.claim.text}` : known.claim.text;
        case "sums": return `${known.name}: ${counted(known.entries.length, "line")}`;
        case "outboard": return `${known.name}: outboard of ${grouped(known.outboard.len)} bytes, ${known.outboard.spec.text}`;
        case "log-proof": return `${known.name}: proof of entry ${known.proof.index} in the log ${known.checkpoint.origin}`;
        case "trust": return `Trusted for proofs of logs: ${trusted(known.policy)}`;
        case "proof": return `${known.name}: proof in ${known.proof.spec.text}`;
        default: return known.message;
    }
}

/** @param {readonly import("mksum/log").VerifierKey[]} keys */
const names = (keys) => keys.map(({ name }) => name).join(", ") || "none";

/** @param {import("mksum/log").Policy} policy */
function trusted({ logs, witnesses }) {
    const [first] = logs;
    return first && logs.length === 1 && witnesses.length === 0 ? first.text : `policy with logs ${names(logs)} and witnesses ${names(witnesses)}`;
}

/** Returns what became of it, if that is not shown with a file. @param {Known} known @param {Workspace} workspace @returns {{ state: "match" | "unable", word: string | undefined, text: string } | undefined} */
function resultOf(known, { checks, items, known: all }) {
    if (known.kind === "claim" && items.length > 0) {
        const found = checks.filesOf(known.claim);
        const [first] = found;
        if (first) return { state: "match", word: undefined, text: found.length > 1 ? counted(found.length, "file") : first.path };
        if (items.length > 1 && !items.some(({ busy }) => busy)) {
            const digest = known.claim.lineOf ? "a digest of this list" : "this digest";
            return { state: "unable", word: undefined, text: `None of these files has ${digest} in the formats that were tried.` };
        }
    }
    if (known.kind === "outboard") {
        // The root of an outboard, where another source names it too.
        const { root } = known.outboard;
        const isGiven = all.some((own) => (own.kind === "claim" ? own.claim.texts.has(root) : own.kind === "sums" && own.entries.some((entry) => entry.root === root)));
        if (isGiven) return { state: "match", word: "Trusted", text: "Its root is the one that you gave." };
    }
    return undefined;
}
