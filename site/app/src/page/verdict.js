// Verdicts: a sign, a word and a sentence, never a colour alone.
import { button, make } from "./dom.js";

/** @typedef {import("../known/checks.js").Verdict} Verdict */

const WORDS = { match: ["✓", "Match"], mismatch: ["✗", "Mismatch"], pending: ["…", "Comparing"], unable: ["?", "Not checked"] };

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
 * Returns a verdict as a line, for a mismatch with what was expected and found.
 *
 * @param {Verdict} verdict
 * @param {() => void} tryOthers
 */
export function verdictLine(verdict, tryOthers) {
    const { state, text, expected, found, others } = verdict;
    return make(
        "div",
        { class: `verdict ${state}` },
        make("p", {}, badge(state), " ", text),
        state === "mismatch" && expected !== undefined && found !== undefined && difference(expected, found),
        state === "mismatch" && expected !== undefined && found === undefined && make("p", { class: "compared" }, make("span", { class: "label" }, "expected"), " ", make("code", {}, expected)),
        others && button("Try other formats", tryOthers, { class: "small" }),
    );
}

/** @param {string} expected @param {string} found */
function difference(expected, found) {
    return make(
        "dl",
        { class: "compared" },
        make("dt", {}, "expected"), make("dd", {}, make("code", {}, expected)),
        make("dt", {}, "found"), make("dd", {}, make("code", {}, found)),
    );
}
