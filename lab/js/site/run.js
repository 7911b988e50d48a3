// run.js BYTES ROUNDS: hashes a file in Chromium with each library, and prints as JSON the MB/s of each round and the memory that the
// browser took. run.py makes a table of it.
// Each library has two workers and reads slices of 4 MiB. Every digest is checked before its time counts.
import { execFileSync } from "node:child_process";
import { createReadStream, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { chromium } from "playwright-core";

const here = fileURLToPath(new URL("./", import.meta.url));
const [bytes, rounds] = process.argv.slice(2).map(Number);

/** The subjects, and the digests that they compute: SHA-256 in one worker and BLAKE3 in the other, or trees in both. */
const SUBJECTS = {
    "mksum, SHA-256 + BLAKE3": ["mksum", ["sha256", "blake3"]],
    "mksum, rfc6962:sha256:64KiB + BLAKE3": ["mksum", ["rfc6962:sha256:64KiB", "blake3"]],
    "hash-wasm, SHA-256 + BLAKE3": ["hash-wasm", ["sha256", "blake3"]],
    "@noble/hashes, SHA-256 + BLAKE3": ["noble", ["sha256", "blake3"]],
    "js-sha256, SHA-256": ["js-sha256", ["sha256"]],
};

/** The memory of this process's children in bytes, without what they share with the system. */
function memory() {
    const children = new Map();
    for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
        try {
            const status = readFileSync(`/proc/${pid}/status`, "utf8");
            const parent = /^PPid:\s+(\d+)/m.exec(status)[1];
            children.set(parent, [...(children.get(parent) ?? []), { pid, rss: 1024 * Number(/^RssAnon:\s+(\d+)/m.exec(status)?.[1] ?? 0) }]);
        } catch {
            // It has ended.
        }
    }
    const below = (pid) => (children.get(pid) ?? []).reduce((sum, child) => sum + child.rss + below(child.pid), 0);
    return below(String(process.pid));
}

async function sha256(path) {
    const hash = createHash("sha256");
    for await (const slice of createReadStream(path, { highWaterMark: 1 << 22 })) hash.update(slice);
    return hash.digest("hex");
}

const folder = mkdtempSync(join(tmpdir(), "mksum-lab-site-"));
try {
    const file = join(folder, "file");
    execFileSync("sh", ["-c", `head -c ${bytes} /dev/urandom > "$0"`, file]);
    const expected = { sha256: await sha256(file) };
    const options = { bundle: true, minify: true, format: "esm", target: "es2022", outdir: folder };
    await build({ ...options, entryPoints: { page: join(here, "page.js"), other: join(here, "other.js") } });
    await build({ ...options, entryPoints: { worker: join(here, "../../../bindings/js/dist/worker.js") } });
    const server = createServer((request, response) => {
        const { pathname } = new URL(request.url, "http://localhost");
        const script = /^\/(page|other|worker)\.js$/.exec(pathname);
        const page = "<!doctype html><input type=file><script type=module src=page.js></script>";
        response.writeHead(script || pathname === "/" ? 200 : 404, { "Content-Type": script ? "text/javascript" : "text/html" });
        response.end(script ? readFileSync(join(folder, `${script[1]}.js`)) : page);
    });
    await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
    const rows = new Map(Object.keys(SUBJECTS).map((name) => [name, []]));
    let version = "";
    for (let round = 0; round < rounds; round++) {
        for (const [name, [library, formats]] of Object.entries(SUBJECTS)) {
            const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
            version = browser.version();
            const page = await browser.newPage();
            page.setDefaultTimeout(0);
            await page.goto(`http://127.0.0.1:${server.address().port}/`);
            await page.locator("input").setInputFiles(file);
            await page.evaluate(([own, wanted]) => window.prepare(own, wanted), [library, formats]);
            const before = memory();
            let most = before;
            const timer = setInterval(() => (most = Math.max(most, memory())), 100);
            const { seconds, digests } = await page.evaluate(() => window.hash());
            clearInterval(timer);
            await browser.close();
            for (const [format, digest] of Object.entries(digests)) {
                expected[format] ??= digest;
                if (digest !== expected[format]) throw new Error(`${name}: ${format}: expected ${expected[format]}, found ${digest}`);
            }
            rows.get(name).push({ rate: bytes / seconds / 1e6, memory: (most - before) / 1e6 });
        }
    }
    server.close();
    console.log(JSON.stringify({ chromium: version, rows: Object.fromEntries(rows) }));
} finally {
    rmSync(folder, { recursive: true, force: true });
}
