// Figures show all results that they name, in one colour a library, with their unit, machine, date and command, and a table.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { choices, every, SUITES } from "../figures/every.js";
import { number } from "../figures/numbers.js";
import { results } from "../figures/results.js";
import { library } from "../figures/style.js";
import { source } from "../scripts/output.js";
import { pages } from "./support/pages.js";

const repository = path.dirname(path.resolve(source));
const figures = every(repository);
const page = new Map(pages.map((one) => [one.name, one.root]));
/** Suites that are tables of the lab only. */
const TABLES = new Set(["formats", "kept", "pairs", "python", "repair", "site", "watch"]);

test("each suite of results has figures", () => {
    const shown = new Set(SUITES.map((suite) => suite.suite ?? suite.name));
    for (const { suite, file } of results(repository)) assert.ok(shown.has(suite) || TABLES.has(suite), file);
    for (const { file } of results(repository).filter(({ suite }) => shown.has(suite))) {
        assert.ok(figures.some((figure) => figure.results.some((result) => result.file === file)), `${file} is in no figure`);
    }
});

test("each figure has a title, a unit, its machine, date, command and results", () => {
    const documented = readFileSync(path.join(repository, "lab/README.md"), "utf8");
    for (const figure of figures) {
        const root = page.get(figure.output);
        assert.ok(root, figure.output);
        assert.equal(root.querySelector("figcaption h2").text.length > 10, true, figure.output);
        const unit = figure.unit ?? figure.y.label;
        assert.ok(root.querySelectorAll("svg .axis").some((one) => one.text.startsWith(unit)), `${figure.output}: no unit`);
        const facts = root.querySelector(".facts").text;
        for (const wanted of [figure.results[0].machineTitle, figure.results[0].date, figure.suite.command, figure.results[0].file]) {
            assert.ok(facts.includes(wanted), `${figure.output}: ${wanted}`);
        }
        assert.ok(documented.includes(figure.suite.command), `lab/README.md does not name ${figure.suite.command}`);
    }
});

test("each figure has a table with all its values, and a mark for each row", () => {
    for (const figure of figures) {
        const root = page.get(figure.output);
        const rows = root.querySelectorAll("table tbody tr");
        const drawn = root.querySelectorAll("svg .series");
        const wanted = figure.rows ?? figure.series;
        assert.equal(rows.length, wanted.length, figure.output);
        assert.equal(drawn.length, wanted.length, figure.output);
        for (const [index, one] of wanted.entries()) {
            assert.ok(rows[index].text.startsWith(one.subject), `${figure.output}: row ${index}`);
            const cells = rows[index].querySelectorAll("td").map((cell) => cell.text);
            const values = one.points ? one.points.map((point) => number(point.value)) : [number(one.median)];
            assert.deepEqual(one.points ? cells.filter((cell) => cell !== "–") : cells.slice(0, 1), values, figure.output);
        }
    }
});

test("log scales are named, bars begin at zero", () => {
    for (const figure of figures) {
        const axes = page.get(figure.output).querySelectorAll("svg .axis").map((one) => one.text);
        if (figure.kind === "bars") {
            assert.ok(page.get(figure.output).querySelectorAll("svg rect").every((bar) => bar.getAttribute("x") === "0"), figure.output);
        } else {
            assert.equal(axes[0].endsWith("(log scale)"), Boolean(figure.y.log), figure.output);
            assert.equal(axes[1].endsWith("(log scale)"), Boolean(figure.x.log), figure.output);
        }
    }
});

test("a library has one colour and one marker everywhere, and none of another beside it", () => {
    const known = new Map();
    for (const figure of figures) {
        const here = new Map();
        for (const { subject } of figure.rows ?? figure.series) {
            const { colour, mark } = figure.style(subject);
            const style = `${colour} ${mark}`;
            const name = library(subject);
            assert.equal(known.get(name) ?? style, style, name);
            known.set(name, style);
            if (figure.kind === "lines") assert.equal(here.get(style) ?? name, name, `${figure.output}: ${style}`);
            here.set(style, name);
        }
    }
});

test("colours of text and of lines have contrast, on light and dark pages", () => {
    const css = readFileSync(path.join(source, "site.css"), "utf8");
    const blocks = [...css.matchAll(/:root \{([^}]*)\}/g)].map((match) => Object.fromEntries([...match[1].matchAll(/--([\w-]+): (#[0-9a-f]{6})/g)].map((one) => one.slice(1))));
    assert.equal(blocks.length, 2);
    for (const colours of blocks) {
        for (const [name, value] of Object.entries(colours)) {
            if (["background", "surface", "border", "on-accent"].includes(name)) continue;
            for (const ground of ["background", "surface"]) {
                const ratio = contrast(value, colours[ground]);
                assert.ok(ratio >= 4.5, `--${name} on --${ground}: ${ratio.toFixed(2)}`);
            }
        }
    }
});

/** WCAG's ratio of two colours. */
function contrast(...pair) {
    const [light, dark] = pair.map((colour) => luminance(colour)).toSorted((a, b) => b - a);
    return (light + 0.05) / (dark + 0.05);
}

function luminance(colour) {
    const [red, green, blue] = [1, 3, 5].map((at) => {
        const value = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
        return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

test("every choice of a figure leads to a figure with that choice", () => {
    for (const figure of figures) {
        for (const { name, values } of choices(figure)) {
            assert.ok(values.some(({ current, figure: other }) => current && other === figure), figure.output);
            for (const { value, figure: other } of values) assert.equal(other.choices[name], value);
        }
    }
    const addresses = figures.map((figure) => figure.output);
    assert.equal(new Set(addresses).size, addresses.length);
});
