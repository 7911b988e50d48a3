// axe-core finds nothing on any kind of page, with all tables open; its rule of contrast finds nothing in dark either.
import assert from "node:assert/strict";
import { test } from "node:test";
import axe from "axe-core";
import { inChromium } from "./support/chromium.js";
import { kinds } from "./support/pages.js";

const LIGHT = { resultTypes: ["violations"] };
const DARK = { ...LIGHT, runOnly: ["color-contrast"] };

test("axe-core has no findings", () =>
    inChromium(async ({ browser, site }) => {
        const context = await browser.newContext({ viewport: { width: 1100, height: 900 }, serviceWorkers: "block", reducedMotion: "reduce" });
        const page = await context.newPage();
        const findings = [];
        for (const name of kinds) {
            await page.emulateMedia({ colorScheme: "light" });
            await page.goto(site + name, { waitUntil: "domcontentloaded" });
            await page.evaluate(`${axe.source}; for (const one of document.querySelectorAll("details")) one.open = true;`);
            for (const [colorScheme, options] of Object.entries({ light: LIGHT, dark: DARK })) {
                await page.emulateMedia({ colorScheme });
                const { violations } = await page.evaluate(`axe.run(document, ${JSON.stringify(options)})`);
                for (const { id, nodes } of violations) {
                    for (const { target, failureSummary } of nodes.slice(0, 3)) findings.push(`${name}, ${colorScheme}: ${id}: ${target}: ${failureSummary}`);
                }
            }
        }
        assert.deepEqual(findings, []);
    }));
