// Nothing leaves the machine: after it is loaded, the page requests only its own parser of sums, once. The policy is strict, also of the
// offline page.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { browser, built, digests, folder, opened, printed, served, settled, start, tool } from "./browser.js";
import { firefoxPage } from "./firefox.js";

/** Uses the page: hashes, compares, locates damage, draws a tree. */
async function use(own, page) {
    const files = folder(own);
    const bytes = randomBytes(40_000_000);
    const path = join(files, "file.bin");
    writeFileSync(path, bytes);
    const sha256 = printed("sha256sum", path).slice(0, 64);
    tool("keep", path);
    bytes[1_000_000] ^= 1;
    writeFileSync(path, bytes);
    await page.getByLabel("Paste a digest").fill(sha256);
    await page.getByRole("button", { name: "Compare", exact: true }).click();
    await page.locator("#files").setInputFiles([path, `${path}.mkt`]);
    await page.locator(".strip").waitFor({ timeout: 300_000 });
    await page.locator("details.tools > summary").click();
    await page.getByRole("button", { name: "Draw the tree" }).click();
    await page.locator("svg.tree").waitFor();
    await settled(page);
    assert.equal((await digests(page, "file.bin"))["SHA-256"], printed("sha256sum", path).slice(0, 64));
}

test("after it is loaded, the page requests only its parser of sums, with the first of them", async (own) => {
    const { page, requests, address } = await start(own);
    const before = requests.length;
    assert.ok(!requests.some(({ path }) => path.endsWith("sums.wasm")));
    const made = [];
    page.context().on("request", (request) => made.push(request.url()));
    await use(own, page);
    assert.deepEqual(made.filter((url) => !url.startsWith("blob:")), [`${address}sums.wasm`]);
    assert.deepEqual(requests.slice(before).map(({ method, path }) => [method, path]), [["GET", `${new URL(address).pathname}sums.wasm`]]);
});

test("without its parser of sums the page hashes files, and says why it compares none", async (own) => {
    const out = built(own);
    rmSync(join(out, "sums.wasm"));
    const { address } = await served(own, out);
    const page = await (await browser(own)).newPage();
    await page.goto(address);
    await page.locator("#app[data-state=ready]").waitFor();
    await page.locator("#files").setInputFiles([{ name: "a", mimeType: "", buffer: Buffer.from("a") }]);
    await settled(page);
    await page.getByLabel("Paste a digest").fill("0".repeat(64));
    await page.getByRole("button", { name: "Compare", exact: true }).click();
    await page.locator("#claim-problem", { hasText: /A part of the page cannot be loaded: .*sums\.wasm: .*found status 404\. Check the connection and try again/ }).waitFor();
});

test("the policy forbids inline scripts and styles, and names only what the page needs", (own) => {
    const html = readFileSync(join(built(own), "index.html"), "utf8");
    const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1] ?? "";
    assert.match(policy, /^default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self';/);
    assert.doesNotMatch(policy, /unsafe-inline|unsafe-eval'? ?(?<!wasm-unsafe-eval' ?);|\*/);
    assert.doesNotMatch(html, /<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=/i);
});

test("the page with its engine has less than 206 KB when it is compressed, its parser of sums 150 KB, and the element 120 KB with Brotli", (own) => {
    const out = built(own);
    const sizes = ["index.html", "app.css", "app.js", "worker.js", "simd.wasm"].map((name) => gzipSync(readFileSync(join(out, name)), { level: 9 }).length);
    const total = sizes.reduce((sum, size) => sum + size);
    assert.ok(total < 206_000, `${total} bytes: ${sizes.join(" + ")}`);
    const parser = gzipSync(readFileSync(join(out, "sums.wasm")), { level: 9 }).length;
    assert.ok(parser < 150_000, `sums.wasm: ${parser} bytes`);
    const element = brotliCompressSync(readFileSync(join(out, "verify-download.js"))).length;
    assert.ok(element < 120_000, `verify-download.js: ${element} bytes`);
});

test("the offline page is one file that works without a server and can make no request", async (own) => {
    const out = built(own);
    const path = join(out, "offline.html");
    const html = readFileSync(path, "utf8");
    const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1] ?? "";
    assert.match(policy, /connect-src 'none'/);
    assert.match(policy, /script-src 'sha256-[^']+' 'wasm-unsafe-eval'; style-src 'sha256-[^']+'/);
    assert.doesNotMatch(policy, /unsafe-inline/);
    assert.doesNotMatch(html.replace(/<script[^]*?<\/script>/, ""), /\b(src|href)="(?!data:)/);
    const page = await opened(own, await browser(own), pathToFileURL(path).href);
    const made = [];
    page.context().on("request", (request) => made.push(request.url()));
    await use(own, page);
    assert.deepEqual(made.filter((url) => !url.startsWith("blob:")), []);
    assert.ok((await page.evaluate(() => window.mksum.workers())) >= 1);
});

test("Firefox runs the offline page, also with workers", async (own) => {
    const out = built(own);
    const path = join(folder(own), "file.bin");
    writeFileSync(path, randomBytes(40_000_000));
    const page = await firefoxPage(own);
    await page.goto(pathToFileURL(join(out, "offline.html")).href);
    await page.setFiles("#files", [path]);
    await page.waitFor(() => window.mksum.workspace.items.length === 1 && window.mksum.workspace.jobs.size === 0);
    const [item] = await page.evaluate(() => window.mksum.workspace.items.map(({ error, roots }) => ({ error, roots: Object.fromEntries(roots) })));
    assert.equal(item.error, undefined);
    assert.equal(item.roots.sha256, printed("sha256sum", path).slice(0, 64));
});
