// All figures of the site, with their addresses and the choices that lead from one to another.
import { languages } from "./languages.js";
import { lanes } from "./lanes.js";
import { engines, javascript } from "./javascript.js";
import { merklize } from "./merklize.js";
import { directories, files, many } from "./rates.js";
import { results } from "./results.js";
import { styles } from "./style.js";

/** In the order of the list of figures. */
export const SUITES = [files, many, directories, javascript, engines, lanes, languages, merklize];

const slug = (text) => text.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-").replaceAll(/^-|-$/g, "");

let found;

/** Returns all figures. Each has the suite, its choices, the title of its page, its output path, its style and its suite's figures. */
export function every(repository) {
    found ??= made(results(repository));
    return found;
}

function made(all) {
    const figures = SUITES.flatMap((suite) => ofSuite(suite, all.filter((head) => head.suite === (suite.suite ?? suite.name))));
    const style = styles(figures.map((figure) => (figure.rows ?? figure.series).map(({ subject }) => subject)));
    return figures.map((figure) => Object.assign(figure, { style }));
}

function ofSuite(suite, heads) {
    const machines = [...new Set(heads.map((head) => head.machineTitle))];
    const figures = machines.flatMap((machine) =>
        suite.figures(heads.filter((head) => head.machineTitle === machine)).map((figure) => ({
            ...figure,
            suite,
            choices: machines.length > 1 ? { ...figure.choices, Machine: machine } : figure.choices,
            page: machines.length > 1 ? `${figure.title}, on ${machine}` : figure.title,
            about: `${figure.title}, ${figure.unit ?? figure.y.label}: a figure and its table, measured on ${machine}.`,
        })),
    );
    for (const [index, figure] of figures.entries()) {
        const name = index === 0 ? "index" : slug(Object.values(figure.choices).join(" "));
        figure.output = `figures/${suite.name}/${name}.html`;
        figure.siblings = figures;
    }
    return figures;
}

/** Returns, for each choice, its values with the figure that each leads to: the one that differs least from this figure. */
export function choices(figure) {
    return Object.keys(figure.choices).map((name) => {
        const values = [...new Set(figure.siblings.map((one) => one.choices[name]))];
        return {
            name,
            values: values.map((value) => ({ value, current: figure.choices[name] === value, figure: nearest(figure, name, value) })),
        };
    });
}

function nearest(figure, name, value) {
    const alike = (one) => Object.keys(one.choices).filter((key) => one.choices[key] === figure.choices[key]).length;
    const candidates = figure.siblings.filter((one) => one.choices[name] === value);
    return candidates.reduce((best, one) => (alike(one) > alike(best) ? one : best));
}
