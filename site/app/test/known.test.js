// What a person knows is recognised, and compared with the files.
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folder, printed, settled, start, tool } from "./browser.js";

const sum = (hash, bytes, encoding = "hex") => createHash(hash).update(bytes).digest(encoding);

/** The ETag of an upload in parts, as S3 defines it. */
function etag(bytes, part) {
    const parts = [];
    for (let at = 0; at < bytes.length; at += part) parts.push(createHash("md5").update(bytes.subarray(at, at + part)).digest());
    return `${sum("md5", Buffer.concat(parts))}-${parts.length}`;
}

/** Opens the page with one file. */
async function withFile(own, bytes, name = "file.bin") {
    const path = join(folder(own), name);
    writeFileSync(path, bytes);
    const { page } = await start(own);
    await page.locator("#files").setInputFiles(path);
    await settled(page);
    const compare = async (text) => {
        await page.getByLabel("Paste a digest").fill(text);
        await page.getByRole("button", { name: "Compare", exact: true }).click();
        await settled(page);
        await page.waitForFunction(() => !document.querySelector(".badge.pending"));
        const verdicts = await page.locator(".item .verdict > p:first-child").allInnerTexts();
        await page.locator("#known-list button").last().click();
        return verdicts.at(-1);
    };
    return { page, path, compare };
}

test("digests are recognised in every usual spelling, and their format is found", async (own) => {
    const bytes = randomBytes(3_000_000);
    const { path, compare } = await withFile(own, bytes);
    const sha256 = sum("sha256", bytes);
    for (const text of [sha256, sha256.toUpperCase(), ` "${sha256}" `, `sha256:${sha256}`, sum("sha256", bytes, "base64"), `sha256-${sum("sha256", bytes, "base64")}`, sha256.match(/../g).join(":"), `SHA-256: ${sha256}`]) {
        assert.match(await compare(text), /^✓ Match This is the SHA-256/, text);
    }
    assert.match(await compare(sum("md5", bytes)), /This is the MD5/);
    assert.match(await compare(`Content-MD5: ${sum("md5", bytes, "base64")}`), /This is the MD5/);
    assert.match(await compare(sum("sha512", bytes)), /This is the SHA-512/);
    assert.match(await compare(sum("sha3-256", bytes)), /This is the SHA3-256/);
    assert.match(await compare(tool("--untagged", path).slice(0, 64)), /This is the rfc6962:sha256:64KiB/);
    assert.match(await compare(tool("--untagged", "-f", "btv2", path).slice(0, 64)), /This is the btv2/);
    assert.match(await compare(tool("--untagged", "-f", "dropbox", path).slice(0, 64)), /This is the dropbox/);
    assert.match(await compare("0".repeat(64)), /^✗ Mismatch The file has another digest in each of the \d+ formats/);
    assert.match(await compare(`sha256:${"0".repeat(64)}`), /^✗ Mismatch The SHA-256 of the file is another one/);
    assert.match(await compare(`md5sum: ${"0".repeat(32)}`), /^✗ Mismatch/);
});

test("the part size of an ETag is found", async (own) => {
    const bytes = randomBytes(37_000_000);
    const { compare } = await withFile(own, bytes);
    for (const mib of [5, 8, 15]) {
        assert.match(await compare(`"${etag(bytes, mib << 20)}"`), new RegExp(`^✓ Match This is the S3 ETag with parts of ${mib}MiB`));
    }
    assert.match(await compare(`ETag: "${etag(bytes, 7_000_000)}"`), /^✗ Mismatch None of \d+ part sizes/);
    assert.match(await compare(`${"0".repeat(32)}-4000`), /^✗ Mismatch|part size/);
});

test("text that is nothing known is refused with a reason", async (own) => {
    const { page } = await start(own);
    await page.getByLabel("Paste a digest").fill("not a digest");
    await page.getByRole("button", { name: "Compare", exact: true }).click();
    assert.match(await page.locator("#claim-problem").innerText(), /“not a digest” is not a digest or a sum file/);
});

for (const style of ["GNU", "BSD tag"]) {
    test(`a folder is compared with its SHA256SUMS (${style}), and a changed and a missing file are named`, async (own) => {
        const files = folder(own);
        mkdirSync(join(files, "release/docs"), { recursive: true });
        const names = ["a.txt", "docs/b c.txt", "docs/ümlaut.txt"];
        for (const name of names) writeFileSync(join(files, "release", name), randomBytes(5000));
        writeFileSync(join(files, "release/changed.txt"), "before");
        const flags = style === "GNU" ? [] : ["--tag"];
        const lines = names.concat("changed.txt").map((name) => printed("sha256sum", ...flags, join(files, "release", name)).replaceAll(`${join(files, "release")}/`, "./"));
        writeFileSync(join(files, "release/changed.txt"), "after!");
        writeFileSync(join(files, "release/SHA256SUMS"), lines.join("") + (style === "GNU" ? `${"0".repeat(64)} *gone.iso\n` : `SHA256 (gone.iso) = ${"0".repeat(64)}\n`));
        const { page } = await start(own);
        await page.locator("#folder").setInputFiles(join(files, "release"));
        await settled(page);
        const states = Object.fromEntries(await page.locator("article.item").evaluateAll((all) => all.map((one) => [one.getAttribute("aria-label"), one.querySelector(".badge")?.textContent])));
        assert.deepEqual(states, {
            "release/a.txt": "✓ Match", "release/docs/b c.txt": "✓ Match", "release/docs/ümlaut.txt": "✓ Match", "release/changed.txt": "✗ Mismatch",
        });
        assert.match(await page.locator("#summary").innerText(), /3 files match\. 1 file does not match\. 1 listed file is missing\./);
        assert.match(await page.locator("#missing").innerText(), /gone\.iso/);
    });
}

test("the sum file that the page saves is checked by the tool", async (own) => {
    const files = folder(own);
    writeFileSync(join(files, "one.bin"), randomBytes(100_000));
    writeFileSync(join(files, "two\\.bin"), randomBytes(100));
    const { page } = await start(own);
    await page.locator("#files").setInputFiles([join(files, "one.bin"), join(files, "two\\.bin")]);
    await settled(page);
    await page.evaluate(() => delete window.showSaveFilePicker);
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save as a sum file" }).click()]);
    const sums = join(files, "sums");
    await download.saveAs(sums);
    const { execFileSync } = await import("node:child_process");
    const output = execFileSync(process.env.MKSUM, ["-c", "sums"], { cwd: files, encoding: "utf8" });
    assert.equal(output.match(/OK/g)?.length, 4, output);
});
