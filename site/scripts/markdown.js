// Markdown to HTML: anchors as on code hosts, links from file to page, tables that scroll, no inline styles.
import path from "node:path";
// Comes with Eleventy, which renders Markdown by it.
import MarkdownIt from "markdown-it";
// Anchors of headings as code hosts make them, so that a link works in the repository and on the site.
import Slugger from "github-slugger";
import { readFileSync } from "node:fs";
import { escape } from "./html.js";
import { documents } from "./documents.js";

const IMAGE = /\.(?:svg|png|jpe?g|webp)$/;

const kept = (tokens, index, options, _env, self) => self.renderToken(tokens, index, options);

const code = (tokens, index) => {
    const language = tokens[index].info.trim();
    const kind = /^[a-z]+$/.test(language) ? ` class="language-${language}"` : "";
    return `<pre tabindex="0"><code${kind}>${escape(tokens[index].content)}</code></pre>\n`;
};

/** Returns the renderer. `env.source` is the path of the page in the repository. */
export function renderer(repository) {
    const pages = new Map(documents(repository).map(({ source, output }) => [source, output]));
    const markdown = new MarkdownIt({ html: true, linkify: false });
    markdown.core.ruler.push("site", ({ tokens, env }) => {
        if (!env.source) return;
        outline(tokens, env);
        for (const token of tokens) {
            if (token.type === "inline") inline(token, env.source, pages);
            // Marks of generated tables.
            if (token.type === "html_block" && token.content.startsWith("<!--")) token.content = "";
        }
    });
    const { rules } = markdown.renderer;
    for (const cell of ["th_open", "td_open"]) {
        rules[cell] = (tokens, index, options, env, self) => {
            const side = tokens[index].attrGet("style")?.match(/text-align:(\w+)/)?.[1];
            tokens[index].attrs = side && side !== "left" ? [["class", side]] : null;
            // A heading without words is no heading.
            if (cell === "th_open" && tokens[index + 1].content === "") tokens[index].tag = tokens[index + 2].tag = "td";
            return kept(tokens, index, options, env, self);
        };
    }
    rules.table_open = (tokens, index) =>
        `<div class="scroll" role="group" tabindex="0" aria-label="${escape(tokens[index].meta?.label ?? "Table")}"><table>`;
    rules.table_close = () => "</table></div>";
    rules.fence = code;
    rules.code_block = code;
    markdown.assets = (list) => [...new Set(list.flatMap(({ source }) => images(repository, source)))];
    return markdown;
}

/** Gives headings their anchors and tables the name of the heading above them; `env.outline` gets the headings of level two. */
function outline(tokens, env) {
    const slugger = new Slugger();
    let last = "";
    env.page.outline = [];
    for (const [index, token] of tokens.entries()) {
        if (token.type === "heading_open") {
            last = words(tokens[index + 1]);
            const id = slugger.slug(last);
            token.attrSet("id", id);
            if (token.tag === "h2") env.page.outline.push({ id, title: last });
        }
        if (token.type === "table_open") token.meta = { label: `Table: ${last}` };
    }
}

/** The text of a heading without marks. */
const words = (token) => token.children.map((child) => (child.type === "image" ? child.content : child.content)).join("");

/** Links to documents become links to pages. Files that are not on the site are named by their path in the repository. */
function inline(token, source, pages) {
    const children = [];
    let removed;
    for (const [index, child] of token.children.entries()) {
        if (child.type === "link_open") {
            const { href, file } = target(child.attrGet("href"), source, pages);
            if (href) {
                child.attrSet("href", href);
            } else {
                const text = token.children.slice(index + 1).find((one) => one.content)?.content ?? "";
                removed = { file: file.endsWith(text.replace(/\/$/, "")) ? undefined : file, child };
                continue;
            }
        }
        if (child.type === "link_close" && removed) {
            const { file } = removed;
            removed = undefined;
            if (!file) continue;
            child.type = "html_inline";
            child.tag = "";
            child.content = ` (<code>${escape(file)}</code>)`;
        }
        if (child.type === "image") {
            child.attrSet("src", relative(source, path.posix.join(path.posix.dirname(source), child.attrGet("src")), pages));
            child.attrSet("loading", "lazy");
            child.attrSet("class", "drawn");
        }
        children.push(child);
    }
    token.children = children;
}

/** Returns where a link leads on the site, or the path of a file that is not there. */
function target(href, source, pages) {
    if (/^(?:[a-z]+:|#)/.test(href)) return { href };
    const [name, anchor] = decodeURI(href).split("#");
    const file = path.posix.join(path.posix.dirname(source), name).replace(/\/$/, "");
    const page = pages.get(file) ?? pages.get(path.posix.join(file, "README.md"));
    if (!page) return { file: file || "." };
    return { href: relative(source, page, pages) + (anchor ? `#${anchor}` : "") };
}

function relative(source, to, pages) {
    return path.posix.relative(path.posix.dirname(pages.get(source)), to) || path.posix.basename(to);
}

function images(repository, source) {
    const text = readFileSync(path.join(repository, source), "utf8");
    const links = [...text.matchAll(/!\[[^\]]*\]\(([^)\s]+)\)/g)].map((match) => match[1]);
    return links.filter((link) => IMAGE.test(link) && !/^[a-z]+:/.test(link)).map((link) => path.posix.join(path.posix.dirname(source), link));
}
