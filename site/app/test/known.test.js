// What a person knows is recognised, and compared with the files.
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { crc32 } from "node:zlib";
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
    // The formats that the tool tries for such a digest, in its order.
    assert.match(await compare("0".repeat(64)), /^\? Cannot check None of these formats gives this value: rfc6962:sha256:64KiB, SHA-256, BLAKE3, .*and the others below\. The file is another one, or the value is in another format/);
    assert.match(await compare(`sha256:${"0".repeat(64)}`), /^✗ Mismatch The SHA-256 of the file is another one/);
    assert.match(await compare(`md5sum: ${"0".repeat(32)}`), /^✗ Mismatch/);
});

/** A line that a program printed, with the format that matches. */
function from(format, line) {
    return { format, line: line.trim(), digest: /[0-9a-fA-F]{128}|[0-9a-fA-F]{96}|[0-9a-fA-F]{64}|[0-9a-fA-F]{40}/.exec(line)[0] };
}

/** Lines about a file, as programs print them. */
function lines(path, bytes) {
    const openssl = (hash) => printed("openssl", "dgst", `-${hash}`, path);
    return [
        from("SHA-256", printed("sha256sum", path)), from("BLAKE3", printed("b3sum", path)), from("BLAKE3", printed("b3sum", "--tag", path)),
        from("BLAKE2b", printed("b2sum", path)), from("BLAKE2b", printed("b2sum", "--tag", path)),
        from("SM3", printed("cksum", "--untagged", "-a", "sm3", path)), from("SM3", printed("cksum", "-a", "sm3", path)),
        from("SHA3-256", openssl("sha3-256")), from("SHA3-256", `${sum("sha3-256", bytes)}  ${path}`), from("SHA3-384", `${sum("sha3-384", bytes)}  ${path}`),
        from("SHA3-512", `${sum("sha3-512", bytes)} *${path}`), from("BLAKE2s", openssl("blake2s256")),
        from("RIPEMD160", openssl("ripemd160")), from("RIPEMD160", `${sum("ripemd160", bytes)}  ${path}`), from("SHA-512/256", `${sum("sha512-256", bytes)}  ${path}`),
    ];
}

test("an intact file matches its line and its bare digest in each format, and a changed one matches none", async (own) => {
    const bytes = randomBytes(100_000);
    const { page, path, compare } = await withFile(own, bytes);
    const all = lines(path, bytes);
    const crc = crc32(bytes).toString(16).padStart(8, "0");
    for (const { format, line, digest } of all) {
        assert.ok((await compare(line)).startsWith(`✓ Match Matches pasted sums, line 1 (${format}).`), line);
        assert.equal(await compare(digest), `✓ Match This is the ${format} of the file.`, line);
    }
    assert.equal(await compare(crc), "✓ Match This is the CRC32 of the file.");
    assert.equal(await compare(`CRC-32: ${crc.toUpperCase()}`), "✓ Match This is the CRC32 of the file.");
    assert.equal(await compare(`; Generated by WIN-SFV32 v1.1a\n;\nfile.bin ${crc}\n`), "✓ Match Matches pasted sums, line 3 (CRC32).");
    assert.match(await compare(printed("rhash", "--sfv", path)), /^✓ Match Matches pasted sums, line \d+ \(CRC32\)\.$/);
    // Keccak-256 of nothing: no program here prints others.
    await page.locator("#files").setInputFiles({ name: "file.bin", mimeType: "", buffer: Buffer.alloc(0) });
    await settled(page);
    assert.equal(await compare("c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"), "✓ Match This is the Keccak-256 of the file.");
    // Another file: what names its format does not match, anything else cannot be checked.
    await page.locator("#files").setInputFiles({ name: "file.bin", mimeType: "", buffer: Buffer.from("another") });
    await settled(page);
    for (const { format, line, digest } of all) {
        const named = /\(.*\)\s?= /.test(line);
        assert.match(await compare(line), named ? /^✗ Mismatch Does not match pasted sums, line 1/ : /^\? Cannot check pasted sums, line 1: None of these formats gives this value: /, line);
        assert.match(await compare(digest), /^\? Cannot check None of these formats gives this value: /, line);
        assert.match(await compare(`${format}: ${digest}`), /^✗ Mismatch The .* of the file is another one/, line);
    }
    assert.match(await compare(crc), /^\? Cannot check None of these formats gives this value: CRC32, CRC32C, XXH32\./);
});

test("in a list without formats, the files that match tell the format of the others", async (own) => {
    const files = folder(own);
    mkdirSync(join(files, "list"));
    const names = Array.from({ length: 30 }, (_, at) => `${at}.bin`);
    for (const name of names) writeFileSync(join(files, "list", name), randomBytes(1000));
    const list = names.map((name) => `${sum("sha3-256", readFileSync(join(files, "list", name)))}  ${name}\n`).join("");
    writeFileSync(join(files, "list", "0.bin"), "changed");
    writeFileSync(join(files, "list", "29.bin"), "changed");
    const { page } = await start(own);
    await page.locator("#folder").setInputFiles(join(files, "list"));
    await settled(page);
    await page.getByLabel("Paste a digest").fill(list);
    await page.getByRole("button", { name: "Compare", exact: true }).click();
    await page.locator("#summary", { hasText: "28 files match. 2 files do not match." }).waitFor();
    assert.match(await page.locator("tbody tr").first().innerText(), /✗ Mismatch[^]*Does not match pasted sums, line 1 \(SHA3-256\)\. The line does not name its format, but another line of pasted sums matches in this one/);
});

test("the part size of an ETag is found", async (own) => {
    const bytes = randomBytes(37_000_000);
    const { compare } = await withFile(own, bytes);
    for (const mib of [5, 8, 15]) {
        assert.match(await compare(`"${etag(bytes, mib << 20)}"`), new RegExp(`^✓ Match This is the S3 ETag with parts of ${mib}MiB`));
    }
    assert.match(await compare(`ETag: "${etag(bytes, 7_000_000)}"`), /^\? Cannot check None of these formats gives this value: S3 ETag with parts of/);
    assert.match(await compare(`${"0".repeat(32)}-40000000`), /^\? Cannot check No part size divides/);
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
