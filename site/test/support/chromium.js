// Chromium, driven by Playwright.
import { chromium } from "playwright-core";
import { inBrowser } from "./browser.js";

/** Calls `use` with a browser and the address of the site. */
export function inChromium(use, options) {
    const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
    // The sandbox does not work for root.
    const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
    return inBrowser(executablePath, () => chromium.launch({ executablePath, args }), use, options);
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
