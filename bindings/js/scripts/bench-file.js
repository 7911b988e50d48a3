// bench-file.js [MIB]: one File in Chromium (1024 MiB if not told) hashed as a tree by one worker and by two, beside
// WebCrypto's digest of the same bytes in memory: MB/s, the best of three. CHROMIUM names another browser.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
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
        if (pathname === "/") return response.setHeader("Content-Type", "text/html").end("<!doctype html>");
        response.setHeader("Content-Type", extname(pathname) === ".js" ? "text/javascript" : "text/plain");
        response.end(readFileSync(join(dist, pathname)));
    } catch {
        response.writeHead(404).end();
    }
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));

const folder = mkdtempSync(join(tmpdir(), "mksum-bench-"));
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
    await page.goto(`http://127.0.0.1:${server.address().port}/`);
    const results = await page.evaluate(async (mib) => {
        const { Pool } = await import("/index.js");
        const part = Uint8Array.from({ length: 1 << 20 }, (_, at) => at % 251);
        const file = new File(Array(mib).fill(part), "file");
        const best = async (call) => {
            let least = Infinity;
            for (let time = 0; time < 3; time++) {
                const begin = performance.now();
                await call();
                least = Math.min(least, performance.now() - begin);
            }
            return file.size / 1000 / least;
        };
        const results = {};
        for (const format of ["rfc6962:sha256:64KiB", "blake3"]) {
            for (const workers of [1, 2]) {
                const pool = await Pool.start(workers);
                results[`${format}, ${workers} workers`] = await best(() => pool.rootOf(format, file));
                pool.end();
            }
        }
        try {
            const bytes = await file.arrayBuffer();
            results["WebCrypto SHA-256, in memory"] = await best(() => crypto.subtle.digest("SHA-256", bytes));
        } catch (error) {
            results[`WebCrypto SHA-256: ${error}`] = NaN;
        }
        return results;
    }, mib);
    for (const [name, speed] of Object.entries(results)) console.log(name.padEnd(40), speed.toFixed(0).padStart(6));
} finally {
    await browser.close();
    server.close();
    rmSync(folder, { recursive: true, force: true });
}
