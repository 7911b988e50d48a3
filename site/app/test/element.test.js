// The element that other sites embed: it saves a download only if it is the expected file.
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { browser, built, folder, served, tool } from "./browser.js";
import { firefoxPage } from "./firefox.js";

const BYTES = randomBytes(3_000_000);
const SHA256 = createHash("sha256").update(BYTES).digest("hex");

/** Opens a page of another site that embeds the element in one line. */
async function embedded(own, attributes, bytes = BYTES) {
    const out = built(own);
    const { address } = await served(own, out, { headers: { "Access-Control-Allow-Origin": "*" } });
    const site = folder(own);
    writeFileSync(join(site, "file.iso"), bytes);
    writeFileSync(join(site, "index.html"), `<!doctype html><title>Another site</title><link rel="icon" href="data:,">
        <meta http-equiv="Content-Security-Policy" content="default-src 'self'; script-src ${new URL(address).origin} 'wasm-unsafe-eval'">
        <script type="module" src="${address}verify-download.js"></script>
        <verify-download href="file.iso" ${attributes}><a href="file.iso">Download file.iso</a></verify-download>`);
    const { address: other } = await served(own, site);
    const context = await (await browser(own)).newContext({ acceptDownloads: true });
    const page = await context.newPage();
    page.on("pageerror", (error) => assert.fail(String(error)));
    await page.goto(other);
    await page.evaluate(() => delete window.showSaveFilePicker);
    return page;
}

const act = (page) => page.getByRole("button", { name: "Download file.iso" }).click();

test("a file with the expected root is saved", async (own) => {
    const page = await embedded(own, `root="${SHA256}"`);
    const [download] = await Promise.all([page.waitForEvent("download"), act(page)]);
    assert.equal(download.suggestedFilename(), "file.iso");
    assert.deepEqual(readFileSync(await download.path()), BYTES);
    assert.match(await page.getByRole("status").innerText(), /✓ Verified file\.iso has the expected SHA-256 and was saved \(3,000,000 bytes\)/);
});

test("a root of a tree, as the tool prints it, works too", async (own) => {
    const path = join(folder(own), "file.iso");
    writeFileSync(path, BYTES);
    const line = tool(path).trim();
    const page = await embedded(own, `root="${line}"`);
    await Promise.all([page.waitForEvent("download"), act(page)]);
    assert.match(await page.getByRole("status").innerText(), /✓ Verified file\.iso has the expected rfc6962:sha256:64KiB/);
});

test("another file is not saved", async (own) => {
    const bad = Buffer.from(BYTES);
    bad[2_000_000] ^= 1;
    const page = await embedded(own, `root="${SHA256}"`, bad);
    page.on("download", () => assert.fail("it was saved"));
    await act(page);
    await page.getByText("✗ Mismatch").waitFor();
    assert.match(await page.getByRole("status").innerText(), new RegExp(`was not saved\\. Expected SHA-256 ${SHA256}, found ${createHash("sha256").update(bad).digest("hex")}`));
    await page.waitForTimeout(500);
    // Nothing is left in the browser's storage.
    assert.deepEqual(await page.evaluate(async () => {
        const names = [];
        for await (const name of (await navigator.storage.getDirectory()).keys()) names.push(name);
        return names;
    }), []);
});

test("a wrong attribute is named", async (own) => {
    const page = await embedded(own, "root=\"nonsense\"");
    await act(page);
    await page.getByText("the attribute root is not a digest: “nonsense”").waitFor();
});

const html = (root) => `<!doctype html><title>Another site</title><div id="app" data-state="ready"></div>
    <script type="module" src="verify-download.js"></script><verify-download href="file.iso" root="${root}"></verify-download>`;

test("Firefox saves only the expected file", async (own) => {
    const out = built(own);
    writeFileSync(join(out, "file.iso"), BYTES);
    writeFileSync(join(out, "good.html"), html(SHA256));
    writeFileSync(join(out, "bad.html"), html("0".repeat(64)));
    const { address } = await served(own, out);
    const page = await firefoxPage(own);
    for (const [name, expected] of [["good.html", /✓ Verified file\.iso/], ["bad.html", /✗ Mismatch The file is not the expected one and was not saved/]]) {
        await page.goto(`${address}${name}`);
        await page.waitFor(() => document.querySelector("verify-download").shadowRoot !== null);
        await page.evaluate(() => document.querySelector("verify-download").shadowRoot.querySelector("button").click());
        await page.waitFor(() => document.querySelector("verify-download").shadowRoot.querySelector("[role=status]").textContent !== "");
        assert.match(await page.evaluate(() => document.querySelector("verify-download").shadowRoot.querySelector("[role=status]").textContent), expected);
    }
});
