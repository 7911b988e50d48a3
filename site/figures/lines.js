// Lines with their names at their ends, markers and dashes, for figures that are read by the length of an input.
// Lines and markers come from d3-shape, scales from d3-scale.
import { scaleLinear, scaleLog } from "d3-scale";
import { line, symbol, symbolCircle, symbolCross, symbolDiamond, symbolSquare, symbolStar, symbolTriangle } from "d3-shape";
import { escape } from "../scripts/html.js";
import { apart } from "./apart.js";
import { decades, number, tick } from "./numbers.js";
import { DASHES, library } from "./style.js";

const WIDTH = 900;
const HEIGHT = 440;
const LEFT = 52;
const TOP = 30;
const BOTTOM = 44;
/** The height of a name. */
const ROOM = 15;
const MARKS = [symbolCircle, symbolSquare, symbolTriangle, symbolDiamond, symbolCross, symbolStar];

const short = (value) => Number(value.toFixed(1));

/** Returns the SVG of a figure's series: `{subject, points: [{x, value}]}`. */
export function lines({ series, title, x, y }, style) {
    const points = series.flatMap((one) => one.points);
    const longest = Math.max(...series.map(({ subject }) => subject.length));
    const right = WIDTH - 34 - Math.min(260, longest * 6.6);
    const foot = HEIGHT - BOTTOM;
    const values = points.map((point) => point.value);
    const low = Math.min(...values) / 1.15;
    const high = Math.max(...values) * 1.1;
    const ends = [Math.min(...points.map((point) => point.x)), Math.max(...points.map((point) => point.x))];
    const across = (x.log ? scaleLog : scaleLinear)(ends, [LEFT, right]);
    const up = y.log ? scaleLog([low, high], [foot, TOP]) : scaleLinear([0, high], [foot, TOP]);
    const xs = x.ticks ?? (x.log ? decades(...ends) : across.ticks(8));
    const ys = y.log ? decades(low, high) : up.ticks(6);

    const axes = [
        ...ys.map(
            (value) =>
                `<line class="grid" x1="${LEFT}" x2="${right}" y1="${short(up(value))}" y2="${short(up(value))}"/>` +
                `<text class="tick" x="${LEFT - 7}" y="${short(up(value) + 4)}" text-anchor="end">${tick(value)}</text>`,
        ),
        ...xs.map(
            (value) =>
                `<line class="grid base" x1="${short(across(value))}" x2="${short(across(value))}" y1="${foot}" y2="${foot + 5}"/>` +
                `<text class="tick" x="${short(across(value))}" y="${foot + 19}" text-anchor="middle">${tick(value)}</text>`,
        ),
        `<line class="grid base" x1="${LEFT}" x2="${right}" y1="${foot}" y2="${foot}"/>`,
        `<text class="axis" x="0" y="14">${escape(y.label)}${y.log ? " (log scale)" : ""}</text>`,
        `<text class="axis" x="${LEFT}" y="${HEIGHT - 6}">${escape(x.label)}${x.log ? " (log scale)" : ""}</text>`,
    ];

    const path = line((point) => across(point.x), (point) => up(point.value)).digits(1);
    const order = series.map((_, index) => index).toSorted((a, b) => last(series[a]).value - last(series[b]).value);
    const places = apart(order.map((index) => -up(last(series[index]).value)), ROOM, -foot + 6, -TOP + 4);
    const labels = new Map(order.map((index, place) => [index, -places[place]]));
    const variants = new Map();
    const drawn = series.map(({ subject, points }, index) => {
        const { colour, mark, dash, ours } = style(subject);
        const variant = variants.get(library(subject)) ?? 0;
        variants.set(library(subject), variant + 1);
        const pattern = DASHES[(dash + variant) % DASHES.length];
        const every = Math.max(1, Math.floor(points.length / 6));
        const shape = symbol(MARKS[mark], ours ? 40 : 28).digits(1)();
        const marks = points.filter((_, place) => every === 1 || place % every === index % every);
        const end = last({ points });
        const place = labels.get(index);
        return (
            `<g class="series ${colour}${ours && variant === 0 ? " thick" : ""}" data-row="${index}">` +
            `<path class="line" d="${path(points)}"${pattern ? ` stroke-dasharray="${pattern}"` : ""}/>` +
            marks
                .map((point) => `<path class="mark" d="${shape}" transform="translate(${short(across(point.x))},${short(up(point.value))})"/>`)
                .join("") +
            `<path class="lead" d="M${short(across(end.x) + 5)},${short(up(end.value))}L${short(right + 18)},${short(place)}"/>` +
            `<text class="label" x="${short(right + 22)}" y="${short(place + 4)}">${escape(subject)}</text></g>`
        );
    });
    const best = order.toReversed().slice(0, 3).map((index) => `${series[index].subject}: ${number(last(series[index]).value)}`);
    const label = `Lines: ${title}; ${y.label} by ${x.label}. At the right end, ${best.join("; ")}. The table has all values.`;
    return `<svg class="lines" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escape(label)}">${axes.join("")}${drawn.join("")}</svg>`;
}

const last = ({ points }) => points[points.length - 1];
