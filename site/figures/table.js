// The table of a figure: the same values for those who do not see it, and for the figure's hover.
import { escape } from "../scripts/html.js";
import { count, number } from "./numbers.js";

/** Returns the table of bars: the median and the spread of each subject. */
export function barsTable({ rows, unit }) {
    const head = `<tr><th scope="col">program</th><th scope="col">median, ${escape(unit)}</th><th scope="col">least</th><th scope="col">most</th><th scope="col">rounds</th></tr>`;
    const body = rows.map(
        (row) =>
            `<tr><th scope="row">${escape(row.subject)}</th>` +
            [number(row.median), number(row.least), number(row.most), row.trials].map((cell) => `<td>${cell ?? "–"}</td>`).join("") +
            "</tr>",
    );
    return `<table class="numbers"><thead>${head}</thead><tbody>${body.join("\n")}</tbody></table>`;
}

/** Returns the table of lines: a row for each subject, a column for each place on the axis. */
export function linesTable({ series, x, y }) {
    const places = [...new Set(series.flatMap(({ points }) => points.map((point) => point.x)))].toSorted((a, b) => a - b);
    const head = `<tr><th scope="col">${escape(y.label)}, by ${escape(x.label)}</th>${places.map((place) => `<th scope="col">${count(place)}</th>`).join("")}</tr>`;
    const body = series.map(({ subject, points }) => {
        const own = new Map(points.map((point) => [point.x, number(point.value)]));
        return `<tr><th scope="row">${escape(subject)}</th>${places.map((place) => `<td>${own.get(place) ?? "–"}</td>`).join("")}</tr>`;
    });
    return `<table class="numbers"><thead>${head}</thead><tbody>${body.join("\n")}</tbody></table>`;
}
