// The upper part of a file's tree: its nodes, and their digests from an outboard.
import { Spec } from "mksum/fetch";
import { cover } from "../internal.js";

/**
 * @typedef {object} TreeNode
 * @property {number} start
 * @property {number} len
 * @property {number} level
 * @property {Uint8Array} digest Empty before it is filled.
 * @property {TreeNode[]} children Empty for a leaf, and where the picture ends.
 * @property {number} padding The children that are padding.
 */

/** The lowest nodes of a picture, at most. */
const LOWEST = 24;

/** Nodes with more children show only the first and the last of them. */
const WIDE = 16;
const FIRST = 8;
const LAST = 4;

/** The bytes of an outboard before its digests: spec/outboard.md. */
const HEADER = 1024;

/** Formats in which a node on every level has a parent on the next one, even an only child. */
const LEVELS = ["btv2", "fsverity", "dmverity"];

/** A picture of a tree. */
class Picture {
    /** @param {Spec} spec @param {TreeNode} tree @param {number} unit */
    constructor(spec, tree, unit) {
        this.spec = spec;
        this.tree = tree;
        /** The length of the lowest nodes, at most, in bytes. */
        this.unit = unit;
    }

    /**
     * Takes the digests from an outboard with this unit, where they lie in post-order.
     *
     * @param {Uint8Array} outboard
     */
    fill(outboard) {
        const { size } = this.spec;
        const nodes = postOrder(this.tree);
        if (outboard.length !== HEADER + nodes.length * size) {
            throw new Error(`the tree has ${nodes.length} nodes, and the outboard ${(outboard.length - HEADER) / size} digests`);
        }
        for (const [index, node] of nodes.entries()) node.digest = outboard.slice(HEADER + index * size, HEADER + (index + 1) * size);
    }
}

/**
 * Returns the picture of the tree over `len` bytes, without digests.
 *
 * @param {string} format
 * @param {number} len
 * @returns {Picture}
 */
export function planPicture(format, len) {
    const spec = Spec.parse(format);
    const [top] = cover(spec, len, len);
    if (!top) throw new Error("an empty file has no tree");
    let best = plan(spec, len, top.level === 0 ? top.len : Math.max(1, top.len - 1), top);
    // Units of half the length as long as the picture stays small.
    for (let unit = best.unit; unit > 1;) {
        unit = Math.floor(Math.max(1, ...lowest(best.tree).map((node) => (node.level > 0 ? node.len : 0))) - 1);
        if (unit < 1) break;
        const deeper = plan(spec, len, unit, top);
        if (rows(deeper.tree) > LOWEST || lowest(deeper.tree).length === lowest(best.tree).length) break;
        best = deeper;
    }
    return best;
}

/** @param {Spec} spec @param {number} len @param {number} atMost @param {{ start: number, len: number, level: number }} top */
function plan(spec, len, atMost, top) {
    const grow = (/** @type {{ start: number, len: number, level: number }} */ own) => {
        /** @type {TreeNode} */
        const node = { ...own, digest: new Uint8Array(), children: [], padding: 0 };
        if (own.level === 0 || own.len <= atMost) return node;
        node.children = childrenOf(spec, len, own).map(grow);
        if (spec.family === "btv2") node.padding = 2 - node.children.length;
        return node;
    };
    const tree = grow(top);
    return new Picture(spec, tree, Math.max(1, Math.min(len, atMost)));
}

/** @param {Spec} spec @param {number} total @param {{ start: number, len: number, level: number }} parent */
function childrenOf(spec, total, { start, len, level }) {
    if (LEVELS.includes(spec.family)) {
        const arity = spec.family === "btv2" ? 2 : spec.leaf / spec.size;
        const full = spec.leaf * arity ** (level - 1);
        return Array.from({ length: Math.ceil(len / full) }, (_, at) => ({ start: start + at * full, len: Math.min(full, len - at * full), level: level - 1 }));
    }
    return cover(spec, total, len - 1).filter((node) => node.start >= start && node.start + node.len <= start + len);
}

/** Returns the children that are shown: the first ones and the last ones. @param {TreeNode} node */
export function shownChildren({ children }) {
    return children.length > WIDE ? { first: children.slice(0, FIRST), left: children.length - FIRST - LAST, last: children.slice(-LAST) } : { first: children, left: 0, last: [] };
}

/** Returns the number of the lowest nodes that are shown. @param {TreeNode} node @returns {number} */
function rows(node) {
    const { first, last } = shownChildren(node);
    return node.children.length === 0 ? 1 : [...first, ...last].reduce((sum, child) => sum + rows(child), 0);
}

/** @param {TreeNode} node @returns {TreeNode[]} */
function lowest(node) {
    return node.children.length === 0 ? [node] : node.children.flatMap(lowest);
}

/** @param {TreeNode} node @returns {TreeNode[]} */
function postOrder(node) {
    return [...node.children.flatMap(postOrder), node];
}
