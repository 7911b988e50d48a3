// first-call.js [FOLDER…]: measures the time of the first call, sha256 of three bytes, each time in a new process of Node and in
// a new page of Chromium, with the files of the package in each folder (dist by default). Prints milliseconds: the median of 21
// trials, the minimum and the maximum; "import" is the import before it. CHROMIUM names another browser.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const TRIALS = 21;
const given = process.argv.slice(2);
const folders = given.length > 0 ? given.map((folder) => resolve(folder)) : [fileURLToPath(new URL("../dist", import.meta.url))];

/** Returns a program that sets `times` to the milliseconds of the import and of the first call. */
const program = (address) => `
    const begin = performance.now();
    const { sha256 } = await import(${JSON.stringify(address)});
    const imported = performance.now();
    sha256(new Uint8Array(3));
    const times = [imported - begin, performance.now() - imported];`;

const server = createServer((request, response) => {
    try {
        const { pathname, searchParams } = new URL(request.url, "http://localhost");
        response.setHeader("Cross-Origin-Opener-Policy", "same-origin");
        response.setHeader("Cross-Origin-Embedder-Policy", "require-corp");
        const [, folder, ...rest] = pathname.split("/");
        if (rest[0] === "page") {
            const script = `${program(`/${folder}/index.js?${searchParams.get("trial")}`)} globalThis.times = times;`;
            response.setHeader("Content-Type", "text/html");
            response.end(`<!doctype html><link rel="icon" href="data:,"><script type="module">${script}</script>`);
            return;
        }
        response.setHeader("Content-Type", extname(pathname) === ".js" ? "text/javascript" : "text/plain");
        response.end(readFileSync(join(folders[Number(folder)], ...rest)));
    } catch {
        response.writeHead(404).end();
    }
});
await new Promise((listening) => server.listen(0, "127.0.0.1", listening));

const data = mkdtempSync(join(tmpdir(), "mksum-first-call-"));
const browser = await chromium.launchPersistentContext(data, {
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    headless: true,
    args: [
        "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
        "--disable-component-update", "--disable-sync",
    ],
});
const results = new Map();
const add = (name, times) => results.set(name, [...(results.get(name) ?? []), times]);
try {
    // The browser's own first page is slower.
    for (let trial = -1; trial < TRIALS; trial++) {
        for (const [at, folder] of folders.entries()) {
            const tab = await browser.newPage();
            await tab.goto(`http://127.0.0.1:${server.address().port}/${at}/page?trial=${trial}`);
            const times = await (await tab.waitForFunction(() => globalThis.times)).jsonValue();
            await tab.close();
            if (trial < 0) continue;
            add(`Chromium, ${folder}`, times);
            const address = String(new URL(`file://${join(folder, "index.js")}`));
            const flags = ["--input-type=module", "--eval", `${program(address)} console.log(JSON.stringify(times));`];
            add(`Node, ${folder}`, JSON.parse(execFileSync(process.execPath, flags, { encoding: "utf8" })));
        }
    }
} finally {
    await browser.close();
    server.close();
    rmSync(data, { recursive: true, force: true });
}
for (const [name, trials] of [...results].toSorted(([one], [other]) => (one < other ? -1 : 1))) {
    const row = [["import", 0], ["first call", 1]].map(([title, at]) => {
        const sorted = trials.map((times) => times[at]).toSorted((one, other) => one - other);
        const [least, median, most] = [sorted[0], sorted[TRIALS >> 1], sorted.at(-1)].map((time) => time.toFixed(1));
        return `${title} ${median.padStart(5)} (${least}-${most})`;
    });
    console.log(name.padEnd(60), row.join("  "));
}
