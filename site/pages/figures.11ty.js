// The list of all measurements.
import { every, SUITES } from "../figures/every.js";
import { escape } from "../scripts/html.js";
import { repository } from "../scripts/output.js";

export const data = {
    layout: "page.11ty.js",
    permalink: "figures/index.html",
    title: "Measurements",
    about: "Measured speeds of mksum beside other programs and libraries: figures, tables, machines, dates, commands.",
    section: "figures",
};

export function render() {
    const figures = every(repository);
    const items = SUITES.map((suite) => {
        const own = figures.filter((figure) => figure.suite === suite);
        const dates = [...new Set(own.flatMap((figure) => figure.results.map((result) => `${result.machineTitle}, ${result.date}`)))];
        const number = own.length === 1 ? "1 figure" : `${own.length} figures`;
        return `<li><a href="${suite.name}/index.html">${escape(suite.title)}</a> <span>${escape(suite.about)} ${number}; ${escape(dates.join("; "))}.</span></li>`;
    });
    return `<div class="text"><h1>Measurements</h1>
<p class="lead">Every speed that mksum claims is measured beside its peers in the same run, after their results were compared. A figure
is a claim about one machine on one day.</p>
<ul class="list">
${items.join("\n")}
</ul>
<p><a href="../lab/index.html">How to measure on your machine</a>, and what the figures show.
<a href="../lab/index.html#kept-trees">Kept trees and repairs</a> and <a href="../lab/index.html#the-page">the page</a> are tables there.</p></div>`;
}
