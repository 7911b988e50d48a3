// Damage is located with an outboard of the tool, drawn, and repaired from a good copy.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { built, folder, served, settled, start, tool } from "./browser.js";
import { firefoxPage } from "./firefox.js";

const LEN = 10_000_000;
const FLIPPED = [70_000, 4_000_000, 4_000_001, 9_999_999];
const RANGES = ["65,536..131,072", "3,997,696..4,063,232", "9,961,472..10,000,000"];

/** Writes a file, its outboard by the tool, and a damaged copy with the same name. */
function damaged(own) {
    const [whole, broken] = [folder(own), folder(own)];
    const good = randomBytes(LEN);
    const bad = Buffer.from(good);
    for (const at of FLIPPED) bad[at] ^= 0x10;
    writeFileSync(join(whole, "image.iso"), good);
    writeFileSync(join(broken, "image.iso"), bad);
    tool("keep", join(whole, "image.iso"));
    return { good, bad, copy: join(whole, "image.iso"), outboard: join(whole, "image.iso.mkt"), file: join(broken, "image.iso") };
}

const listed = (page) => page.locator(".range").allInnerTexts();

test("a file and its outboard match", async (own) => {
    const { copy, outboard } = damaged(own);
    const { page } = await start(own);
    await page.locator("#files").setInputFiles([copy, outboard]);
    await page.getByText("All 10,000,000 bytes match image.iso.mkt.").first().waitFor();
});

