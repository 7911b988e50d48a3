// After one visit the whole site works without a network; a new version comes whole, when the reader agrees.
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { source } from "../scripts/output.js";
import { precache } from "../scripts/precache.js";
import { inChromium } from "./support/chromium.js";
import { files, output } from "./support/pages.js";

const worker = readFileSync(path.join(source, "service-worker.js"), "utf8");

/** Calls `use` with a copy of the site. */
async function withCopy(use) {
    const folder = mkdtempSync(path.join(tmpdir(), "mksum-site-"));
    try {
        cpSync(output, folder, { recursive: true });
        await use(folder);
    } finally {
        rmSync(folder, { recursive: true, force: true });
    }
}

/** Changes the title of a page, which makes a new version of the site. */
function release(folder, title) {
    const file = path.join(folder, "docs/index.html");
    writeFileSync(file, readFileSync(file, "utf8").replace(/(<h1[^>]*>)[^<]*/, `$1${title}`));
    precache(folder, worker);
}

const ready = "navigator.serviceWorker.ready.then(({ active }) => active.state)";
const controlled = `new Promise((done) => {
    const { serviceWorker } = navigator;
    if (serviceWorker.controller) done();
    else serviceWorker.addEventListener("controllerchange", () => done(), { once: true });
})`;

test("every file of the site is there without a network", () =>
    inChromium(async ({ browser, server, site }) => {
        const context = await browser.newContext();
        const page = await context.newPage();
        await page.goto(site);
        await page.evaluate(ready);
        await page.evaluate(controlled);
        server.closeAllConnections();
        server.close();
        for (const name of ["", "readme.html", "docs/", "spec/rfc6962", "figures/javascript/index.html", "which-sum.html"]) {
            const response = await page.goto(site + name);
            assert.equal(response.status(), 200, name);
            assert.ok(await page.evaluate("getComputedStyle(document.querySelector('main')).paddingTop !== '0px'"), `${name}: no styles`);
        }
        const wanted = files.filter((name) => name !== "service-worker.js");
        const missing = await page.evaluate(async ([base, names]) => {
            const lost = [];
            for (const name of names) if (!(await fetch(base + name).then(({ ok }) => ok, () => false))) lost.push(name);
            return lost;
        }, [site, wanted]);
        assert.deepEqual(missing, []);
    }));

test("a new version waits until the reader agrees, and then replaces the old one", () =>
    withCopy((folder) =>
        inChromium(
            async ({ browser, server, site }) => {
                const page = await browser.newPage();
                await page.goto(`${site}docs/`);
                await page.evaluate(ready);
                await page.evaluate(controlled);
                let asked = 0;
                server.on("request", () => (asked += 1));
                release(folder, "Second");
                await page.goto(`${site}docs/`);
                assert.equal(await page.textContent("h1"), "Documentation");
                await page.click(".update button");
                await page.getByRole("heading", { name: "Second" }).waitFor();
                assert.equal((await page.evaluate("caches.keys()")).length, 1);
                // The worker and the page that changed; all other files are kept.
                assert.ok(asked < 20, `${asked} requests for a version with one new file`);
            },
            { folder },
        ),
    ));

test("a version that is not whole leaves the old one", () =>
    withCopy((folder) =>
        inChromium(
            async ({ browser, site }) => {
                const page = await browser.newPage();
                await page.goto(`${site}docs/`);
                await page.evaluate(ready);
                await page.evaluate(controlled);
                release(folder, "Second");
                // The server has another text than the one that the new version lists.
                writeFileSync(path.join(folder, "docs/index.html"), "<!doctype html><title>half</title><h1>half</h1>");
                const failed = await page.evaluate(
                    "navigator.serviceWorker.getRegistration().then((one) => one.update().then(() => new Promise((end) => { const wait = () => one.installing ? setTimeout(wait, 50) : end(one.waiting === null); wait(); })))",
                );
                assert.equal(failed, true);
                await page.reload();
                assert.equal(await page.textContent("h1"), "Documentation");
                assert.equal((await page.evaluate("caches.keys()")).length, 1);
            },
            { folder },
        ),
    ));
