// The built pages, parsed.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { parse } from "node-html-parser";
import { output } from "../../scripts/output.js";

if (!existsSync(path.join(output, "index.html"))) throw new Error(`${output} has no site: run \`make site\` first`);

export { output };

/** The paths of all files of the site. */
export const files = readdirSync(output, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(output, path.join(entry.parentPath ?? entry.path, entry.name)).replaceAll(path.sep, "/"))
    .toSorted();

/** Pages that are not part of the site's frame: the application's page to save for later is whole in itself. */
const ALONE = new Set(["offline.html"]);

/** All pages: `{name, text, root}`. */
export const pages = files
    .filter((name) => name.endsWith(".html") && !ALONE.has(name))
    .map((name) => {
        const text = readFileSync(path.join(output, name), "utf8");
        return { name, text, root: parse(text, { comment: true }) };
    });

/** The folders of figures, whose pages are alike. */
const FIGURES = /^figures\/[^/]+\//;

/**
 * The pages that differ in kind: all but figures, and of the figures the first and the last of each suite. Browsers look at these,
 * and at all pages if ALL_PAGES is set.
 */
export const kinds = pages
    .map(({ name }) => name)
    .filter((name, index, all) => {
        const folder = name.match(FIGURES)?.[0];
        if (!folder || process.env.ALL_PAGES) return true;
        const own = all.filter((other) => other.startsWith(folder));
        return name === `${folder}index.html` || name === own.at(-1);
    });
