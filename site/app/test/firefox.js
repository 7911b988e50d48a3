// A released Firefox, driven by WebDriver BiDi through Puppeteer: Playwright needs a build of its own.
import { existsSync } from "node:fs";
import puppeteer from "puppeteer-core";

const FIREFOX = process.env.FIREFOX ?? "/usr/bin/firefox-esr";

/** Starts Firefox for a test and returns its page, with `goto`, `evaluate`, `setFiles` and `waitFor`. */
export async function firefoxPage(test) {
    if (!existsSync(FIREFOX)) throw new Error(`${FIREFOX} is missing: install it, or set FIREFOX=/path/to/it`);
    const browser = await puppeteer.launch({ browser: "firefox", executablePath: FIREFOX, headless: true });
    test.after(() => browser.close());
    const page = await browser.newPage();
    const waitFor = async (act, ...args) => {
        for (const end = Date.now() + 120_000; !(await page.evaluate(act, ...args)); ) {
            if (Date.now() > end) throw new Error(`not within 120 s: ${act}`);
            await new Promise((resolve) => setTimeout(resolve, 100));
        }
    };
    return {
        evaluate: (act, ...args) => page.evaluate(act, ...args),
        goto: async (url) => {
            await page.goto(url);
            await waitFor(() => document.querySelector("#app")?.dataset.state === "ready");
        },
        setFiles: async (selector, files) => (await page.$(selector)).uploadFile(...files),
        waitFor,
    };
}
