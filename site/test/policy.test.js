// Pages have a strict content security policy, nothing inline that it would refuse, and nothing from other servers.
import assert from "node:assert/strict";
import { test } from "node:test";
import { pages } from "./support/pages.js";

test("each page has the policy before anything that it governs", () => {
    for (const { name, root } of pages) {
        const policies = root.querySelectorAll("meta").filter((one) => one.getAttribute("http-equiv") === "Content-Security-Policy");
        assert.equal(policies.length, 1, name);
        const head = root.querySelector("head").childNodes.filter((one) => one.tagName);
        assert.equal(head.findIndex((one) => one === policies[0]), 1, `${name}: the policy follows the encoding`);
        const policy = policies[0].getAttribute("content");
        assert.match(policy, /default-src 'none'/, name);
        assert.doesNotMatch(policy, /unsafe-inline|'unsafe-eval'|http:|\*/, name);
        // The page that hashes compiles the engine, and fetches good copies from servers that its reader names.
        if (name !== "index.html") assert.doesNotMatch(policy, /unsafe|https:|blob:|data:/, name);
        for (const kind of ["script-src", "style-src", "default-src"]) assert.doesNotMatch(policy.match(`${kind} ([^;]*)`)[1], /https:|blob:|data:/, name);
    }
});

test("no page has scripts, styles or handlers of its own", () => {
    for (const { name, root, text } of pages) {
        assert.equal(root.querySelectorAll("style, [style]").length, 0, `${name}: a style`);
        assert.equal(root.querySelectorAll("script:not([src])").length, 0, `${name}: a script`);
        assert.doesNotMatch(text, /<[^>]+\son[a-z]+=/i, `${name}: a handler`);
        assert.doesNotMatch(text, /href="javascript:/i, name);
    }
});

test("no page loads anything from another server", () => {
    for (const { name, root } of pages) {
        const loaded = [...root.querySelectorAll("[src]").map((one) => one.getAttribute("src")), ...root.querySelectorAll("link").map((one) => one.getAttribute("href"))];
        assert.deepEqual(loaded.filter((link) => /^(?:[a-z]+:|\/\/)/.test(link)), [], name);
    }
});
