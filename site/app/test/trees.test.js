// Outboards and proofs are exchanged with the command-line tool; trees are drawn with its digests.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folder, settled, start, tool } from "./browser.js";

/** Opens the page with a file and the part of its tools. */
async function withTools(own, len = 5_000_000) {
    const files = folder(own);
    const path = join(files, "file.bin");
    const bytes = randomBytes(len);
    writeFileSync(path, bytes);
    const { page } = await start(own);
    await page.evaluate(() => delete window.showSaveFilePicker);
    await page.locator("#files").setInputFiles(path);
    await settled(page);
    await page.locator("details.tools > summary").click();
    const saved = async (name, as) => {
        const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name }).click()]);
        await download.saveAs(join(files, as));
        return join(files, as);
    };
    return { page, path, bytes, files, saved };
}

test("the tool verifies a file with the page's outboard", async (own) => {
    const { page, path, saved } = await withTools(own);
    for (const format of ["rfc6962:sha256:64KiB", "blake3", "btv2"]) {
        await page.getByLabel("Tree format").selectOption(format);
        await page.getByRole("button", { name: "Make an outboard" }).click();
        await page.getByText("The outboard is made:").waitFor();
        const outboard = await saved("Save file.bin.mkt", "file.bin.mkt");
        assert.equal(await page.locator(".tools-result code").innerText(), tool("--untagged", "-f", format, path).slice(0, 64));
        const damaged = Buffer.from(readFileSync(path));
        tool("verify", path);
        damaged[1_000_000] ^= 1;
        writeFileSync(path, damaged);
        assert.throws(() => execFileSync(process.env.MKSUM, ["verify", path], { stdio: "pipe" }), /Command failed/);
        damaged[1_000_000] ^= 1;
        writeFileSync(path, damaged);
        assert.ok(readFileSync(outboard).length > 1024);
        await page.locator("#files").setInputFiles(path);
        await settled(page);
        await page.locator("details.tools > summary").click();
    }
});

test("the tool checks the page's proof, and the page the tool's", async (own) => {
    const { page, path, bytes, files, saved } = await withTools(own);
    await page.getByLabel("Bytes to prove").fill("1,000,000..1,000,100");
    await page.getByRole("button", { name: "Make a proof" }).click();
    await page.getByText("The proof is made:").waitFor();
    assert.equal(await page.locator(".tools-result code.digest").innerText(), tool("--untagged", path).slice(0, 64));
    const proof = await saved("Save the proof", "range.proof");
    const part = await saved("Save the bytes", "range.bytes");
    assert.deepEqual(readFileSync(part), bytes.subarray(1_000_000, 1_000_100));
    const root = tool(path).trim();
    const digest = tool("--untagged", path).slice(0, 64);
    assert.match(tool("check-proof", digest, proof, part, "--length", "5000000"), /./);

    const theirs = join(files, "theirs.proof");
    writeFileSync(theirs, execFileSync(process.env.MKSUM, ["prove", path, "--range", "2000000..2000500"]));
    writeFileSync(join(files, "part"), bytes.subarray(2_000_000, 2_000_500));
    await page.locator("#files").setInputFiles([join(files, "part"), theirs]);
    const card = page.locator(".proof");
    await card.getByLabel("root that you trust").fill(digest);
    await card.getByLabel("length in bytes").fill("5,000,000");
    await card.getByLabel("The bytes").selectOption("part");
    await card.getByRole("button", { name: "Check the proof" }).click();
    await card.getByText("Bytes 2,000,000..2,000,500 are in the file with this root.").waitFor();
    await card.getByLabel("root that you trust").fill("0".repeat(64));
    await card.getByRole("button", { name: "Check the proof" }).click();
    await card.getByText("✗ Not valid").waitFor();
    assert.ok(root.length > 64);
});

test("a proof that a file only grew is checked", async (own) => {
    const { page, path, bytes, files } = await withTools(own);
    const older = join(files, "older");
    writeFileSync(older, bytes.subarray(0, 3_000_001));
    const proof = join(files, "grown.proof");
    writeFileSync(proof, execFileSync(process.env.MKSUM, ["prove", path, "--consistency", "3000001"]));
    await page.locator("#known").setInputFiles(proof);
    const card = page.locator(".proof");
    await card.getByLabel("newer file’s root").fill(tool("--untagged", path).slice(0, 64));
    await card.getByLabel("older file’s root").fill(tool("--untagged", older).slice(0, 64));
    await card.getByLabel("length in bytes that you trust").fill("5000000");
    await card.getByRole("button", { name: "Check the proof" }).click();
    await card.getByText("The newer file begins with the 3,000,001 bytes of the older one.").waitFor();
});

/** Returns digests and ranges of nodes. The tool shows more levels than the page, and says something else of nodes with others below them. */
const nodes = (titles) => titles.map((title) => title.replace(/\(.*?(bytes|over)/, "($1"));

test("the tree is drawn with the digests of the tool", async (own) => {
    const { page, path, saved } = await withTools(own, 700_001);
    for (const format of ["rfc6962:sha256:64KiB", "btv2", "fsverity:sha256:4KiB", "blake3"]) {
        await page.getByLabel("Tree format").selectOption(format);
        await page.getByRole("button", { name: "Draw the tree" }).click();
        await page.waitForFunction((own) => document.querySelector("svg.tree .title")?.textContent.startsWith(own), format);
        const drawn = await page.locator("svg.tree g title").allTextContents();
        const theirs = new Set(nodes(Array.from(tool("--graph=svg", "-f", format, path).matchAll(/<title>(.*?)<\/title>/g), ([, title]) => title)));
        assert.deepEqual(nodes(drawn).filter((node) => !theirs.has(node)), [], format);
        assert.ok(drawn.length > 10, `${format}: ${drawn.length} nodes`);
    }
    assert.match(readFileSync(await saved("Save as SVG", "tree.svg"), "utf8"), /^<svg [^>]*xmlns="http:\/\/www\.w3\.org\/2000\/svg"[^>]*>\n<style>/);
});
