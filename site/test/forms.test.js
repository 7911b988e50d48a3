// Every format of the specification is on the page of the forms of sums.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { forms } from "../scripts/formats.js";
import { source } from "../scripts/output.js";
import { pages } from "./support/pages.js";

const repository = path.dirname(path.resolve(source));

test("all formats of the specification have a form, and are on its page", () => {
    const listed = [...readFileSync(path.join(repository, "spec/README.md"), "utf8").matchAll(/^\| \[`([^`]+)`\]/gm)].map((match) => match[1]);
    const found = new Set(forms(repository).flatMap(({ formats }) => formats.map(({ name }) => name)));
    assert.deepEqual(found, new Set(listed));
    const page = pages.find(({ name }) => name === "which-sum.html");
    assert.deepEqual(new Set(page.root.querySelectorAll(".form tbody th").map((own) => own.textContent)), found);
});
