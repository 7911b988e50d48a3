// Firefox shows the pages without errors, also on 320 pixels and without a network; figures read their values.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inFirefox } from "./support/firefox.js";
import { files } from "./support/pages.js";

const PAGES = ["index.html", "which-sum.html", "readme.html", "spec/json.html", "lab/index.html", "figures/files/index.html", "figures/javascript/index.html"];

/** Firefox reports requests that end because the next page is opened: each page is opened when the one before is quiet. */
const QUIET = { waitUntil: ["load", "networkidle0"] };

test("Firefox shows the pages", () =>
    inFirefox(async ({ browser, site, server }) => {
        const page = await browser.newPage();
        const errors = [];
        page.on("console", (message) => ["error", "warn"].includes(message.type()) && errors.push(`${page.url()}: ${message.text()}`));
        page.on("pageerror", (error) => errors.push(`${page.url()}: ${error.message}`));
        for (const name of PAGES) {
            await page.goto(site + name, QUIET);
            assert.ok((await page.$eval("h1", (one) => one.textContent)).length > 3, name);
        }
        await page.setViewport({ width: 320, height: 640 });
        for (const name of PAGES) {
            await page.goto(site + name, QUIET);
            const [width, wanted] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
            assert.ok(width <= wanted, `${name}: ${width} of ${wanted}`);
        }

        await page.setViewport({ width: 1100, height: 800 });
        await page.goto(`${site}figures/files/index.html`);
        await page.focus(".plot");
        await page.keyboard.press("ArrowDown");
        assert.match(await page.$eval("figure .unseen", (one) => one.textContent), /^.+: [\d,]+ MB\/s \([\d,]+ to [\d,]+\)$/);

        await page.evaluate(async () => {
            await navigator.serviceWorker.ready;
            while (!navigator.serviceWorker.controller) await new Promise((later) => setTimeout(later, 50));
        });
        server.closeAllConnections();
        server.close();
        for (const name of PAGES) {
            await page.goto(site + name, QUIET);
            assert.ok((await page.$eval("h1", (one) => one.textContent)).length > 3, `${name} without a network`);
        }
        const kept = files.filter((name) => /\.(?:wasm|js|css)$/.test(name) && name !== "service-worker.js");
        const lost = await page.evaluate(async (base, names) => {
            const found = await Promise.all(names.map((name) => fetch(base + name).then(({ ok }) => ok, () => false)));
            return names.filter((_, index) => !found[index]);
        }, site, kept);
        assert.deepEqual(lost, []);
        assert.deepEqual(errors, []);
    }));
