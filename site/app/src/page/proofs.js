// Proofs that were dropped: their claims, and their check against roots that the person trusts.
import { MksumError } from "mksum/fetch";
import { loaded } from "../engine.js";
import { claimOf } from "../known/claims.js";
import { counted, grouped, rangeText } from "../text/sizes.js";
import { announce } from "./announce.js";
import { button, byId, make } from "./dom.js";
import { logProofCard } from "./log-proof.js";
import { badge } from "./verdict.js";

/** @typedef {import("../known/recognise.js").KnownProof} KnownProof @typedef {import("../known/recognise.js").KnownLogProof} KnownLogProof @typedef {import("../workspace.js").Workspace} Workspace */

/** The longest range that is checked, in bytes: it must be in memory. */
const LONGEST = 1 << 30;

/** @param {Workspace} workspace */
export function showProofs(workspace) {
    /** @type {Map<KnownProof | KnownLogProof, { element: HTMLElement, render: () => void }>} */
    const cards = new Map();
    workspace.addEventListener("change", () => {
        const proofs = workspace.known.filter((known) => known.kind === "proof" || known.kind === "log-proof");
        for (const [known, { element }] of cards) {
            if (proofs.includes(known)) continue;
            element.remove();
            cards.delete(known);
        }
        for (const known of proofs) {
            const card = cards.get(known) ?? (known.kind === "proof" ? proofCard(known, workspace) : logProofCard(known, workspace));
            if (!cards.has(known)) {
                cards.set(known, card);
                byId("proofs").append(card.element);
            }
            card.render();
        }
    });
}

let number = 0;

/** @param {KnownProof} known @param {Workspace} workspace */
function proofCard({ name, proof }, workspace) {
    const id = `proof-${++number}`;
    const { claim, spec } = proof;
    const field = (/** @type {string} */ key, /** @type {string} */ label) => {
        const input = make("input", { type: "text", id: `${id}-${key}`, autocomplete: "off", spellcheck: "false" });
        return { input, element: make("div", { class: "field" }, make("label", { for: `${id}-${key}` }, label), input) };
    };
    const root = field("root", claim.kind === "range" ? "The file’s root that you trust" : "The newer file’s root that you trust");
    const len = field("len", spec.binding === "length" ? "The file’s length (not needed: the root says it)" : "The file’s length in bytes that you trust");
    const old = claim.kind === "consistency" ? field("old", `The older file’s root that you trust, ${grouped(claim.old)} bytes`) : undefined;
    const source = make("select", { id: `${id}-source` });
    const sources = make("div", { class: "field" }, make("label", { for: `${id}-source` }, "The bytes"), source);
    const out = make("div", { "aria-live": "polite" });

    const tell = (/** @type {"match" | "mismatch"} */ state, /** @type {string} */ text) => {
        out.replaceChildren(make("div", { class: `verdict ${state}` }, make("p", {}, badge(state, state === "match" ? "Valid" : "Not valid"), " ", text)));
        announce(text);
    };
    const trusted = (/** @type {HTMLInputElement} */ own, /** @type {number | undefined} */ length) => ({ spec, root: claimOf(own.value)?.text ?? own.value.trim(), len: length });
    const check = async () => {
        // Without the parser, the root must be written as its format prints it.
        await loaded().catch(() => {});
        const digits = len.input.value.replace(/[,_ ]/g, "");
        const length = digits === "" ? undefined : Number(digits);
        try {
            if (claim.kind === "consistency") {
                proof.verifyConsistency(trusted(/** @type {HTMLInputElement} */ (old?.input), claim.old), trusted(root.input, length));
                return tell("match", `The newer file begins with the ${grouped(claim.old)} bytes of the older one.`);
            }
            const item = workspace.items.find((own) => String(own.id) === source.value);
            if (!item) return tell("mismatch", `Add the file with bytes ${rangeText(claim)}, or the whole file.`);
            const span = claim.end - claim.start;
            if (span > LONGEST) return tell("mismatch", `The range has ${grouped(span)} bytes; this page checks at most ${grouped(LONGEST)}. Use mksum check-proof.`);
            const bytes = item.size === span ? item.file : item.file.slice(claim.start, claim.end);
            proof.verifyRange(trusted(root.input, length), new Uint8Array(await bytes.arrayBuffer()));
            tell("match", `Bytes ${rangeText(claim)} are in the file with this root.`);
        } catch (error) {
            tell("mismatch", error instanceof MksumError ? error.message : String(error));
        }
    };

    const render = () => {
        const [first] = workspace.known.flatMap((own) => (own.kind === "claim" && !own.claim.lineOf ? [own.claim.text] : []));
        if (first && root.input.value === "") root.input.value = first;
        const before = source.value;
        const fitting = claim.kind === "range" ? workspace.items.filter(({ size }) => size === claim.end - claim.start || size === proof.len) : [];
        source.replaceChildren(...fitting.map((item) => make("option", { value: String(item.id) }, item.size === proof.len && item.size !== (claim.kind === "range" ? claim.end - claim.start : 0) ? `${item.path}, its bytes ${claim.kind === "range" ? rangeText(claim) : ""}` : item.path)));
        if (fitting.length === 0) source.append(make("option", { value: "" }, "no file of this length yet"));
        if (fitting.some((item) => String(item.id) === before)) source.value = before;
    };
    const text = claim.kind === "range"
        ? `It claims that bytes ${rangeText(claim)} are in a file of ${grouped(proof.len)} bytes.`
        : `It claims that a file of ${grouped(proof.len)} bytes begins with an older file of ${grouped(claim.old)} bytes.`;
    const element = make("article", { class: "card proof", "aria-label": `Proof ${name}` },
        make("h3", {}, `Proof: ${name}`),
        make("p", {}, text, " Format ", make("code", {}, spec.text), `, ${counted(proof.digests, "digest")}.`),
        root.element, old?.element, len.element, claim.kind === "range" && sources,
        make("div", { class: "buttons" }, button("Check the proof", check, { class: "primary" })), out);
    return { element, render };
}
