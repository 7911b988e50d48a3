// bench-file.js [MIB]: measures a File from a form in Chromium (1024 MiB by default): hashed as a tree by one and two workers,
// only read, and WebCrypto's digest of the same bytes in memory; and as many files of 1 MiB, at most 64, one after the other and
// side by side. Prints MB/s: the median of five interleaved runs, the minimum
// and the maximum. CHROMIUM names another browser.
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const dist = fileURLToPath(new URL("../dist", import.meta.url));
const mib = Number(process.argv[2] ?? 1024);

const server = createServer((request, response) => {
    try {
        const { pathname } = new URL(request.url, "http://localhost");
        response.setHeader("Cross-Origin-Opener-Policy", "same-origin");
        response.setHeader("Cross-Origin-Embedder-Policy", "require-corp");
        if (pathname === "/") {
            response.setHeader("Content-Type", "text/html").end('<!doctype html><link rel="icon" href="data:,"><input type="file">');
            return;
        }
        response.setHeader("Content-Type", extname(pathname) === ".js" ? "text/javascript" : "text/plain");
        response.end(readFileSync(join(dist, pathname)));
    } catch {
        response.writeHead(404).end();
    }
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));

const folder = mkdtempSync(join(tmpdir(), "mksum-bench-"));
const large = join(folder, "large");
const written = openSync(large, "w");
const part = Uint8Array.from({ length: 1 << 20 }, (_, at) => at % 251);
for (let at = 0; at < mib; at++) writeSync(written, part);
closeSync(written);
const browser = await chromium.launchPersistentContext(folder, {
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    headless: true,
    args: [
        "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
        "--disable-component-update", "--disable-sync",
    ],
});
try {
    const page = await browser.newPage();
    page.on("console", (message) => console.log(message.text()));
    await page.goto(`http://127.0.0.1:${server.address().port}/`);
    await page.locator("input").setInputFiles(large);
    const results = await page.evaluate(async () => {
        const { digestOf, hashFiles, Pool, rootOf } = await import("/index.js");
        const file = document.querySelector("input").files[0];
        const ways = {
            "read only": async () => {
                for (let at = 0; at < file.size; at += 1 << 22) await file.slice(at, at + (1 << 22)).arrayBuffer();
            },
        };
        for (const format of ["rfc6962:sha256:64KiB", "blake3"]) {
            ways[`${format}, no worker`] = () => rootOf(format, file);
            for (const workers of [1, 2]) {
                const pool = await Pool.start(workers);
                ways[`${format}, ${workers} workers`] = () => pool.rootOf(format, file);
            }
        }
        const files = [];
        for (let at = 0; at < Math.min(file.size, 64 << 20); at += 1 << 20) files.push(new File([file.slice(at, at + (1 << 20))], String(at)));
        for (const hash of ["md5", "sha1", "sha256", "sha512"]) {
            ways[`${files.length} files, ${hash}, one stream`] = async () => {
                for (const one of files) await digestOf(hash, one);
                return files.length << 20;
            };
            ways[`${files.length} files, ${hash}, side by side`] = async () => {
                for await (const { error } of hashFiles(hash, files)) if (error) throw error;
                return files.length << 20;
            };
        }
        try {
            const bytes = await file.arrayBuffer();
            ways["WebCrypto SHA-256, in memory"] = () => crypto.subtle.digest("SHA-256", bytes);
            ways["WebCrypto SHA-256, read into memory"] = async () =>
                crypto.subtle.digest("SHA-256", await file.arrayBuffer());
        } catch (error) {
            console.error(`WebCrypto: ${String(error)}`);
        }
        const results = Object.fromEntries(Object.keys(ways).map((name) => [name, []]));
        for (let round = 0; round < 6; round++) {
            for (const [name, way] of Object.entries(ways)) {
                const begin = performance.now();
                const own = await way();
                const size = typeof own === "number" ? own : file.size;
                if (round > 0) results[name].push(size / 1000 / (performance.now() - begin));
            }
        }
        return results;
    });
    for (const [name, speeds] of Object.entries(results)) {
        const [least, , median, , most] = speeds.toSorted((a, b) => a - b).map((speed) => speed.toFixed(0).padStart(6));
        console.log(name.padEnd(40), median, `(${least.trim()}-${most.trim()})`);
    }
} finally {
    await browser.close();
    server.close();
    rmSync(folder, { recursive: true, force: true });
}
