// Verdicts: a sign, a word and a sentence, never a colour alone.
import { shown } from "../known/checks.js";
import { counted } from "../text/sizes.js";
import { button, make } from "./dom.js";

/** @typedef {import("../known/checks.js").Verdict} Verdict */

const WORDS = { match: ["✓", "Match"], mismatch: ["✗", "Mismatch"], pending: ["…", "Comparing"], unable: ["?", "Cannot check"] };

/**
 * Returns the sign and the word of a state.
 *
 * @param {keyof typeof WORDS | "damaged" | "error"} state
 * @param {string} [word]
 */
export function badge(state, word) {
    const [sign, name] = WORDS[/** @type {keyof typeof WORDS} */ (state)] ?? ["✗", state === "damaged" ? "Damaged" : "Error"];
    return make("span", { class: `badge ${state}` }, make("span", { "aria-hidden": "true" }, sign), " ", word ?? name);
}

/**
 * Returns a verdict as a line, with what was expected and found if there is no match.
 *
 * @param {Verdict} verdict
 * @param {() => void} tryOthers
 */
export function verdictLine(verdict, tryOthers) {
    const { state, text, expected, found, computed = [], others } = verdict;
    return make(
        "div",
        { class: `verdict ${state}` },
        make("p", {}, badge(state), " ", text),
        state === "mismatch" && expected !== undefined && found !== undefined && difference(expected, found),
        (state === "mismatch" || state === "unable") && expected !== undefined && found === undefined && make("p", { class: "compared" }, make("span", { class: "label" }, "expected"), " ", make("code", {}, expected)),
        computed.length > 0 && make("details", {}, make("summary", {}, `What was computed: ${counted(computed.length, "format")}`), ofFormats(computed)),
        others && button("Try other formats", tryOthers, { class: "small" }),
    );
}

/** @param {string} expected @param {string} found */
function difference(expected, found) {
    return list([["expected", expected], ["found", found]]);
}

/** @param {readonly [format: string, root: string][]} computed */
function ofFormats(computed) {
    return list(computed.map(([format, root]) => [shown(format), root]));
}

/** @param {readonly (readonly [term: string, digest: string])[]} rows */
function list(rows) {
    return make("dl", { class: "compared" }, ...rows.flatMap(([term, digest]) => [make("dt", {}, term), make("dd", {}, make("code", {}, digest))]));
}
