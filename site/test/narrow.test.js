// No page scrolls sideways on a screen of 320 pixels: what is wider scrolls in a box of its own.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inChromium } from "./support/chromium.js";
import { kinds } from "./support/pages.js";

test("pages fit into 320 pixels", () =>
    inChromium(async ({ browser, site }) => {
        const context = await browser.newContext({ viewport: { width: 320, height: 640 }, serviceWorkers: "block" });
        const page = await context.newPage();
        const wide = [];
        for (const name of kinds) {
            await page.goto(site + name, { waitUntil: "domcontentloaded" });
            const width = await page.evaluate("document.documentElement.scrollWidth");
            if (width > 320) wide.push(`${name}: ${width}`);
        }
        assert.deepEqual(wide, []);
    }));
