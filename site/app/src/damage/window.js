// The part of a file that the damage strip shows.

/** @typedef {import("./ranges.js").Range} Range */

/** A point of the screen, in parts of the window's width. */
const POINT = 1 / 2000;

/** The shortest part that is shown, in bytes. */
const LEAST = 64;

/**
 * Returns a window of `span` bytes around `center`, moved into `0..len`.
 *
 * @param {number} center
 * @param {number} span
 * @param {number} len
 * @returns {Range}
 */
export function windowAround(center, span, len) {
    const width = Math.min(len, Math.max(Math.min(LEAST, len), Math.round(span)));
    const start = Math.min(Math.max(0, Math.round(center - width / 2)), len - width);
    return { start, end: start + width };
}

/**
 * Returns a window that is `factor` times as wide, with the same middle.
 *
 * @param {Range} view
 * @param {number} factor
 * @param {number} len
 */
export function zoomed(view, factor, len) {
    return windowAround((view.start + view.end) / 2, (view.end - view.start) * factor, len);
}

/**
 * Returns a window moved by a part of its width: `0.25` is a quarter to the right.
 *
 * @param {Range} view
 * @param {number} part
 * @param {number} len
 */
export function moved(view, part, len) {
    const span = view.end - view.start;
    return windowAround((view.start + view.end) / 2 + span * part, span, len);
}

/**
 * Returns the window that shows a range with a margin.
 *
 * @param {Range} range
 * @param {number} len
 */
export function around(range, len) {
    return windowAround((range.start + range.end) / 2, 4 * (range.end - range.start), len);
}

/**
 * Returns the ranges of `ranges` that lie in the window, cut to it, in parts of its width from 0 to 1. Ranges that are closer
 * than a point of the screen are joined.
 *
 * @param {Range} view
 * @param {readonly Range[]} ranges Sorted.
 * @returns {{ from: number, to: number }[]}
 */
export function visible(view, ranges) {
    const span = view.end - view.start;
    /** @type {{ from: number, to: number }[]} */
    const found = [];
    for (const { start, end } of ranges) {
        if (start >= view.end || end <= view.start) continue;
        const from = (Math.max(start, view.start) - view.start) / span;
        const to = (Math.min(end, view.end) - view.start) / span;
        const last = found.at(-1);
        if (last && from - last.to < POINT) last.to = to;
        else found.push({ from, to });
    }
    return found;
}
