// Firefox, driven by WebDriver BiDi, which Debian's Firefox speaks; Playwright needs a Firefox of its own.
import puppeteer from "puppeteer-core";
import { inBrowser } from "./browser.js";

/** Calls `use` with a browser and the address of the site. */
export function inFirefox(use) {
    const executablePath = process.env.FIREFOX ?? "/usr/bin/firefox-esr";
    return inBrowser(executablePath, () => puppeteer.launch({ browser: "firefox", executablePath, headless: true }), use);
}
