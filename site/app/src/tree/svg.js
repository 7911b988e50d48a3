// A tree as a picture, left to right: each node in a column by its depth, in the middle of its children's rows.
import { toHex } from "mksum/fetch";
import { draw } from "../page/dom.js";
import { shownChildren } from "./picture.js";
import { grouped, rangeText, size } from "../text/sizes.js";

/** @typedef {import("./picture.js").TreeNode} TreeNode */

const BOX = { width: 118, height: 38, gap: 26, row: 46, note: 26 };
const TOP = 56;
const MARGIN = 12;

/** The style of a saved picture. On the page, its style sheet has these rules in the page's colours. */
const STYLE = "text{font:11px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#1b2733}.tree-title{font-size:12px;font-weight:bold}" +
    ".tree-note,.tree-range{fill:#555}rect{fill:#f3f6f9;stroke:#55606b}.leaf rect{fill:#e3f1df;stroke:#55803f}" +
    ".damaged rect{fill:url(#tree-hatch);stroke:#b3261e}.root rect{fill:#1f4e79;stroke:#0d2c49}.root text{fill:#fff}.tree-edge{fill:none;stroke:#7d8b99}";

/**
 * Returns a picture as the text of an SVG file.
 *
 * @param {SVGElement} svg
 */
export function svgText(svg) {
    const text = new XMLSerializer().serializeToString(svg);
    return text.replace(">", `><style>${STYLE}</style><path d="M0 0H100000V100000H0Z" style="fill:#fff;stroke:none"/>`);
}

/** The hatch of damaged nodes, with its colours where no style sheet has any. */
const hatch = () => draw("pattern", { id: "tree-hatch", width: 8, height: 8, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)", class: "tree-hatch" },
    draw("path", { d: "M0 0H8V8H0Z", fill: "#fff", stroke: "none" }), draw("line", { x1: 0, y1: 0, x2: 0, y2: 8, stroke: "#e6a49e", "stroke-width": 3 }));

/**
 * Returns the picture of a tree. Nodes without digests show their ranges alone, and the lowest nodes with damaged bytes are hatched.
 *
 * @param {{ spec: import("mksum/fetch").Spec, tree: TreeNode }} picture
 * @param {string} path
 * @param {string} root
 * @param {readonly import("../damage/ranges.js").Range[]} [damaged]
 * @returns {SVGElement}
 */
export function treeSvg({ spec, tree }, path, root, damaged = []) {
    const [edges, boxes] = [draw("g", { class: "tree-edges" }), draw("g")];
    let [bottom, depth] = [TOP, 0];
    const left = (/** @type {number} */ column) => MARGIN + column * (BOX.width + BOX.gap);
    const nextRow = (/** @type {number} */ height) => (bottom += height) - height / 2;
    const edge = (/** @type {number} */ column, /** @type {number} */ from, /** @type {number} */ to) => {
        const middle = left(column + 1) - BOX.gap / 2;
        edges.append(draw("path", { d: `M${left(column) + BOX.width} ${from}H${middle}V${to}H${left(column + 1)}`, class: "tree-edge" }));
    };
    const note = (/** @type {string} */ text, /** @type {number} */ column) => {
        depth = Math.max(depth, column);
        const row = nextRow(BOX.note);
        boxes.append(draw("text", { x: left(column) + 4, y: row + 4, class: "tree-note" }, text));
        return row;
    };
    /** Draws a node and what is below it, and returns the middle of its row. @type {(own: TreeNode, column: number) => number} */
    const node = (own, column) => {
        depth = Math.max(depth, column);
        const { first, left: elided, last } = shownChildren(own);
        const rows = first.map((child) => node(child, column + 1));
        if (elided > 0) rows.push(note(`… ${elided} more …`, column + 1));
        for (const child of last) rows.push(node(child, column + 1));
        if (own.padding > 0) rows.push(note("padding", column + 1));
        const row = rows.length > 0 ? (rows[0] + (rows.at(-1) ?? rows[0])) / 2 : nextRow(BOX.row);
        for (const to of rows) edge(column, row, to);
        const kind = own === tree ? "root" : own.level === 0 ? "leaf" : "inner";
        const range = { start: own.start, end: own.start + own.len };
        const digest = toHex(own.digest);
        const isDamaged = own.children.length === 0 && damaged.some(({ start, end }) => start < range.end && end > range.start);
        boxes.append(draw("g", { class: `tree-node ${kind}${isDamaged ? " damaged" : ""}` },
            draw("title", {}, `${kind === "inner" ? "node" : kind} over bytes ${rangeText(range)}${digest ? `: ${digest}` : ""}${isDamaged ? ", damaged" : ""}`),
            draw("rect", { x: left(column), y: row - BOX.height / 2, width: BOX.width, height: BOX.height, rx: kind === "leaf" ? 0 : 7 }),
            draw("text", { x: left(column) + 8, y: row - 3 }, digest ? `${digest.slice(0, 12)}…` : grouped(own.start)),
            draw("text", { x: left(column) + 8, y: row + 12, class: "tree-range" }, `${size(own.len)}${kind === "root" ? ", top" : kind === "leaf" ? ", leaf" : ""}`)));
        return row;
    };
    node(tree, 0);
    const width = Math.max(left(depth) + BOX.width + MARGIN, MARGIN * 2 + 7.4 * Math.max(root.length, spec.text.length + path.length + 3));
    const height = bottom + MARGIN;
    const svg = draw("svg", { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${Math.ceil(width)} ${height}`, width: Math.ceil(width), height, role: "img", class: "tree", "aria-label": `Tree of ${path} in ${spec.text}, root ${root}` },
        draw("defs", {}, hatch()), draw("text", { x: MARGIN, y: 22, class: "tree-title" }, `${spec.text} (${path})`),
        draw("text", { x: MARGIN, y: 40, class: "tree-title" }, root), edges, boxes);
    return svg;
}
