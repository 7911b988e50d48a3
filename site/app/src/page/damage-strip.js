// A map of a file with its damaged ranges. It can be zoomed and moved with buttons, keys and the pointer.
import { around, moved, visible, windowAround, zoomed } from "../damage/window.js";
import { counted, exactSize, grouped, rangeText } from "../text/sizes.js";
import { announce } from "./announce.js";
import { button, draw, make } from "./dom.js";

/** @typedef {import("../damage/ranges.js").Range} Range */

const WIDTH = 1000;
const HEIGHT = 56;

/** The narrowest mark of a damaged range, so that it is seen. */
const NARROWEST = 4;

/** The ranges that are listed. */
const LISTED = 200;

let number = 0;

/**
 * Returns the map of a file of `len` bytes.
 *
 * @param {number} len
 * @param {readonly Range[]} ranges The damaged ranges, sorted.
 * @param {string} path
 */
export function damageStrip(len, ranges, path) {
    const id = `strip-${++number}`;
    let view = windowAround(len / 2, len, len);
    const marks = draw("g");
    const overview = draw("rect", { y: 0, height: 10, class: "strip-window" });
    const hatch = draw("pattern", { id: `${id}-hatch`, width: 8, height: 8, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
        draw("rect", { width: 8, height: 8, class: "strip-damage" }), draw("line", { x1: 0, y1: 0, x2: 0, y2: 8, class: "strip-hatch" }));
    const svg = draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true" },
        draw("defs", {}, hatch), draw("rect", { width: WIDTH, height: HEIGHT, class: "strip-intact" }), marks);
    const small = draw("svg", { viewBox: `0 0 ${WIDTH} 10`, preserveAspectRatio: "none", "aria-hidden": "true", class: "strip-overview" },
        draw("rect", { width: WIDTH, height: 10, class: "strip-intact" }), ...bars({ start: 0, end: len }, 10, "strip-damage"), overview);
    const axis = make("div", { class: "strip-axis", "aria-hidden": "true" });
    const caption = make("p", { class: "strip-caption", id: `${id}-caption` });
    const strip = make("div", {
        class: "strip", tabindex: "0", role: "group", "aria-label": `Map of ${path}. Arrow keys move, plus and minus zoom, N and P go to the next and previous damaged range, 0 shows the whole file.`,
        "aria-describedby": `${id}-caption`,
    }, svg);

    /** @param {Range} shown @param {number} height @param {string} className */
    function bars(shown, height, className, fill = /** @type {string | undefined} */ (undefined)) {
        return visible(shown, ranges).map(({ from, to }) => {
            const width = Math.max(NARROWEST, WIDTH * (to - from));
            const x = Math.min(WIDTH * from, WIDTH - width);
            return draw("rect", { x: x.toFixed(2), y: 0, width: width.toFixed(2), height, class: className, fill });
        });
    }

    const render = () => {
        marks.replaceChildren(...bars(view, HEIGHT, "strip-mark", `url(#${id}-hatch)`));
        overview.setAttribute("x", String((WIDTH * view.start) / len));
        overview.setAttribute("width", String(Math.max(2, (WIDTH * (view.end - view.start)) / len)));
        axis.replaceChildren(...[0, 0.5, 1].map((part) => make("span", {}, grouped(Math.round(view.start + part * (view.end - view.start))))));
        const inside = ranges.filter(({ start, end }) => start < view.end && end > view.start).length;
        caption.textContent = `Shown: bytes ${rangeText(view)} of ${grouped(len)}, with ${counted(inside, "damaged range")}.`;
    };
    const go = (/** @type {Range} */ next) => {
        view = next;
        render();
        announce(caption.textContent ?? "");
    };
    /** Shows the next damaged range, or the previous one. @param {1 | -1} direction */
    const jump = (direction) => {
        const middle = (view.start + view.end) / 2;
        const centers = ranges.map((range) => ({ range, center: (range.start + range.end) / 2 }));
        const ahead = direction > 0 ? centers.filter(({ center }) => center > middle + 1) : centers.filter(({ center }) => center < middle - 1).toReversed();
        const isWhole = view.end - view.start === len;
        const target = (isWhole ? undefined : ahead[0]?.range) ?? (direction > 0 ? ranges[0] : ranges.at(-1));
        if (target) go(around(target, len));
    };
    const acts = /** @type {Record<string, () => void>} */ ({
        ArrowLeft: () => go(moved(view, -0.25, len)),
        ArrowRight: () => go(moved(view, 0.25, len)),
        Home: () => go(windowAround(0, view.end - view.start, len)),
        End: () => go(windowAround(len, view.end - view.start, len)),
        "+": () => go(zoomed(view, 0.5, len)),
        "=": () => go(zoomed(view, 0.5, len)),
        "-": () => go(zoomed(view, 2, len)),
        0: () => go(windowAround(len / 2, len, len)),
        n: () => jump(1),
        p: () => jump(-1),
    });
    strip.addEventListener("keydown", (event) => {
        const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : acts[event.key] ?? acts[event.key.toLowerCase()];
        if (!act) return;
        event.preventDefault();
        act();
    });
    strip.addEventListener("dblclick", ({ offsetX }) => {
        const at = view.start + (offsetX / strip.clientWidth) * (view.end - view.start);
        go(windowAround(at, (view.end - view.start) / 4, len));
    });
    let held = /** @type {{ x: number, view: Range } | undefined} */ (undefined);
    strip.addEventListener("pointerdown", (event) => {
        held = { x: event.clientX, view };
        strip.setPointerCapture(event.pointerId);
    });
    strip.addEventListener("pointermove", (event) => {
        if (!held) return;
        view = moved(held.view, (held.x - event.clientX) / strip.clientWidth, len);
        render();
    });
    for (const type of ["pointerup", "pointercancel"]) strip.addEventListener(type, () => (held = undefined));
    const controls = make("div", { class: "buttons strip-controls" },
        button("Zoom in", () => acts["+"]?.(), { class: "small" }), button("Zoom out", () => acts["-"]?.(), { class: "small" }),
        button("Left", () => acts["ArrowLeft"]?.(), { class: "small" }), button("Right", () => acts["ArrowRight"]?.(), { class: "small" }),
        button("Whole file", () => acts["0"]?.(), { class: "small" }),
        button("Previous damage", () => jump(-1), { class: "small" }), button("Next damage", () => jump(1), { class: "small" }));
    const list = make("details", { class: "range-list", open: ranges.length <= 8 },
        make("summary", {}, counted(ranges.length, "damaged range")),
        make("ul", {}, ...ranges.slice(0, LISTED).map((range) => make("li", {}, make("span", { class: "range" }, `bytes ${rangeText(range)}`), make("span", { class: "muted" }, exactSize(range.end - range.start)), button("Show", () => {
            go(around(range, len));
            strip.focus();
        }, { class: "small quiet", "aria-label": `Show bytes ${rangeText(range)}` })))),
        ranges.length > LISTED && make("p", {}, `and ${counted(ranges.length - LISTED, "other")}: save the list of ranges`));
    render();
    return make("div", { class: "strip-frame" }, strip, axis, small, caption, controls, list);
}
