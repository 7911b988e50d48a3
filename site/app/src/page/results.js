// The results: a card for each of a few files, a table for many.
import { loaded } from "../engine.js";
import { sumFile } from "../known/sum-lines.js";
import { shown } from "../text/format-name.js";
import { counted, exactSize, size } from "../text/sizes.js";
import { announce } from "./announce.js";
import { copyButton } from "./copy-button.js";
import { damagePart } from "./damage-part.js";
import { button, byId, make } from "./dom.js";
import { saveText } from "./save.js";
import { toolsPart } from "./tools-part.js";
import { badge, overall, verdictLine } from "./verdict.js";

/** @typedef {import("../workspace.js").Item} Item @typedef {import("../workspace.js").Workspace} Workspace */

/** More files than this are shown as a table, of which this many rows are shown. */
const CARDS = 12;
const ROWS = 1000;

/** Shows the results of a workspace. @param {Workspace} workspace */
export function showResults(workspace) {
    /** @type {Map<Item, Card>} */
    const cards = new Map();
    let scheduled = false;
    let told = "";
    const render = () => {
        scheduled = false;
        const { items } = workspace;
        byId("results").hidden = items.length === 0 && workspace.checks.missing.length === 0;
        byId("app").classList.toggle("has-files", items.length > 0);
        const { state, parts } = overall(items.map((item) => stateOf(item, workspace.checks)));
        byId("overall").className = `overall ${state}`;
        byId("overall").replaceChildren(...parts);
        byId("overall").hidden = parts.length === 0;
        const many = items.length > CARDS;
        // Among many files, those that are compared with an outboard have cards.
        const withCards = many ? items.filter(({ comparison }) => comparison).slice(0, CARDS) : items;
        for (const [item, card] of cards) {
            if (withCards.includes(item)) continue;
            card.element.remove();
            cards.delete(item);
        }
        const list = byId("items");
        list.querySelector("table")?.parentElement?.remove();
        for (const item of withCards) {
            const card = cards.get(item) ?? new Card(item, workspace);
            if (!cards.has(item)) {
                cards.set(item, card);
                list.append(card.element);
            }
            card.render();
        }
        if (many) list.append(table(workspace));
        showMissing(workspace);
        const text = summary(workspace);
        byId("summary").textContent = text;
        if (workspace.jobs.size === 0 && text !== told && items.length > 0) announce(text);
        if (workspace.jobs.size === 0) told = text;
    };
    workspace.addEventListener("change", () => {
        if (scheduled) return;
        scheduled = true;
        setTimeout(render, 50);
    });
    byId("clear").addEventListener("click", () => {
        workspace.clear();
        announce("All files removed");
        byId("choose-files").focus();
    });
    byId("save-sums").addEventListener("click", async () => {
        try {
            await loaded();
        } catch (error) {
            byId("summary").textContent = String(error);
            return;
        }
        const { text, left } = sumFile(workspace.items);
        if (left > 0) announce(`${counted(left, "file")} without a digest are left out`);
        void saveText(text, "mksum.txt");
    });
}

/** Returns how many files match. @param {Workspace} workspace */
function summary({ items, checks, jobs }) {
    const states = items.map((item) => stateOf(item, checks));
    const count = (/** @type {string} */ state) => states.filter((own) => own === state).length;
    const parts = [`${counted(items.length, "file")}, ${size(items.reduce((sum, item) => sum + item.size, 0))}.`];
    const [match, wrong, damaged, unable, failed, missing] = [count("match"), count("mismatch"), count("damaged"), count("unable"), count("error"), checks.missing.length];
    if (match > 0) parts.push(`${counted(match, "file")} ${match === 1 ? "matches" : "match"}.`);
    if (wrong > 0) parts.push(`${counted(wrong, "file")} ${wrong === 1 ? "does" : "do"} not match.`);
    if (damaged > 0) parts.push(`${counted(damaged, "file")} ${damaged === 1 ? "is" : "are"} damaged.`);
    if (unable > 0) parts.push(`${counted(unable, "file")} cannot be checked.`);
    if (failed > 0) parts.push(`${counted(failed, "error")}.`);
    if (missing > 0) parts.push(`${counted(missing, "listed file")} ${missing === 1 ? "is" : "are"} missing.`);
    const unlisted = count("none");
    if (jobs.size === 0 && match + wrong + unable > 0 && unlisted > 0) parts.push(`${counted(unlisted, "file")} ${unlisted === 1 ? "is" : "are"} not listed.`);
    return parts.join(" ");
}

/**
 * Returns the state of a file: the worst of its verdicts.
 *
 * @param {Item} item
 * @param {import("../known/checks.js").Checks} checks
 * @returns {"error" | "damaged" | "mismatch" | "pending" | "unable" | "match" | "none"}
 */
export function stateOf(item, checks) {
    if (item.error) return "error";
    if (item.comparison?.state === "done" && (item.comparison.ranges.length > 0 || item.size !== item.comparison.outboard.len)) return "damaged";
    const states = checks.verdictsOf(item).map(({ state }) => state);
    if (item.comparison) states.push(item.comparison.state === "done" ? "match" : item.comparison.state === "busy" ? "pending" : "unable");
    const worst = /** @type {const} */ (["mismatch", "pending", "unable", "match"]);
    return worst.find((state) => states.includes(state)) ?? "none";
}

