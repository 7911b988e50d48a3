// Pages of documentation have all that their Markdown files have: headings, code, tables, pictures; and Markdown files are pages.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import MarkdownIt from "markdown-it";
import { documents } from "../scripts/documents.js";
import { source } from "../scripts/output.js";
import { pages } from "./support/pages.js";

const repository = path.dirname(path.resolve(source));
const page = new Map(pages.map(({ name, root }) => [name, root]));

/** How often each kind of block is in a page: of tags, as the standard renderer makes them. */
const KINDS = { heading_open: "h1, h2, h3, h4, h5, h6", fence: "pre", code_block: "pre", table_open: "table", image: "img", list_item_open: "li", td_open: "td" };

test("each page has all blocks of its file", () => {
    for (const { source: file, output } of documents(repository)) {
        const tokens = new MarkdownIt({ html: true }).parse(readFileSync(path.join(repository, file), "utf8"), {});
        const wanted = {};
        for (const { type } of tokens.flatMap((token) => [token, ...(token.children ?? [])])) {
            if (KINDS[type]) wanted[KINDS[type]] = (wanted[KINDS[type]] ?? 0) + 1;
        }
        const article = page.get(output).querySelector("article");
        for (const [tags, count] of Object.entries(wanted)) {
            // A cell of a head without words is no heading.
            const empty = tags === "td" ? article.querySelectorAll("thead td").length : 0;
            assert.equal(article.querySelectorAll(tags).length - empty, count, `${output}: ${tags}`);
        }
    }
});

test("code is shown as it is written", () => {
    const text = page.get("spec/rfc6962.html").querySelectorAll("pre").map((one) => one.textContent).join("\n");
    assert.match(text, /^root +=/m);
    const json = page.get("readme.html").querySelectorAll("pre").map((one) => one.textContent).join("\n");
    assert.ok(json.includes("$ mksum big.txt > SUMS && mksum -c SUMS"));
});

test("all guides and all pages of the specification are on the site", () => {
    const names = execFileSync("git", ["ls-files", "docs/*.md", "spec/*.md"], { cwd: repository, encoding: "utf8" }).split("\n").filter(Boolean);
    const known = new Set(documents(repository).map(({ source: file }) => file));
    for (const name of names) assert.ok(known.has(name), name);
});
