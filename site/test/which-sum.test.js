// A pasted sum shows the formats that print sums of its form; every format of the specification is on the page.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { read } from "../browser/sum-text.js";
import { forms } from "../scripts/formats.js";
import { source } from "../scripts/output.js";
import { inChromium } from "./support/chromium.js";

const repository = path.dirname(path.resolve(source));
const HEX = "b218795ca4e1183b0c91b518f866f3c4de0d5c255f87437b37aee17bc7cd06b3";

test("sums are read alone and in lines of sum files", () => {
    const sha256 = { bytes: 32, base64: false, parts: false, tag: undefined };
    assert.deepEqual(read(HEX), sha256);
    assert.deepEqual(read(` ${HEX.toUpperCase()}\n`), sha256);
    assert.deepEqual(read(`${HEX}  big file.iso`), sha256);
    assert.deepEqual(read(`\\${HEX} *a\\nb`), sha256);
    assert.deepEqual(read(`rfc6962:sha256:64KiB (big (1).txt) = ${HEX}`), { ...sha256, tag: "rfc6962:sha256:64KiB" });
    assert.deepEqual(read(`SHA2-256(big.txt)= ${HEX}`), { ...sha256, tag: "SHA2-256" });
    assert.deepEqual(read(`sha256-${Buffer.from(HEX, "hex").toString("base64")}`), { ...sha256, base64: true, tag: "sha256" });
    assert.deepEqual(read(`sha256:${HEX}`), { ...sha256, tag: "sha256" });
    assert.deepEqual(read('"8474cb1b0e5ab0edb8589142647eb461-5"'), { bytes: 16, base64: false, parts: true, tag: undefined });
    assert.deepEqual(read("++oh/w==-3"), { bytes: 4, base64: true, parts: true, tag: undefined });
    assert.deepEqual(read("swh:1:cnt:4b825dc642cb6eb9a060e54bf8d69288fbee4904"), { bytes: 20, base64: false, parts: false, tag: undefined });
    assert.deepEqual(read("00000000"), { bytes: 4, base64: false, parts: false, tag: undefined });
    for (const text of ["", "hello world", "abc", "12345", HEX.slice(1)]) assert.equal(read(text), undefined, text);
});

test("all formats of the specification have a form", () => {
    const listed = [...readFileSync(path.join(repository, "spec/README.md"), "utf8").matchAll(/^\| \[`([^`]+)`\]/gm)].map((match) => match[1]);
    const found = new Set(forms(repository).flatMap(({ formats }) => formats.map(({ name }) => name)));
    assert.deepEqual(found, new Set(listed));
});

test("the page shows what fits", () =>
    inChromium(async ({ browser, site }) => {
        const page = await browser.newPage({ serviceWorkers: "block" });
        await page.goto(`${site}which-sum.html`);
        const shown = () => page.locator(".form:visible tbody tr").evaluateAll((rows) => rows.map((row) => row.dataset.format));
        const all = (await shown()).length;
        await page.fill("#sum", "8474cb1b0e5ab0edb8589142647eb461-5");
        assert.deepEqual(await shown(), ["s3"]);
        await page.fill("#sum", "Fu3ajoKSTy1d7v3Mg7Lk7Q==-3");
        assert.deepEqual(await shown(), ["s3"]);
        await page.fill("#sum", `${HEX}  big.txt`);
        const fits = await shown();
        for (const name of ["rfc6962", "plain", "sha256", "blake3", "sm3"]) assert.ok(fits.includes(name), name);
        for (const name of ["md5", "s3", "sha512"]) assert.ok(!fits.includes(name), name);
        assert.match(await page.textContent("#answer"), /^32 bytes: \d+ formats\.$/);
        await page.fill("#sum", "no sum");
        assert.match(await page.textContent("#answer"), /^This is no sum/);
        await page.fill("#sum", "");
        assert.equal((await shown()).length, all);
    }));
