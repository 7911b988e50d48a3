// Firefox, driven by WebDriver BiDi, which Debian's Firefox speaks; Playwright needs a Firefox of its own.
import { existsSync } from "node:fs";
import puppeteer from "puppeteer-core";
import { serve } from "../../scripts/serve.js";
import { BASE } from "./chromium.js";
import { output } from "./pages.js";

const PROGRAM = process.env.FIREFOX ?? "/usr/bin/firefox-esr";

/** Calls `use` with a browser and the address of the site. */
export async function inFirefox(use) {
    if (!existsSync(PROGRAM)) throw new Error(`${PROGRAM} is missing: scripts/need.sh firefox installs it`);
    const server = await serve(output, { base: BASE });
    const browser = await puppeteer.launch({ browser: "firefox", executablePath: PROGRAM, headless: true });
    try {
        await use({ browser, server, site: `http://127.0.0.1:${server.address().port}${BASE}` });
    } finally {
        await browser.close();
        server.closeAllConnections();
        server.close();
    }
}
