// Files are hashed in all chosen formats, from a server that isolates nothing, and the digests are those of other programs.
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { built, digests, folder, printed, served, settled, start, tool } from "./browser.js";
import { firefoxPage } from "./firefox.js";

/** Writes two files: a short one, and one that all workers share. */
function twoFiles(own) {
    const files = folder(own);
    const paths = { "small file.bin": join(files, "small file.bin"), "long.bin": join(files, "long.bin") };
    writeFileSync(paths["small file.bin"], "hello\n");
    writeFileSync(paths["long.bin"], randomBytes(50_000_000));
    return paths;
}

test("Chromium: the digests are those of sha256sum and of the tool", async (own) => {
    const paths = twoFiles(own);
    const { page } = await start(own);
    assert.equal(await page.evaluate(() => typeof SharedArrayBuffer), "undefined");
    await page.locator("#formats > summary").click();
    await page.getByLabel("SHA-512", { exact: false }).first().check();
    await page.getByLabel("Another format").fill("rfc6962:sha256:1MiB");
    await page.getByRole("button", { name: "Add" }).click();
    await page.locator("#files").setInputFiles(Object.values(paths));
    await settled(page);
    for (const [name, path] of Object.entries(paths)) {
        const found = await digests(page, name);
        assert.equal(found["SHA-256"], printed("sha256sum", path).slice(0, 64));
        assert.equal(found["SHA-512"], printed("sha512sum", path).slice(0, 128));
        assert.equal(found.BLAKE3, tool("--untagged", "-f", "blake3", path).slice(0, 64));
        assert.equal(found["rfc6962:sha256:1MiB"], tool("--untagged", "-f", "rfc6962:sha256:1MiB", path).slice(0, 64));
    }
    assert.equal(await page.locator("#items .badge").count(), 0);
});

test("Firefox: the digests are those of sha256sum and of the tool", async (own) => {
    const paths = twoFiles(own);
    const { address } = await served(own, built(own));
    const page = await firefoxPage(own);
    await page.goto(address);
    await page.setFiles("#files", Object.values(paths));
    await page.waitFor(() => window.mksum.workspace.items.length === 2 && window.mksum.workspace.jobs.size === 0 && document.querySelectorAll("dl.digests dd").length === 4);
    const found = await page.evaluate(() => Object.fromEntries(window.mksum.workspace.items.map(({ path, roots }) => [path, Object.fromEntries(roots)])));
    for (const [name, path] of Object.entries(paths)) {
        assert.equal(found[name].sha256, printed("sha256sum", path).slice(0, 64));
        assert.equal(found[name].blake3, tool("--untagged", "-f", "blake3", path).slice(0, 64));
    }
});

test("an empty file has a digest", async (own) => {
    const path = join(folder(own), "empty");
    writeFileSync(path, "");
    const { page } = await start(own);
    await page.locator("#files").setInputFiles(path);
    await settled(page);
    assert.equal((await digests(page, "empty"))["SHA-256"], createHash("sha256").digest("hex"));
});