test("damaged ranges are named, drawn and repaired with a good copy", async (own) => {
    const { good, copy, outboard, file } = damaged(own);
    const { page } = await start(own);
    await page.evaluate(() => delete window.showSaveFilePicker);
    await page.locator("#files").setInputFiles([file, outboard]);
    await page.locator(".strip").waitFor();
    assert.deepEqual(await listed(page), RANGES.map((range) => `bytes ${range}`));
    assert.match(await page.locator(".damage .verdict").innerText(), /✗ Damaged 169,600 of 10,000,000 bytes are damaged \(3 ranges\)/);
    // The verdicts of the tool name the same ranges.
    assert.equal(await page.locator(".strip-mark").count(), 3);
    await page.locator("svg.tree").waitFor();
    const hatched = await page.locator(".tree .damaged title").allTextContents();
    assert.deepEqual(hatched.map((title) => title.replace(/^\w+ \(.* bytes/, "bytes")), ["bytes 0..524288, damaged)", "bytes 3670016..4194304, damaged)", "bytes 9961472..10000000, damaged)"]);

    // The strip is used with the keyboard.
    await page.locator(".strip").focus();
    await page.keyboard.press("n");
    const before = await page.locator(".strip-caption").innerText();
    assert.match(before, /bytes 0\.\.262,144 /);
    for (const key of ["+", "ArrowRight", "ArrowLeft", "-", "Home", "End"]) await page.keyboard.press(key);
    assert.notEqual(await page.locator(".strip-caption").innerText(), before);
    await page.keyboard.press("0");
    assert.match(await page.locator(".strip-caption").innerText(), /bytes 0\.\.10,000,000 of 10,000,000, with 3 damaged ranges/);

    await page.locator(".copy-input").setInputFiles(copy);
    await page.getByText("The repaired file was verified: all 10,000,000 bytes match.").first().waitFor();
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save the repaired file" }).click()]);
    assert.deepEqual(readFileSync(await download.path()), good);
    const [list] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save the list of ranges" }).click()]);
    assert.match(readFileSync(await list.path(), "utf8"), /^65536\.\.131072\n3997696\.\.4063232\n9961472\.\.10000000\n$/m);
});

test("a copy that is damaged in the same place repairs only the other ranges", async (own) => {
    const { good, copy, outboard, file } = damaged(own);
    const other = Buffer.from(good);
    other[4_000_000] ^= 1;
    writeFileSync(copy, other);
    const { page } = await start(own);
    await page.locator("#files").setInputFiles([file, outboard]);
    await page.locator(".strip").waitFor();
    await page.locator(".copy-input").setInputFiles(copy);
    await page.getByText("image.iso does not have the right bytes 3,997,696..4,063,232. The other 2 ranges can be repaired.").first().waitFor();
});

test("a download that ended early is completed from a server, of which only the missing ranges are requested", async (own) => {
    const { good, outboard, file } = damaged(own);
    writeFileSync(file, good.subarray(0, 6_000_000));
    const { page, address, requests, out } = await start(own);
    writeFileSync(join(out, "copy.iso"), good);
    await page.evaluate(() => delete window.showSaveFilePicker);
    await page.locator("#files").setInputFiles([file, outboard]);
    await page.locator(".strip").waitFor();
    assert.match(await page.locator(".damage .verdict").innerText(), /4,000,000 bytes too short/);
    const before = requests.length;
    await page.getByLabel("Address of a good copy").fill(`${address}copy.iso`);
    await page.getByRole("button", { name: "Use a copy on a server" }).click();
    await page.getByText("The repaired file was verified").first().waitFor();
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save the repaired file" }).click()]);
    assert.deepEqual(readFileSync(await download.path()), good);
    assert.deepEqual(requests.slice(before).map(({ range }) => range), ["bytes=5963776-9999999"]);
});

test("a file is repaired in place where the browser can write to it", async (own) => {
    const { good, bad, outboard } = damaged(own);
    const { page, out } = await start(own);
    writeFileSync(join(out, "bad"), bad);
    // The browser's private files have the same handles as those that pickers give.
    await page.evaluate(async () => {
        const root = await navigator.storage.getDirectory();
        const handle = await root.getFileHandle("image.iso", { create: true });
        const writable = await handle.createWritable();
        await (await fetch("bad")).body.pipeTo(writable);
        window.showOpenFilePicker = async () => [handle];
    });
    await page.locator("#known").setInputFiles(outboard);
    await page.getByRole("button", { name: "Choose files" }).click();
    await page.locator(".strip").waitFor();
    const copy = join(folder(own), "good");
    writeFileSync(copy, good);
    await page.locator(".copy-input").setInputFiles(copy);
    await page.getByRole("button", { name: "Repair in place" }).click();
    await page.getByText("All 10,000,000 bytes match image.iso.mkt.").first().waitFor();
    const found = await page.evaluate(async () => {
        const handle = await (await navigator.storage.getDirectory()).getFileHandle("image.iso");
        const digest = await crypto.subtle.digest("SHA-256", await (await handle.getFile()).arrayBuffer());
        return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
    });
    const { createHash } = await import("node:crypto");
    assert.equal(found, createHash("sha256").update(good).digest("hex"));
    await settled(page);
});

test("the example is repaired", async (own) => {
    const { page } = await start(own);
    await page.getByRole("button", { name: "Try an example" }).click();
    const damaged = page.locator("article[aria-label='example.img']");
    await damaged.locator(".strip").waitFor();
    await damaged.getByRole("button", { name: "Use example copy.img" }).click();
    await damaged.getByText("The repaired file was verified: all 6,000,000 bytes match.").waitFor();
    await settled(page);
});

test("a broken outboard is refused", async (own) => {
    const { outboard } = damaged(own);
    const files = folder(own);
    const bytes = readFileSync(outboard);
    bytes[20] ^= 1;
    writeFileSync(join(files, "broken.mkt"), bytes);
    const { page } = await start(own);
    await page.locator("#known").setInputFiles(join(files, "broken.mkt"));
    await page.waitForFunction(() => document.querySelector("#claim-problem").textContent !== "");
    assert.match(await page.locator("#claim-problem").innerText(), /broken\.mkt: /);
});

test("Firefox names damaged ranges and saves the repaired file", async (own) => {
    const { copy, outboard, file } = damaged(own);
    const { address } = await served(own, built(own));
    const page = await firefoxPage(own);
    await page.goto(address);
    await page.setFiles("#files", [file, outboard]);
    await page.waitFor(() => document.querySelector(".strip") !== null);
    assert.deepEqual(await page.evaluate(() => Array.from(document.querySelectorAll(".range"), ({ textContent }) => textContent)), RANGES.map((range) => `bytes ${range}`));
    await page.setFiles(".copy-input", [copy]);
    await page.waitFor(() => document.querySelector(".repair-result").textContent.includes("The repaired file was verified"));
});
