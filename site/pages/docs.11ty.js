// The list of all documents, with their first sentences.
import { escape, toRoot } from "../scripts/html.js";
import { documents } from "../scripts/documents.js";
import { repository } from "../scripts/output.js";

export const data = {
    layout: "page.11ty.js",
    permalink: "docs/index.html",
    title: "Documentation",
    about: "All documents of mksum: guides, formats, libraries, measurements, development.",
    section: "docs",
};

const GROUPS = [
    ["Start here", /^README\.md$/],
    ["Guides", /^docs\//],
    ["Formats and files", /^spec\//],
    ["Libraries", /^(?:bindings|crates|languages)\//],
    ["Measurements and test vectors", /^(?:lab|vectors)\//],
    ["Development", /^(?:[A-Z]+|site\/(?:app\/)?README)\.md$/],
];

export function render() {
    const left = new Set(documents(repository));
    const root = toRoot(data.permalink);
    const groups = GROUPS.map(([name, pattern]) => {
        const own = [...left].filter(({ source }) => pattern.test(source));
        for (const one of own) left.delete(one);
        const items = own.map(
            ({ output, title, about }) => `<li><a href="${root}${output}">${escape(title)}</a> <span>${escape(about)}</span></li>`,
        );
        return `<h2>${name}</h2>\n<ul class="list">\n${items.join("\n")}\n</ul>`;
    });
    return `<div class="text"><h1>Documentation</h1>\n${groups.join("\n")}</div>`;
}
