// Verdicts: a sign, a word and a sentence, never a colour alone.
import { shown } from "../text/format-name.js";
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
    const [sign, name] = signOf(state);
    return make("span", { class: `badge ${state}` }, make("span", { "aria-hidden": "true" }, sign), " ", word ?? name);
}

/** @param {string} state @returns {readonly string[]} */
function signOf(state) {
    return WORDS[/** @type {keyof typeof WORDS} */ (state)] ?? ["✗", state === "damaged" ? "Damaged" : "Error"];
}

/**
 * Returns the verdict about all files as the largest line of the page: the worst of their states.
 *
 * @param {readonly string[]} states
 */
export function overall(states) {
    const worst = ["error", "damaged", "mismatch", "pending", "unable", "match"].find((state) => states.includes(state));
    if (worst === undefined) return { state: "none", parts: /** @type {(HTMLElement | string)[]} */ ([]) };
    const [sign, name] = signOf(worst);
    const count = states.filter((state) => state === worst).length;
    const text = states.length === 1 ? name : `${name}: ${count === states.length ? "all" : count.toLocaleString("en-US")} of ${counted(states.length, "file")}`.replace("all of", "all");
    return { state: worst, parts: [make("span", { class: "sign", "aria-hidden": "true" }, sign ?? ""), text] };
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

/** @param {string} term @param {string} own @param {string} other */
const side = (term, own, other) =>
    make("div", {}, make("dt", {}, term), make("dd", {}, make("code", { "aria-label": own }, ...marked(own, other))));

/** @param {string} expected @param {string} found */
function difference(expected, found) {
    return make("dl", { class: "compared sides" }, side("expected", expected, found), side("found", found, expected));
}

/** Digits in a group. */
const GROUP = 8;

/** Returns a digest in groups, with the digits marked that differ from those of another one. @param {string} own @param {string} other */
function marked(own, other) {
    const groups = own.match(new RegExp(`.{1,${GROUP}}`, "gs")) ?? [];
    return groups.map((group, index) => {
        const runs = Array.from(group, (digit, at) => ({ digit, differs: digit !== other[index * GROUP + at] }));
        /** @type {{ text: string, differs: boolean }[]} */
        const joined = [];
        for (const { digit, differs } of runs) {
            const last = joined.at(-1);
            if (last && last.differs === differs) last.text += digit;
            else joined.push({ text: digit, differs });
        }
        return make("span", { class: "group" }, ...joined.map(({ text, differs }) => (differs ? make("mark", {}, text) : text)));
    });
}

/** @param {readonly [format: string, root: string][]} computed */
function ofFormats(computed) {
    return list(computed.map(([format, root]) => [shown(format), root]));
}

/** @param {readonly (readonly [term: string, digest: string])[]} rows */
function list(rows) {
    return make("dl", { class: "compared" }, ...rows.flatMap(([term, digest]) => [make("dt", {}, term), make("dd", {}, make("code", {}, digest))]));
}
