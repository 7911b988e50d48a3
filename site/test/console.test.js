// No page has errors or warnings in the browser's console, requests that fail, or requests to other servers.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inChromium, watched } from "./support/chromium.js";
import { kinds } from "./support/pages.js";

test("pages load without errors", () =>
    inChromium(async ({ browser, site }) => {
        const errors = [];
        // Playwright's way to block service workers is a warning in the console.
        const context = await browser.newContext();
        await context.addInitScript("delete Navigator.prototype.serviceWorker");
        const page = await watched(context, errors);
        page.on("request", (request) => {
            if (!request.url().startsWith(site) && !request.url().startsWith("blob:")) errors.push(`${page.url()}: asks ${request.url()}`);
        });
        for (const name of kinds) await page.goto(site + name);
        assert.deepEqual(errors, []);
    }));
