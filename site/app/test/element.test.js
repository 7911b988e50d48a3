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
async function embedded(own, attributes, { bytes = BYTES, policy = "'wasm-unsafe-eval'", link = `<a href="file.iso">Download file.iso</a>` } = {}) {
    const out = built(own);
    const { address } = await served(own, out, { headers: { "Access-Control-Allow-Origin": "*" } });
    const site = folder(own);
    writeFileSync(join(site, "file.iso"), bytes);
    writeFileSync(join(site, "index.html"), `<!doctype html><title>Another site</title><link rel="icon" href="data:,">
        <meta http-equiv="Content-Security-Policy" content="default-src 'self'; script-src ${new URL(address).origin} ${policy}">
        <script type="module" src="${address}verify-download.js"></script>
        <verify-download href="file.iso" ${attributes}>${link}</verify-download>`);
    const { address: other } = await served(own, site);
    const context = await (await browser(own)).newContext({ acceptDownloads: true });
    const page = await context.newPage();
    page.on("pageerror", (error) => assert.fail(String(error)));
    await page.goto(other);
    await page.evaluate(() => delete window.showSaveFilePicker);
    return page;
}

const act = (page) => page.getByRole("link", { name: "Download file.iso" }).click();

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
    const page = await embedded(own, `root="sha256:${SHA256}"`, { bytes: bad });
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

test("a root that names no format is tried in each, and nothing is saved if it is none's", async (own) => {
    for (const hash of ["sha3-256", "blake2s256", "sha512-256"]) {
        const page = await embedded(own, `root="${createHash(hash).update(BYTES).digest("hex")}"`);
        await Promise.all([page.waitForEvent("download"), act(page)]);
        await page.getByText("✓ Verified").waitFor();
    }
    // A tree must be named: a file can be made of its nodes so that the plain sum of it is the tree's root.
    const path = join(folder(own), "file.iso");
    writeFileSync(path, BYTES);
    const tree = await embedded(own, `root="${tool("--untagged", path).slice(0, 64)}"`);
    await act(tree);
    await tree.getByText("The file was not saved: no format gives the expected").waitFor();
    const page = await embedded(own, `root="${"0".repeat(64)}"`);
    page.on("download", () => assert.fail("it was saved"));
    await act(page);
    await page.getByText("The file was not saved: no format gives the expected 000").waitFor();
    assert.match(await page.getByRole("status").innerText(), new RegExp(`^\\? Cannot check .*SHA-256 ${SHA256}, BLAKE3 `));
});

/** Clicks the link, which downloads the file unverified, and returns what the element says. */
async function plain(page) {
    const [download] = await Promise.all([page.waitForEvent("download"), act(page)]);
    assert.deepEqual(readFileSync(await download.path()), BYTES);
    return page.getByRole("status").innerText();
}

test("where nothing can be verified, the link still downloads the file, and the reason is said", async (own) => {
    const nonsense = await embedded(own, "root=\"nonsense\"");
    assert.match(await plain(nonsense), /^\? Cannot check file\.iso is downloaded without being verified: the attribute root is not a digest: “nonsense”/);
    const forbidden = await embedded(own, `root="${SHA256}"`, { policy: "" });
    assert.match(await plain(forbidden), /^\? Cannot check file\.iso is downloaded without being verified: .*'wasm-unsafe-eval'/);
    const closed = await embedded(own, `root="${SHA256}"`, { policy: "'wasm-unsafe-eval'; connect-src 'none'" });
    await act(closed);
    await closed.getByText("The link now downloads it without being verified.").waitFor();
    assert.match(await plain(closed), /^\? Cannot check .* cannot be fetched/);
});

test("the element has a link of its own, which is in no button, and a cancelled download is no error", async (own) => {
    const page = await embedded(own, `root="sha256:${SHA256}"`, { link: "" });
    // The server does not answer.
    await page.route("**/file.iso", () => {});
    const link = page.getByRole("link", { name: "Download and verify file.iso" });
    assert.equal(await page.locator("verify-download button a, verify-download button slot").count(), 0);
    await link.click();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("Cancelled. Nothing was saved.").waitFor();
    assert.equal(await page.getByRole("status").getAttribute("class"), "cancelled");
});

const html = (root) => `<!doctype html><title>Another site</title><div id="app" data-state="ready"></div>
    <script type="module" src="verify-download.js"></script><verify-download href="file.iso" root="${root}"></verify-download>`;

test("Firefox saves only the expected file", async (own) => {
    const out = built(own);
    writeFileSync(join(out, "file.iso"), BYTES);
    writeFileSync(join(out, "good.html"), html(SHA256));
    writeFileSync(join(out, "bad.html"), html(`sha256:${"0".repeat(64)}`));
    const { address } = await served(own, out);
    const page = await firefoxPage(own);
    for (const [name, expected] of [["good.html", /✓ Verified file\.iso/], ["bad.html", /✗ Mismatch The file is not the expected one and was not saved/]]) {
        await page.goto(`${address}${name}`);
        await page.waitFor(() => document.querySelector("verify-download").shadowRoot !== null);
        await page.evaluate(() => document.querySelector("verify-download").shadowRoot.querySelector("a").click());
        await page.waitFor(() => document.querySelector("verify-download").shadowRoot.querySelector("[role=status]").textContent !== "");
        assert.match(await page.evaluate(() => document.querySelector("verify-download").shadowRoot.querySelector("[role=status]").textContent), expected);
    }
});
