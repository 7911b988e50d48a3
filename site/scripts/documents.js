// The pages of documentation: which Markdown files of the repository are pages of the site, and where.
import { readFileSync } from "node:fs";
import path from "node:path";

/** Lists all pages, with a sentence on each, and is one itself. */
const INDEX = "docs/README.md";

const found = new Map();

/** Returns each document's source, output path, title (its first heading) and what the index says of it, in the order of the index. */
export function documents(repository) {
    if (found.has(repository)) return found.get(repository);
    const text = (source) => readFileSync(path.join(repository, source), "utf8");
    const list = [{ source: INDEX, about: "All documents of mksum: guides, formats, libraries, measurements, development." }];
    for (const [, link, about] of text(INDEX).matchAll(/^- \[[^\]]*\]\(([^)]*)\): (.*)$/gm)) {
        list.push({ source: path.posix.join(path.posix.dirname(INDEX), link), about: about.replaceAll("`", "") });
    }
    for (const one of list) {
        one.output = address(one.source);
        one.title = text(one.source).match(/^# (.*)$/m)[1].replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll(/[`*]/g, "");
    }
    found.set(repository, list);
    return list;
}

/** The repository's README is `readme.html`, because `index.html` is the page that hashes; others are the index of their folder. */
function address(source) {
    if (source === "README.md") return "readme.html";
    return source.replace(/README\.md$/, "index.html").replace(/\.md$/, ".html").replace(/^[A-Z]+\.html$/, (name) => name.toLowerCase());
}
