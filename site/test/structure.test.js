// Every page is well-formed, says its language, has one first heading, headings in order, names for pictures, and a title of its own.
import assert from "node:assert/strict";
import { test } from "node:test";
import { valid } from "node-html-parser";
import { pages } from "./support/pages.js";

/** Collects what `check` finds on all pages. */
function none(check) {
    const found = pages.flatMap((page) => [...check(page)].map((fault) => `${page.name}: ${fault}`));
    assert.deepEqual(found, []);
}

test("each tag is closed", () => {
    assert.deepEqual(pages.filter(({ text }) => !valid(text)).map(({ name }) => name), []);
});

test("each page has a language, a description and one h1", () =>
    none(function* check({ root }) {
        if (root.querySelector("html")?.getAttribute("lang") !== "en") yield "no language";
        if (!root.querySelector('meta[name="description"]')?.getAttribute("content")) yield "no description";
        const first = root.querySelectorAll("h1").length;
        if (first !== 1) yield `${first} h1`;
    }));

test("no heading skips a level", () =>
    none(function* check({ root }) {
        let level = 0;
        for (const heading of root.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
            const own = Number(heading.tagName.slice(1));
            if (own > level + 1) yield `${heading.tagName} after H${level}: ${heading.text}`;
            level = own;
        }
    }));

test("each picture has a text", () =>
    none(function* check({ root }) {
        for (const image of root.querySelectorAll("img")) if (!image.getAttribute("alt")) yield image.toString();
        for (const image of root.querySelectorAll('svg[role="img"]')) if (!image.getAttribute("aria-label")) yield "a figure without a label";
    }));

test("identifiers are unique on a page, and titles on the site", () => {
    none(function* check({ root }) {
        const ids = root.querySelectorAll("[id]").map((one) => one.id);
        for (const id of ids.filter((one, index) => ids.indexOf(one) !== index)) yield `#${id} twice`;
    });
    const titles = pages.map(({ root }) => root.querySelector("title").text);
    assert.deepEqual(titles.filter((one, index) => titles.indexOf(one) !== index), []);
});
