// Pointer and arrow keys read the values of a figure, and say what the table says.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inChromium } from "./support/chromium.js";

test("arrow keys go through lines and bars, and each value is said", () =>
    inChromium(async ({ browser, site }) => {
        const page = await browser.newPage({ serviceWorkers: "block" });
        await page.goto(`${site}figures/languages/index.html`);
        await page.focus(".plot");
        await page.keyboard.press("ArrowRight");
        const cell = (row, column) => page.evaluate(([r, c]) => document.querySelector("table").tBodies[0].rows[r].cells[c].textContent, [row, column]);
        const said = () => page.textContent("figure .unseen");
        assert.equal(await said(), `${await cell(0, 0)}: ${await cell(0, 1)} MB/s at 16 bytes in a leaf`);
        await page.keyboard.press("ArrowDown");
        await page.keyboard.press("ArrowRight");
        assert.equal(await said(), `${await cell(1, 0)}: ${await cell(1, 2)} MB/s at 64 bytes in a leaf`);
        assert.equal(await page.isVisible(".tip"), true);
        await page.keyboard.press("Escape");
        assert.equal(await page.isVisible(".tip"), false);
        await page.goto(`${site}figures/files/index.html`);
        await page.focus(".plot");
        await page.keyboard.press("ArrowDown");
        assert.equal(await said(), `${await cell(0, 0)}: ${await cell(0, 1)} MB/s (${await cell(0, 2)} to ${await cell(0, 3)})`);
    }));

test("the pointer shows the value that it is at", () =>
    inChromium(async ({ browser, site }) => {
        const page = await browser.newPage({ serviceWorkers: "block" });
        await page.goto(`${site}figures/files/index.html`);
        await page.hover(".series:nth-of-type(3) rect");
        const name = await page.textContent(".series:nth-of-type(3) text");
        assert.match(await page.textContent(".tip"), new RegExp(`^${RegExp.escape?.(name) ?? name.replaceAll(/[^\w\s]/g, "\\$&")}: `));
        await page.goto(`${site}figures/javascript/index.html`);
        const mark = page.locator(".series.thick .mark").nth(3);
        await mark.hover({ force: true });
        assert.match(await page.textContent(".tip"), /^mksum: \d+ MB\/s at [\d,]+ bytes of input$/);
    }));
