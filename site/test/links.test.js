// Every link inside the site leads to a file and, where it names one, to an anchor; addresses are relative, so any path can serve it.
import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { files, pages } from "./support/pages.js";

const known = new Set(files);
const anchors = new Map(pages.map(({ name, root }) => [name, new Set(root.querySelectorAll("[id]").map((one) => one.id))]));

function* links({ root }) {
    for (const one of root.querySelectorAll("[href]")) yield one.getAttribute("href");
    for (const one of root.querySelectorAll("[src]")) yield one.getAttribute("src");
}

test("no link or anchor is broken", () => {
    const broken = [];
    for (const page of pages) {
        for (const link of links(page)) {
            if (/^(?:https?|mailto):/.test(link)) continue;
            const [name, anchor] = link.split("#");
            const file = name === "" ? page.name : path.posix.join(path.posix.dirname(page.name), decodeURI(name));
            if (!known.has(file)) broken.push(`${page.name}: ${link}`);
            else if (anchor && !anchors.get(file)?.has(anchor)) broken.push(`${page.name}: ${link}: no such anchor`);
        }
    }
    assert.deepEqual(broken, []);
});

test("no address begins at the server's root", () => {
    const rooted = pages.flatMap((page) => [...links(page)].filter((link) => link.startsWith("/")).map((link) => `${page.name}: ${link}`));
    assert.deepEqual(rooted, []);
});
