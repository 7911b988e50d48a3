// Long files in constant memory, folders of many files, several jobs at once, cancellation, and files that change.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { appendFileSync, closeSync, ftruncateSync, mkdirSync, openSync, readFileSync, readdirSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { built, folder, printed, served, settled, start, tool } from "./browser.js";
import { firefoxPage } from "./firefox.js";

/** Writes a sparse file with some bytes at its end. */
function sparse(path, len) {
    const file = openSync(path, "w");
    ftruncateSync(file, len - 4);
    writeSync(file, "tail", len - 4);
    closeSync(file);
}

/** The memory of a browser's processes in bytes: all of them but what they share with the system. */
function memoryOf(pid) {
    const children = new Map();
    for (const name of readdirSync("/proc").filter((own) => /^\d+$/.test(own))) {
        try {
            const parent = /^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${name}/status`, "utf8"))?.[1];
            children.set(parent, [...(children.get(parent) ?? []), name]);
        } catch {
            // It has ended.
        }
    }
    const all = (own) => [own, ...(children.get(own) ?? []).flatMap(all)];
    return all(String(pid)).reduce((sum, own) => {
        try {
            const status = readFileSync(`/proc/${own}/status`, "utf8");
            return sum + 1024 * Number(/^RssAnon:\s+(\d+)/m.exec(status)?.[1] ?? 0);
        } catch {
            return sum;
        }
    }, 0);
}

test("a file of 4 GiB is hashed in constant memory, with progress", { timeout: 600_000 }, async (own) => {
    const path = join(folder(own), "long.img");
    sparse(path, 4 * 2 ** 30);
    const { page } = await start(own);
    const before = memoryOf(process.pid);
    let most = 0;
    const timer = setInterval(() => (most = Math.max(most, memoryOf(process.pid))), 250);
    own.after(() => clearInterval(timer));
    await page.locator("#files").setInputFiles(path);
    await page.locator(".job-text").filter({ hasText: /\d GB of 4\.29 GB, [\d.]+ [MG]B\/s, .* left/ }).waitFor({ timeout: 120_000 });
    await settled(page, 500_000);
    clearInterval(timer);
    const roots = await page.evaluate(() => Object.fromEntries(window.mksum.workspace.items[0].roots));
    assert.equal(roots.sha256, printed("sha256sum", path).slice(0, 64));
    assert.equal(roots.blake3, tool("--untagged", "-f", "blake3", path).slice(0, 64));
    const grown = most - before;
    own.diagnostic(`memory grew by ${Math.round(grown / 1e6)} MB`);
    assert.ok(grown < 600e6, `memory grew by ${grown} bytes`);
});

test("a folder of 2,000 files is hashed and compared", async (own) => {
    const files = join(folder(own), "many");
    for (let at = 0; at < 2000; at++) {
        if (at % 100 === 0) mkdirSync(join(files, `part ${at / 100}`), { recursive: true });
        writeFileSync(join(files, `part ${Math.floor(at / 100)}`, `${at}.txt`), `file ${at}\n`.repeat(at));
    }
    writeFileSync(join(files, "SHA256SUMS"), execFileSync("sh", ["-c", "find . -name '*.txt' -print0 | xargs -0 sha256sum"], { cwd: files, encoding: "utf8" }));
    writeFileSync(join(files, "part 7/777.txt"), "changed");
    const { page } = await start(own);
    await page.locator("#folder").setInputFiles(files);
    await settled(page);
    await page.locator("#summary", { hasText: "1 file does not match." }).waitFor();
    assert.match(await page.locator("#summary").innerText(), /^2,000 files, .* 1,999 files match\. 1 file does not match\.$/);
    assert.match(await page.locator("tbody tr").first().innerText(), /✗ Mismatch\s+many\/part 7\/777\.txt/);
});

test("a job is cancelled, and others that run at the same time go on", async (own) => {
    const files = folder(own);
    sparse(join(files, "long.img"), 3 * 2 ** 30);
    writeFileSync(join(files, "short.txt"), "abc");
    const { page } = await start(own);
    await page.locator("#files").setInputFiles(join(files, "long.img"));
    await page.locator(".job").waitFor();
    await page.locator("#files").setInputFiles(join(files, "short.txt"));
    await page.getByText("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad").waitFor();
    await page.getByRole("button", { name: "Cancel: Hashing long.img" }).click();
    const card = page.locator("article[aria-label='long.img']");
    await card.getByText("Cancelled.").waitFor();
    assert.equal(await card.locator("code.digest, .error, [role=alert]").count(), 0);
    assert.doesNotMatch(await page.locator("#summary").innerText(), /error/);
    await page.getByLabel("Paste a digest").fill("0".repeat(64));
    await page.getByRole("button", { name: "Compare", exact: true }).click();
    const cancel = page.getByRole("button", { name: "Cancel: Hashing long.img" });
    assert.equal(await cancel.count(), 0);
    await card.getByRole("button", { name: "Hash it" }).click();
    await cancel.waitFor();
});

test("a file that changes while it is read is an error, never a digest", async (own) => {
    const path = join(folder(own), "growing.img");
    sparse(path, 2 * 2 ** 30);
    const { page } = await start(own);
    await page.locator("#files").setInputFiles(path);
    await page.locator(".job-text").filter({ hasText: "left" }).waitFor();
    appendFileSync(path, "more");
    await page.getByText("growing.img: the file could not be read to its end, or it changed while it was read. No digest was computed.").waitFor();
    assert.equal(await page.locator("code.digest").count(), 0);
});

test("Firefox: a file that changes while it is read is an error, never a digest", { timeout: 300_000 }, async (own) => {
    const path = join(folder(own), "growing.img");
    sparse(path, 2 ** 30);
    const { address } = await served(own, built(own));
    const page = await firefoxPage(own);
    await page.goto(address);
    await page.setFiles("#files", [path]);
    await page.waitFor(() => document.querySelector(".job-text")?.textContent.includes("left"));
    // All its bytes become others. Its length stays, because Firefox reads a file only up to the length that it had.
    const file = openSync(path, "r+");
    const others = Buffer.alloc(1 << 20, "x");
    for (let at = 0; at < 2 ** 30; at += others.length) writeSync(file, others, 0, others.length, at);
    closeSync(file);
    await page.waitFor(() => window.mksum.workspace.jobs.size === 0);
    const [item] = await page.evaluate(() => window.mksum.workspace.items.map(({ error, roots }) => ({ error, roots: [...roots] })));
    assert.match(item.error ?? "no error", /changed while it was read/);
    assert.deepEqual(item.roots, []);
});
