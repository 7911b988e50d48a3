// The repair of a file from a good copy. The result is verified whole before anything is written.
import { compare } from "../damage/compare.js";
import { total } from "../damage/ranges.js";
import { withPool } from "../engine.js";
import { fetchRanges } from "../repair/from-url.js";
import { patched, rangesText, writeInPlace } from "../repair/patch.js";
import { isAbort } from "../hashing/messages.js";
import { counted, grouped, rangeText } from "../text/sizes.js";
import { announce } from "./announce.js";
import { button, make } from "./dom.js";
import { baseName, save, saveText } from "./save.js";
import { badge } from "./verdict.js";

/**
 * @typedef {import("../workspace.js").Item} Item
 * @typedef {import("../workspace.js").Workspace} Workspace
 * @typedef {import("../repair/patch.js").Patch} Patch
 */

/** A page from a file has a policy that forbids all requests. */
const HAS_NETWORK = location.protocol !== "file:";

/** @param {Item} item @param {import("../workspace.js").Comparison} comparison @param {Workspace} workspace */
export function repairPart(item, { outboard, ranges }, workspace) {
    const result = make("div", { class: "repair-result", "aria-live": "polite" });
    const input = make("input", { type: "file", hidden: true, "aria-label": `Good copy of ${item.path}`, onchange: () => input.files?.[0] && fromFile(input.files[0]) });
    input.classList.add("copy-input");
    const tell = (/** @type {string} */ text) => result.replaceChildren(make("p", { class: "problem" }, text));

    /** @param {File} copy */
    const fromFile = (copy) => {
        if (copy.size < outboard.len && ranges.some(({ end }) => end > copy.size)) {
            return tell(`${copy.name} has ${grouped(copy.size)} bytes, and the damage reaches to byte ${grouped(ranges.at(-1)?.end ?? 0)}: it is not a whole copy.`);
        }
        return verify(copy.name, async () => ranges.map(({ start, end }) => ({ start, end, bytes: copy.slice(start, end) })));
    };
    const fromUrl = () => {
        const text = address.value.trim();
        if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) return tell(`“${text}” is not a web address: it begins with https://`);
        return verify(text, async (job) => {
            job.total = total(ranges) + outboard.len;
            return fetchRanges(text, ranges, { signal: job.signal, progress: (done) => job.advance(done) });
        });
    };

    /** Verifies the file with the good ranges, and offers to write it. @param {string} name @param {(job: import("../hashing/job.js").Job) => Promise<Patch[]>} get */
    const verify = async (name, get) => {
        result.replaceChildren(make("p", { class: "muted" }, "Verifying the repaired file …"));
        await workspace.run(`Verifying ${item.path} with ranges of ${name}`, outboard.len, async (job) => {
            const patches = await get(job);
            const before = job.done;
            const whole = patched(item.file, outboard.len, patches);
            const left = await withPool((pool) => compare(whole, outboard, { pool, signal: job.signal, progress: (done) => job.advance(before + done) }));
            const bad = (/** @type {Patch} */ { start, end }) => left.ranges.some((range) => range.start < end && range.end > start);
            offer(name, patches.filter((patch) => !bad(patch)), left.ranges);
        }, (error) => {
            if (isAbort(error)) result.replaceChildren(make("p", { class: "muted" }, "The repair was cancelled. Nothing was written."));
            else tell(error instanceof Error ? error.message : String(error));
        });
    };

    /** @param {string} name @param {Patch[]} patches @param {import("../damage/ranges.js").Range[]} left */
    const offer = (name, patches, left) => {
        const text = left.length === 0
            ? `${name} has all ${counted(ranges.length, "damaged range")}. The repaired file was verified: all ${grouped(outboard.len)} bytes match.`
            : `${name} does not have the right bytes ${left.slice(0, 5).map(rangeText).join(", ")}${left.length > 5 ? " …" : ""}. ${patches.length === 0 ? "Choose another copy." : `The other ${counted(patches.length, "range")} can be repaired.`}`;
        result.replaceChildren(make("div", { class: `verdict ${left.length === 0 ? "match" : "mismatch"}` }, make("p", {}, badge(left.length === 0 ? "match" : "mismatch", left.length === 0 ? "Verified" : "Not repaired"), " ", text)));
        announce(text);
        if (patches.length === 0) return;
        const { handle } = item;
        const buttons = make("div", { class: "buttons" });
        if (handle && "createWritable" in handle) buttons.append(button("Repair in place", () => inPlace(handle, patches), { class: "primary" }));
        buttons.append(button("Save the repaired file", async () => {
            try {
                if (await save(patched(item.file, outboard.len, patches), baseName(item.path))) announce("The repaired file was saved");
            } catch (error) {
                tell(`The repaired file was not saved: ${String(error)}`);
            }
        }));
        result.append(buttons);
        if (!handle) result.append(make("p", { class: "muted" }, "The browser does not let the page write to this file, so the repaired file is saved as another one."));
    };

    /** @param {FileSystemFileHandle} handle @param {Patch[]} patches */
    const inPlace = async (handle, patches) => {
        try {
            if ((await handle.requestPermission?.({ mode: "readwrite" })) === "denied") return tell("The browser was not allowed to write to the file. Nothing was written.");
            await writeInPlace(handle, item.file, outboard.len, patches);
            announce("The file was repaired. It is compared again.");
            workspace.again(item, await handle.getFile());
        } catch (error) {
            tell(`${item.path} was not repaired: ${error instanceof Error ? error.message : String(error)}`);
        }
    };

    const address = make("input", { type: "url", placeholder: "https://", "aria-label": "Address of a good copy", autocomplete: "off", spellcheck: "false" });
    const copies = workspace.items.filter((other) => other !== item && other.size === outboard.len && !other.error);
    return make(
        "div",
        { class: "repair" },
        make("h4", {}, "Repair"),
        make("p", {}, "Give a good copy of the file. Only the damaged ranges are taken from it, and the result is verified before anything is written."),
        make("div", { class: "buttons" }, button("Choose a good copy", () => input.click()), ...copies.slice(0, 4).map((other) => button(`Use ${other.path}`, () => fromFile(other.file)))),
        input,
        HAS_NETWORK && make("div", { class: "field row" }, address, button("Use a copy on a server", fromUrl)),
        HAS_NETWORK && make("p", { class: "muted" }, "Of a copy on a server, the page requests only the damaged ranges. This is the only request that it makes."),
        result,
        make("div", { class: "buttons" }, button("Save the list of ranges", () => saveText(rangesText(item.path, ranges), `${baseName(item.path)}.ranges.txt`), { class: "small" })),
    );
}
