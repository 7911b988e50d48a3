// What an outboard says about a file: intact, or its damaged ranges, and their repair.
import { damagedBytes } from "../damage/compare.js";
import { loaded } from "../engine.js";
import { tool } from "../internal.js";
import { messageOf } from "../hashing/messages.js";
import { counted, grouped, rangeText } from "../text/sizes.js";
import { announce } from "./announce.js";
import { damageStrip } from "./damage-strip.js";
import { make } from "./dom.js";
import { repairPart } from "./repair-part.js";
import { treePicture } from "./tree-picture.js";
import { badge } from "./verdict.js";

/** @typedef {import("../workspace.js").Item} Item @typedef {import("../workspace.js").Workspace} Workspace */

/**
 * Returns the part of a file's card about its damage.
 *
 * @param {Item} item
 * @param {Workspace} workspace
 */
export function damagePart(item, workspace) {
    const element = make("div", { class: "damage" });
    let shown = "";
    const render = () => {
        const { comparison } = item;
        const key = comparison && !item.error ? `${comparison.name} ${comparison.outboard.root} ${comparison.state} ${item.file.lastModified} ${item.size}` : "";
        if (key === shown) return;
        shown = key;
        element.replaceChildren();
        if (!comparison || item.error) return;
        const { state, name, message, outboard, ranges, ofOutboard } = comparison;
        if (state === "busy") return element.append(make("p", { class: "muted" }, `Comparing with ${name} …`));
        if (state === "failed") return element.append(make("p", { class: "verdict unable" }, badge("unable"), " ", message ?? ""));
        const text = sentence(item, comparison);
        const intact = ranges.length === 0 && item.size === outboard.len;
        element.append(make("div", { class: `verdict ${intact ? "match" : "mismatch"}` },
            make("p", {}, badge(intact ? "match" : "damaged", intact ? "Intact" : undefined), " ", text),
            make("p", { class: "muted" }, "The outboard’s root, in ", make("code", {}, outboard.spec.text), ": ", make("code", {}, outboard.root), ". Compare it with one that you trust: who can change the file may have changed the outboard."),
            ofOutboard.length > 0 && make("p", {}, `The outboard itself is damaged: its digests of bytes ${ofOutboard.map(rangeText).join(", ")} are wrong, so that these bytes cannot be checked.`)));
        announce(text);
        if (intact) return;
        if (ranges.length > 0) {
            element.append(damageStrip(outboard.len, ranges, item.path));
            const label = `Tree of ${item.path} with its damage`;
            const picture = make("div", { class: "picture", tabindex: "0", role: "group", "aria-label": label });
            element.append(make("details", { open: true }, make("summary", {}, "Tree with its damage"), picture));
            void loaded().then(() => {
                picture.append(treePicture(tool.treeSvg(outboard.bytes, item.path, ranges), label));
                showDamage(picture);
            }).catch((error) => picture.append(make("p", { class: "problem" }, messageOf(item.path, error))));
        }
        element.append(repairPart(item, comparison, workspace));
    };
    return { element, render };
}

/** @param {Item} item @param {import("../workspace.js").Comparison} comparison */
function sentence(item, comparison) {
    const { outboard: { len }, name, ranges } = comparison;
    const length = item.size === len ? "" : item.size < len
        ? ` The file is ${grouped(len - item.size)} bytes too short: ${grouped(item.size)} of ${grouped(len)}.`
        : ` The file is ${grouped(item.size - len)} bytes too long: ${grouped(item.size)} instead of ${grouped(len)}.`;
    if (ranges.length === 0) return length ? `The first ${grouped(len)} bytes match ${name}.${length}` : `All ${grouped(len)} bytes match ${name}.`;
    return `${grouped(damagedBytes(comparison))} of ${grouped(len)} bytes are damaged (${counted(ranges.length, "range")}).${length}`;
}

/** Scrolls a picture to its first damaged node. @param {HTMLElement} picture */
function showDamage(picture) {
    const node = picture.querySelector(".damaged");
    if (!node) return;
    const [inside, own] = [picture.getBoundingClientRect(), node.getBoundingClientRect()];
    picture.scrollTo(own.left + own.width / 2 - inside.left - inside.width / 2, own.top + own.height / 2 - inside.top - inside.height / 2);
}
