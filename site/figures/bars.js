// Bars from zero, each under its name, with its value and the spread of the rounds. All lengths are shares of the width, so that
// letters keep their size on narrow screens.
// Scales and their ticks come from d3-scale, whose ticks are round numbers.
import { scaleLinear } from "d3-scale";
import { escape } from "../scripts/html.js";
import { number, tick } from "./numbers.js";

const ROW = 38;
const THICK = 13;
const TOP = 8;
/** The share of the width that the longest bar may take, in per cent: its value stands beside it. */
const LONGEST = 80;

const at = (share) => `${Number(share.toFixed(2))}%`;

/** Returns the SVG of a figure's rows, in their order. */
export function bars({ rows, title, unit }, style) {
    const most = Math.max(...rows.map((row) => row.most));
    const across = scaleLinear([0, most], [0, LONGEST]);
    const bottom = TOP + rows.length * ROW;
    const ticks = across.ticks(5).map((value) => {
        const x = at(across(value));
        const side = value === 0 ? "start" : "middle";
        return (
            `<line class="grid${value === 0 ? " base" : ""}" x1="${x}" x2="${x}" y1="${TOP}" y2="${bottom}"/>` +
            `<text class="tick" x="${x}" y="${bottom + 16}" text-anchor="${side}">${tick(value)}</text>`
        );
    });
    const drawn = rows.map((row, index) => {
        const { colour, ours } = style(row.subject);
        const y = TOP + index * ROW;
        const middle = y + 17 + THICK / 2;
        const ends = `x1="${at(across(row.least))}" x2="${at(across(row.most))}"`;
        return (
            `<g class="series ${colour}${ours ? " thick" : ""}" data-row="${index}">` +
            `<text x="0" dx="4" y="${y + 13}">${escape(row.subject)}</text>` +
            `<rect x="0" y="${y + 17}" width="${at(across(row.median))}" height="${THICK}"/>` +
            ["halo", "spread"].map((name) => `<line class="${name}" ${ends} y1="${middle}" y2="${middle}"/>`).join("") +
            `<text class="value" x="${at(across(row.most))}" dx="6" y="${middle + 4}">${number(row.median)}</text></g>`
        );
    });
    const best = rows.toSorted((a, b) => b.median - a.median).slice(0, 3);
    const label = `Bars: ${title}, ${unit}. ${best.map((row) => `${row.subject}: ${number(row.median)}`).join("; ")}. The table has all values.`;
    return (
        `<svg class="bars" width="100%" height="${bottom + 42}" role="img" aria-label="${escape(label)}">${ticks.join("")}${drawn.join("")}` +
        `<text class="axis" x="0" y="${bottom + 36}">${escape(unit)}</text></svg>`
    );
}
