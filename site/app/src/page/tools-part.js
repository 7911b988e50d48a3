// What can be made of a file: an outboard, a proof, a picture of its tree.
import { Outboard, Proof, keepOf } from "mksum/fetch";
import { parsedRange } from "../damage/ranges.js";
import { loaded, withPool } from "../engine.js";
import { Watched } from "../files/watch.js";
import { isAbort, messageOf } from "../hashing/messages.js";
import { tool } from "../internal.js";
import { canonical } from "../known/checks.js";
import { grouped, size } from "../text/sizes.js";
import { announce } from "./announce.js";
import { copyButton } from "./copy-button.js";
import { button, make } from "./dom.js";
import { baseName, save } from "./save.js";
import { treePicture } from "./tree-picture.js";

/** @typedef {import("../workspace.js").Item} Item @typedef {import("../workspace.js").Workspace} Workspace */

/** The formats of trees that are offered. */
const TREES = ["rfc6962:sha256:64KiB", "blake3", "rfc6962:blake3:64KiB", "btv2", "glacier", "dropbox", "fsverity:sha256:4KiB", "mtsum:sha256"];

let number = 0;

/** @param {Item} item @param {Workspace} workspace */
export function toolsPart(item, workspace) {
    const id = `tools-${++number}`;
    const out = make("div", { class: "tools-result", "aria-live": "polite" });
    const picture = make("div", { class: "picture" });
    const format = make("select", { id: `${id}-format` }, ...TREES.map((own) => make("option", { value: own }, own)));
    const range = make("input", { type: "text", id: `${id}-range`, placeholder: `0..${Math.min(item.size, 1000)}`, autocomplete: "off", inputmode: "numeric" });

    /** Runs work on the file with progress. Returns whether it succeeded. @param {string} title @param {(options: import("mksum/fetch").Options) => Promise<void>} work */
    const run = async (title, work) => {
        let succeeded = false;
        await workspace.run(title, item.size, async (job) => {
            out.replaceChildren();
            const watched = await Watched.begin(item.file, item.fresh);
            await withPool((pool) => work({ pool, signal: job.signal, progress: (done) => job.advance(done) }));
            await watched.check();
            succeeded = true;
        }, (error) => {
            picture.replaceChildren();
            out.replaceChildren(isAbort(error) ? make("p", { class: "muted" }, "Cancelled.") : make("p", { class: "problem" }, messageOf(item.path, error)));
        });
        return succeeded;
    };

    const keep = async () => {
        const spec = format.value;
        /** @type {Uint8Array<ArrayBuffer> | undefined} */
        let bytes;
        const succeeded = await run(`Making the outboard of ${item.path}`, async (options) => {
            bytes = await keepOf(spec, unitOf(spec), item.file, options);
        });
        if (!succeeded || !bytes) return;
        const made = bytes;
        const { root } = Outboard.open(made);
        const name = `${baseName(item.path)}.mkt`;
        out.replaceChildren(
            make("p", {}, `The outboard is made: ${size(made.length)}. Publish it beside the file, and its root where others trust it:`),
            make("p", {}, make("code", { class: "digest" }, root)),
            button(`Save ${name}`, () => save(new Blob([made]), name)),
        );
        announce("The outboard is made");
    };

    const prove = async () => {
        const span = parsedRange(range.value || range.placeholder, item.size);
        if (typeof span === "string") return out.replaceChildren(make("p", { class: "problem", role: "alert" }, span));
        /** @type {Proof | undefined} */
        let proof;
        let root = "";
        const succeeded = await run(`Making a proof about ${item.path}`, async (options) => {
            const spec = format.value;
            const outboard = Outboard.open(await keepOf(spec, unitOf(spec), item.file, options));
            root = outboard.root;
            proof = await Proof.rangeOf(outboard, item.file, span.start, span.end, { ...options, progress: () => {} });
        });
        if (!succeeded || !proof) return;
        const bytes = proof.toBytes();
        const name = `${baseName(item.path)}.${span.start}-${span.end}`;
        out.replaceChildren(
            make("p", {}, `The proof is made: ${bytes.length} bytes, ${proof.digests} digests. It shows that bytes ${span.start}..${span.end} are in the file to everyone who trusts this root, in `, make("code", {}, proof.spec.text), `, and the length of ${grouped(item.size)} bytes. Give them away by another way than the proof:`),
            make("p", {}, make("code", { class: "digest" }, root), copyButton(root, `root of ${item.path}`)),
            make("div", { class: "buttons" },
                button("Save the proof", () => save(new Blob([bytes]), `${name}.proof`)),
                button("Save the bytes", () => save(item.file.slice(span.start, span.end), `${name}.bytes`))),
        );
        announce("The proof is made");
    };

    const drawTree = async () => {
        const spec = format.value;
        let svg = "";
        const succeeded = await run(`Drawing the tree of ${item.path}`, async (options) => {
            await loaded();
            svg = tool.treeSvg(await keepOf(spec, tool.pictureUnit(spec, item.size), item.file, options), item.path, item.comparison?.ranges);
        });
        if (!succeeded) return;
        picture.replaceChildren(treePicture(svg, `Tree of ${item.path} in ${spec}`));
        out.replaceChildren(button("Save as SVG", () => save(new Blob([svg], { type: "image/svg+xml" }), `${baseName(item.path)}.svg`)));
        announce("The tree is drawn");
    };

    const element = make(
        "details",
        { class: "tools" },
        make("summary", {}, "Outboard, proof, tree"),
        make("div", { class: "field" }, make("label", { for: `${id}-format` }, "Tree format"), format),
        make("div", { class: "buttons" }, button("Make an outboard", keep), button("Draw the tree", drawTree)),
        make("div", { class: "field" }, make("label", { for: `${id}-range` }, "Bytes to prove, END not included"), make("div", { class: "row" }, range, button("Make a proof", prove))),
        out,
        picture,
    );
    const render = () => {
        element.hidden = item.error !== undefined || item.size === 0;
    };
    return { element, render };
}

/** Returns the unit with which an outboard takes a thousandth of the file, in bytes. @param {string} format */
function unitOf(format) {
    const found = canonical(format);
    return "format" in found && found.format.includes("512") ? 1 << 17 : 1 << 16;
}