/** A file with its digests, verdicts, damage and tools. */
class Card {
    /** @param {Item} item @param {Workspace} workspace */
    constructor(item, workspace) {
        this.item = item;
        this.workspace = workspace;
        this.shown = "";
        this.content = make("div");
        this.damage = damagePart(item, workspace);
        this.tools = toolsPart(item, workspace);
        const remove = button("Remove", () => workspace.remove(item), { class: "small quiet", "aria-label": `Remove ${item.path}` });
        this.element = make(
            "article",
            { class: "card item", "aria-label": item.path },
            make("div", { class: "item-head" }, make("h3", {}, item.path), make("span", { class: "muted" }, exactSize(item.size)), remove),
            this.content,
            this.damage.element,
            this.tools.element,
        );
    }

    /** Shows what changed. */
    render() {
        const { item, workspace } = this;
        const verdicts = workspace.checks.verdictsOf(item);
        const key = JSON.stringify([[...item.roots], [...item.refused], item.error, item.busy, item.cancelled, verdicts]);
        if (key !== this.shown) {
            this.shown = key;
            this.content.replaceChildren(...content(item, verdicts, workspace));
        }
        this.damage.render();
        this.tools.render();
    }
}

/** @param {Item} item @param {import("../known/checks.js").Verdict[]} verdicts @param {Workspace} workspace */
function content(item, verdicts, workspace) {
    if (item.error) {
        const again = async () => {
            try {
                workspace.again(item, (await item.fresh?.()) ?? item.file);
            } catch (error) {
                announce(`${item.path} cannot be read: ${String(error)}`);
            }
        };
        return [make("div", { class: "verdict error", role: "alert" }, make("p", {}, badge("error"), " ", item.error), button("Try again", again, { class: "small" }))];
    }
    const lines = verdicts.map((verdict) => verdictLine(verdict, () => workspace.tryOthers()));
    const matching = new Set(verdicts.flatMap(({ state, format }) => (state === "match" && format ? [format] : [])));
    // Formats that were only tried are not shown.
    const formats = [...item.roots].filter(([format]) => workspace.formats.includes(format) || matching.has(format) || verdicts.some((own) => own.format === format));
    const rows = formats.flatMap(([format, root]) => [
        make("dt", {}, shown(format)),
        make("dd", {}, make("code", { class: "digest" }, root), copyButton(root, `${shown(format)} of ${item.path}`)),
    ]);
    for (const [format, reason] of item.refused) if (workspace.formats.includes(format)) rows.push(make("dt", {}, shown(format)), make("dd", { class: "muted" }, `none: ${reason}`));
    if (item.cancelled) lines.push(make("p", { class: "muted" }, "Cancelled. ", button("Hash it", () => workspace.resume(item), { class: "small" })));
    else if (item.busy && rows.length === 0) lines.push(make("p", { class: "muted" }, "Hashing …"));
    return [...lines, make("dl", { class: "digests" }, ...rows)];
}

/** @param {Workspace} workspace */
function table(workspace) {
    const { items, checks, formats } = workspace;
    const rank = { error: 0, mismatch: 0, damaged: 0, pending: 1, unable: 1, match: 2, none: 3 };
    const rows = items.map((item) => ({ item, state: stateOf(item, checks) })).toSorted((one, other) => rank[one.state] - rank[other.state] || (one.item.path < other.item.path ? -1 : 1));
    const column = formats[0] ?? items[0]?.roots.keys().next().value ?? "sha256";
    return make(
        "div",
        { class: "table-frame", tabindex: "0", role: "region", "aria-label": "Files" },
        make(
            "table",
            {},
            make("caption", {}, rows.length > ROWS ? `The first ${counted(ROWS, "file")}, problems first. The sum file has all.` : "All files, problems first."),
            make("thead", {}, make("tr", {}, ...["Result", "File", "Size", shown(column)].map((text) => make("th", { scope: "col" }, text)))),
            make("tbody", {}, ...rows.slice(0, ROWS).map(({ item, state }) => tableRow(item, state, column, checks))),
        ),
    );
}

/** @param {Item} item @param {ReturnType<typeof stateOf>} state @param {string} column @param {import("../known/checks.js").Checks} checks */
function tableRow(item, state, column, checks) {
    const wrong = item.error ?? checks.verdictsOf(item).find(({ state: own }) => own === state && (own === "mismatch" || own === "unable"))?.text;
    return make(
        "tr",
        {},
        make("td", {}, state === "none" ? (item.busy ? "…" : item.cancelled ? "cancelled" : "") : badge(state)),
        make("th", { scope: "row" }, item.path, wrong ? make("small", {}, wrong) : undefined),
        make("td", { class: "number" }, size(item.size)),
        make("td", {}, make("code", {}, item.roots.get(column) ?? "")),
    );
}

/** @param {Workspace} workspace */
function showMissing({ checks, items }) {
    const { missing } = checks;
    const element = byId("missing");
    if (missing.length === 0 || items.length === 0) return element.replaceChildren();
    const list = missing.slice(0, 100).map(({ entry, source }) => make("li", {}, make("code", {}, entry.path), ` (${source}, line ${entry.line})`));
    element.replaceChildren(
        make("details", { class: "card", open: missing.length <= 5 }, make("summary", {}, `${counted(missing.length, "listed file")} not here`), make("ul", {}, ...list), missing.length > 100 && make("p", {}, `and ${counted(missing.length - 100, "other")}`)),
    );
}
