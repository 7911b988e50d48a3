// Chromium, and a server of the site below a path that is not the root.
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";
import { serve } from "../../scripts/serve.js";
import { output } from "./pages.js";

const PROGRAM = process.env.CHROMIUM ?? "/usr/bin/chromium";
export const BASE = "/x/mksum/";

/** Calls `use` with a browser and the address of the site. */
export async function inChromium(use, { folder = output, gzip = false } = {}) {
    if (!existsSync(PROGRAM)) throw new Error(`${PROGRAM} is missing: scripts/need.sh chromium installs it`);
    const server = await serve(folder, { base: BASE, gzip });
    // The sandbox does not work for root.
    const browser = await chromium.launch({ executablePath: PROGRAM, args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] });
    try {
        await use({ browser, server, site: `http://127.0.0.1:${server.address().port}${BASE}` });
    } finally {
        await browser.close();
        server.closeAllConnections();
        server.close();
    }
}

/** Returns a page that collects errors in `errors`: messages of the console, exceptions, requests that failed. */
export async function watched(context, errors) {
    const page = await context.newPage();
    page.on("console", (message) => {
        if (["error", "warning"].includes(message.type())) errors.push(`${page.url()}: ${message.text()}`);
    });
    page.on("pageerror", (error) => errors.push(`${page.url()}: ${error.message}`));
    page.on("response", (response) => {
        if (response.status() >= 400) errors.push(`${page.url()}: ${response.url()}: ${response.status()}`);
    });
    return page;
}
