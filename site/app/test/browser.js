// Builds the page, serves it without special headers, and opens it in a real browser. A missing browser is an error.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const root = fileURLToPath(new URL("../", import.meta.url));

const TYPES = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm" };

const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";

/** Returns a folder for files of a test, which is removed at its end. */
export function folder(test) {
    const path = mkdtempSync(join(tmpdir(), "mksum-page-"));
    test.after(() => rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }));
    return path;
}

/** The page, once it is built. */
let once;

/** Returns a new folder with the page, which is built once for each file of tests. */
export function built(test) {
    if (!once) {
        once = mkdtempSync(join(tmpdir(), "mksum-page-"));
        process.on("exit", () => rmSync(once, { recursive: true, force: true }));
        execFileSync(process.execPath, [join(root, "build.js"), once], { stdio: "inherit" });
    }
    const out = folder(test);
    cpSync(once, out, { recursive: true });
    return out;
}

/**
 * Serves a folder below a path, as a plain server of files does: without COOP and COEP, with ranges where `ranges` is set.
 * Returns the address, and the list of requests.
 */
export async function served(test, out, { below = "/some/where/", headers = {} } = {}) {
    const requests = [];
    const server = createServer((request, response) => {
        const { pathname } = new URL(request.url, "http://localhost");
        requests.push({ path: pathname, method: request.method, range: request.headers.range });
        const name = pathname.startsWith(below) ? pathname.slice(below.length) || "index.html" : "";
        const file = join(out, name);
        const isThere = name !== "" && !name.includes("..") && existsSync(file);
        const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "");
        const all = { "Content-Type": TYPES[extname(name)] ?? "application/octet-stream", ...headers };
        if (isThere && range) {
            const [bytes, start, end] = [readFileSync(file), Number(range[1]), Number(range[2])];
            response.writeHead(206, { ...all, "Content-Range": `bytes ${start}-${end}/${bytes.length}` }).end(bytes.subarray(start, end + 1));
        } else {
            response.writeHead(isThere ? 200 : 404, all).end(isThere ? readFileSync(file) : "");
        }
    });
    await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
    test.after(() => {
        server.closeAllConnections();
        server.close();
    });
    return { address: `http://127.0.0.1:${server.address().port}${below}`, requests };
}

/** Starts Chromium for a test. */
export async function browser(test, args = []) {
    if (!existsSync(CHROMIUM)) throw new Error(`${CHROMIUM} is missing: install it, or set CHROMIUM=/path/to/it`);
    const own = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-gpu", ...args] });
    test.after(() => own.close());
    return own;
}

/** Opens an address, and fails the test if the page reports an error. */
export async function opened(test, own, address, options = {}) {
    const context = await own.newContext({ acceptDownloads: true, ...options });
    const page = await context.newPage();
    const errors = [];
    page.on("pageerror", (error) => errors.push(String(error)));
    page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
    await page.goto(address);
    await page.waitForSelector("#app[data-state]", { timeout: 300_000 });
    test.after(() => {
        if (errors.length > 0) throw new Error(`errors on the page:\n${errors.join("\n")}`);
    });
    return page;
}

/** Builds, serves and opens the page. */
export async function start(test, { context = {}, args = [], serving = {} } = {}) {
    const out = built(test);
    const { address, requests } = await served(test, out, serving);
    const page = await opened(test, await browser(test, args), address, context);
    return { page, address, requests, out };
}

/** Waits until no job runs and all files have a result. */
export async function settled(page, timeout = 120_000) {
    await page.waitForFunction(() => {
        const { workspace } = window.mksum;
        return workspace.items.length > 0 && workspace.jobs.size === 0 && workspace.items.every(({ roots, error, refused }) => error || roots.size + refused.size > 0);
    }, undefined, { timeout });
    // The results are shown shortly after.
    await page.waitForTimeout(120);
}

/** Returns the digests that the page shows of a file, by the name of the format. */
export function digests(page, path) {
    return page.locator(`article[aria-label="${path}"] dl.digests`).evaluate((list) =>
        Object.fromEntries(Array.from(list.querySelectorAll("dt"), (term) => [term.textContent, term.nextElementSibling.querySelector("code")?.textContent])),
    );
}

/** Runs a program and returns what it prints. */
export function printed(program, ...args) {
    return execFileSync(program, args, { encoding: "utf8", maxBuffer: 1 << 28 });
}

/** The command-line tool. */
export function tool(...args) {
    const path = process.env.MKSUM;
    if (!path) throw new Error("MKSUM is not set: build the tool with `cargo build --release -p mksum-cli`, and set MKSUM=/path/to/mksum");
    return printed(path, ...args);
}
