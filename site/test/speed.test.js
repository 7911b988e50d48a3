// Pages show something within a second on 3G, and none is larger than 226 KB, compressed, with all that it loads: scripts and the
// engine are included, the pictures of documents are not.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inChromium } from "./support/chromium.js";
import { kinds } from "./support/pages.js";

/** 3G as Lighthouse throttles it: 150 ms for a round trip, 1.6 Mbit/s down, 750 kbit/s up. */
const G3 = { offline: false, latency: 150, downloadThroughput: (1.6e6 / 8), uploadThroughput: 750e3 / 8 };
const PAINT_MS = 1000;
const PAGE_BYTES = 226_000;

const OFTEN = ["index.html", "which-sum.html", "readme.html", "docs/index.html", "figures/files/index.html", "figures/javascript/index.html"];

const FIRST_PAINT = `new Promise((done) => {
    const told = (list) => list.getEntriesByName("first-contentful-paint").forEach(({ startTime }) => done(startTime));
    new PerformanceObserver(told).observe({ type: "paint", buffered: true });
})`;

/** Returns when the first paint came, in milliseconds, without anything cached. */
async function painted(browser, url) {
    const context = await browser.newContext({ serviceWorkers: "block" });
    try {
        const page = await context.newPage();
        const session = await context.newCDPSession(page);
        await session.send("Network.enable");
        await session.send("Network.emulateNetworkConditions", G3);
        await page.goto(url, { waitUntil: "load" });
        return await page.evaluate(FIRST_PAINT);
    } finally {
        await context.close();
    }
}

// The best of three, because other work on this machine delays a paint, too.
test("the first paint comes within a second on 3G", () =>
    inChromium(
        async ({ browser, site }) => {
            for (const name of OFTEN) {
                let paint = Infinity;
                for (let tries = 0; tries < 3 && paint >= PAINT_MS; tries += 1) paint = Math.min(paint, await painted(browser, site + name));
                assert.ok(paint < PAINT_MS, `${name}: ${Math.round(paint)} ms`);
            }
        },
        { gzip: true },
    ));

test("no page loads more than 226 KB", () =>
    inChromium(
        async ({ browser, site }) => {
            const large = [];
            const context = await browser.newContext({ serviceWorkers: "block" });
            const page = await context.newPage();
            const session = await context.newCDPSession(page);
            await session.send("Network.enable");
            await session.send("Network.setCacheDisabled", { cacheDisabled: true });
            const pictures = new Set();
            let bytes = 0;
            session.on("Network.responseReceived", ({ requestId, type }) => type === "Image" && pictures.add(requestId));
            session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
                if (!pictures.has(requestId)) bytes += encodedDataLength;
            });
            for (const name of kinds) {
                bytes = 0;
                // The application fetches its engine by itself.
                await page.goto(site + name, { waitUntil: name === "index.html" ? "networkidle" : "load" });
                if (bytes > PAGE_BYTES) large.push(`${name}: ${Math.round(bytes / 1000)} KB`);
                assert.ok(bytes > 1000, name);
            }
            assert.deepEqual(large, []);
        },
        { gzip: true },
    ));
