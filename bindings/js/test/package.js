// package.js [PART…]: tests the package as users install it: packed, in an empty project, in Node, with bundlers, and in a plain
// page. PART is `lint`, `sizes`, `node`, `elsewhere`, `types`, `workerd`, `server` or `chromium`; without one, all parts run.
import { execFileSync, spawn } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { build as esbuild } from "esbuild";
import { build } from "vite";
import { bundles } from "./bundlers.js";
import { REFERENCE } from "./reference.js";
import { checkSizes } from "./sizes.js";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const workspace = join(root, "../..");
const project = realpathSync(mkdtempSync(join(tmpdir(), "mksum-package-")));
const ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

/** The most that the package may have, packed: 220 KB of it are the module of the command, with all formats and the parser of lists. */
const LIMITS = { files: 200, size: 1_140_000 };

function check(name, found, expected) {
    if (found !== expected) throw new Error(`${name}: expected ${expected}, found ${found}`);
    console.log(`ok: ${name}`);
}

const node = (program) =>
    execFileSync(process.execPath, ["--input-type=module", "--eval", program], { cwd: project, encoding: "utf8" }).trim();

const npm = (folder, ...rest) => execFileSync("npm", rest, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });

/** Packs the package and installs it. */
function install() {
    const [packed] = JSON.parse(npm(root, "pack", "--json", "--pack-destination", project));
    for (const { path } of packed.files) {
        if (!/^(dist\/|README\.md$|package\.json$|LICENSE)/.test(path)) throw new Error(`${path} does not belong in the package`);
    }
    for (const name of ["LICENSE-APACHE", "LICENSE-MIT", "README.md"]) {
        if (!packed.files.some(({ path }) => path === name)) throw new Error(`${name} is missing in the package`);
    }
    writeFileSync(join(project, "package.json"), '{ "name": "empty", "private": true, "type": "module" }');
    npm(project, "install", "--silent", "--no-audit", "--no-fund", join(project, packed.filename));
    if (packed.size > LIMITS.size || packed.files.length > LIMITS.files) {
        throw new Error(`packed ${packed.files.length} files, ${packed.size} bytes: more than ${LIMITS.files} or ${LIMITS.size}`);
    }
    console.log(`ok: packed ${packed.files.length} files, ${packed.size} bytes`);
    return join(project, packed.filename);
}

/** Checks package.json and how TypeScript finds the types of each entry. */
async function lint(tarball) {
    const { messages } = await publint({ pkgDir: join(project, "node_modules/mksum"), strict: true });
    const { default: own } = await import(join(root, "package.json"), { with: { type: "json" } });
    check("publint", messages.map((message) => formatMessage(message, own)).join("\n"), "");
    const attw = join(root, "node_modules/@arethetypeswrong/cli/dist/index.js");
    const flags = ["--profile", "esm-only", "--exclude-entrypoints", "simd.wasm", "scalar.wasm", "extra/scalar.wasm", "--format", "ascii"];
    execFileSync(process.execPath, [attw, tarball, ...flags], { cwd: project, stdio: ["ignore", "ignore", "inherit"] });
    console.log("ok: arethetypeswrong");
}

function inNode() {
    const npx = ["--no-install", "mksum", "-f", "sha256"];
    const printed = execFileSync("npx", npx, { cwd: project, encoding: "utf8", input: "abc", timeout: 600_000 });
    check("npx mksum", printed, `SHA256 (-) = ${ABC}\n`);
    const print = 'console.log(toHex(sha256(new TextEncoder().encode("abc"))))';
    check("Node, mksum", node(`import { sha256, toHex } from "mksum"; ${print}`), ABC);
    check("Node, mksum/fetch", node(`import { load, sha256, toHex } from "mksum/fetch"; await load(); ${print}`), ABC);
    check("Node, mksum/hashes", node(`import { sha256, toHex } from "mksum/hashes"; ${print}`), ABC);
    const argon2 = 'argon2(new Uint8Array(8), new Uint8Array(8), { memory: 8, passes: 1, length: 8 })';
    const expected = "fdc53cd961e6d34a";
    check("Node, mksum/extra", node(`import { argon2, toHex } from "mksum/extra"; console.log(toHex(${argon2}))`), expected);
    const slow = 'WebAssembly.validate = () => false; const { argon2, load, toHex } = await import("mksum/extra"); await load();';
    check("Node without SIMD, mksum/extra", node(`${slow} console.log(toHex(${argon2}))`), expected);
    const own = 'import { readFileSync } from "node:fs"; import { argon2, load, toHex } from "mksum/extra";'
        + 'await load(new WebAssembly.Module(readFileSync(new URL(import.meta.resolve("mksum/extra/scalar.wasm")))));';
    check("Node, mksum/extra/scalar.wasm", node(`${own} console.log(toHex(${argon2}))`), expected);
    const small = 'WebAssembly.validate = () => false; const { load, md5, toHex } = await import("mksum/md5"); await load();';
    check("Node without SIMD, mksum/md5", node(`${small} console.log(toHex(md5(new Uint8Array(0))))`), "d41d8cd98f00b204e9800998ecf8427e");
    const early = 'import { sha256 } from "mksum/fetch"; try { sha256(new Uint8Array(1)) } catch ({ code }) { console.log(code) }';
    check("Node, mksum/fetch before it is loaded", node(early), "not-loaded");
    const scalar = 'WebAssembly.validate = () => false; const { load, root, sha256, toHex } = await import("mksum");';
    check("Node without SIMD, before it is loaded", node(`${scalar} try { sha256(new Uint8Array(1)) } catch ({ code }) { console.log(code) }`), "not-loaded");
    const given = 'import { readFileSync } from "node:fs"; import { load, sha256, toHex } from "mksum/fetch";'
        + 'await load(new WebAssembly.Module(readFileSync(new URL(import.meta.resolve("mksum/simd.wasm")))));';
    check("Node, mksum/simd.wasm", node(`${given} ${print}`), ABC);
    check("Node without SIMD", node(`${scalar} await load(); ${print}`), ABC);
}

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm", ".css": "text/css" };

/** Content security policies, by the query of a page's address. */
const POLICIES = { "?strict": "script-src 'self' 'unsafe-inline'", "?wasm": "script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval'" };

/** Serves directories, the workspace's vectors, and the reference implementation. */
async function serve(folders) {
    const server = createServer(async (request, response) => {
        // Required for shared memory.
        response.setHeader("Cross-Origin-Opener-Policy", "same-origin");
        response.setHeader("Cross-Origin-Embedder-Policy", "require-corp");
        const policy = POLICIES[new URL(request.url, "http://localhost").search];
        if (policy) response.setHeader("Content-Security-Policy", policy);
        try {
            const url = new URL(request.url, "http://localhost");
            if (url.pathname === "/reference") {
                let body = "";
                for await (const part of request) body += part;
                const [kind, ...rest] = JSON.parse(body);
                const values = rest.map((value) => (value?.bytes ? Uint8Array.from(value.bytes) : value));
                response.end(REFERENCE[kind](...values));
                return;
            }
            const [, first, ...rest] = normalize(url.pathname).split("/");
            const path = join(folders[first], ...rest);
            const bytes = readFileSync(path);
            response.setHeader("Content-Type", TYPES[extname(path)] ?? "text/plain");
            response.end(bytes);
        } catch (error) {
            response.writeHead(error.code === "ENOENT" ? 404 : 500).end(String(error));
        }
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    return { address: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

/** Bundles the suites with the package. */
async function bundle() {
    cpSync(join(root, "test/suites"), join(project, "suites"), { recursive: true });
    cpSync(join(root, "test/browser"), join(project, "browser"), { recursive: true });
    writeFileSync(join(project, "index.html"), '<!doctype html><script type="module" src="./browser/main.js"></script>');
    await build({
        root: project,
        base: "./",
        logLevel: "error",
        resolve: { alias: { "fast-check": join(root, "node_modules/fast-check") } },
        build: { target: "es2022", outDir: join(project, "vite"), emptyOutDir: true },
    });
}

/** Opens a page and returns its results. */
async function page(browser, address, path) {
    const tab = await browser.newPage();
    const errors = [];
    tab.on("pageerror", (error) => errors.push(String(error.stack ?? error)));
    await tab.goto(`${address}/${path}`);
    await tab.waitForFunction(() => window.results !== undefined, undefined, { timeout: path.startsWith("vite") ? 400_000 : 300_000 }).catch((error) => errors.push(String(error)));
    const results = await tab.evaluate(() => window.results);
    await tab.close();
    if (errors.length > 0) throw new Error(`${path}:\n${errors.join("\n")}`);
    return results;
}

async function inChromium() {
    await bundle();
    const plain = join(project, "plain");
    mkdirSync(plain);
    writeFileSync(join(plain, "index.html"), `<!doctype html><script type="module">
        import * as mksum from "/package/index.js";
        import * as fetched from "/package/fetch/index.js";
        await fetched.load();
        const bytes = new TextEncoder().encode("abc");
        const found = [];
        for (const { sha256, rootOf, Pool, toHex } of [mksum, fetched]) {
            found.push(toHex(sha256(bytes)));
            const file = new File([new Uint8Array(9_000_000).fill(7)], "file");
            const pool = await Pool.start(2);
            found.push((await pool.rootOf("rfc6962", file)).text === (await rootOf("rfc6962", file)).text);
            pool.end();
        }
        const worker = new Worker("/plain/worker.js", { type: "module" });
        found.push(await new Promise((resolve) => (worker.onmessage = ({ data }) => resolve(data))));
        window.results = found;
    </script>`);
    const file = Buffer.alloc(3_000_000, "mksum");
    const { keep, root: rootIn } = await import(join(project, "node_modules/mksum/dist/index.js"));
    writeFileSync(join(plain, "file.bin"), file);
    writeFileSync(join(plain, "file.bin.mkt"), keep("rfc6962", 65536, file));
    writeFileSync(join(plain, "download.html"), `<!doctype html><script type="module">
        import { verifiedFetch, root } from "/package/fetch/index.js";
        const folder = await navigator.storage.getDirectory();
        const resume = await folder.getFileHandle("file.part", { create: true });
        const options = { resume, rangeBytes: 65536 };
        const begin = async () => verifiedFetch("file.bin", "${rootIn("rfc6962", file).text}", options);
        const reader = (await begin()).stream().getReader();
        for (let count = 0; count < 10; count++) await reader.read();
        await reader.cancel();
        const kept = (await resume.getFile()).size;
        const download = await begin();
        const blob = await download.blob();
        const parts = [await download.read(65_530, 10), await (await verifiedFetch(blob, download.root, { outboard: "file.bin.mkt" })).read(2_999_990, 20)];
        window.results = [
            kept >= 9 * 65536, download.mirrors[0].bytes <= 3_000_000 - 9 * 65536, root("rfc6962", new Uint8Array(await blob.arrayBuffer())).text,
            ...parts.map((part) => new TextDecoder().decode(part)),
        ];
    </script>`);
    writeFileSync(join(plain, "policy.html"), `<!doctype html><script type="module">
        import { load, MksumError, Pool, root, sha256, toHex } from "/package/index.js";
        const bytes = new TextEncoder().encode("abc");
        const found = [];
        for (const act of [() => toHex(sha256(bytes)), () => load().then(() => "loaded"), async () => {
            const pool = await Pool.start(1);
            const text = String(await pool.rootOf("sha256", new Blob([bytes])));
            pool.end();
            return text;
        }]) {
            try {
                found.push(await act());
            } catch (error) {
                found.push(error instanceof MksumError ? error.code : String(error));
            }
        }
        window.results = found;
    </script>`);
    writeFileSync(join(plain, "worker.js"), `
        import { sha256, toHex } from "/package/index.js";
        postMessage(toHex(sha256(new TextEncoder().encode("abc"))));
    `);
    const folders = { package: join(project, "node_modules/mksum/dist"), vite: join(project, "vite"), plain, workspace, bundles: join(project, "bundles") };
    const bundled = await bundles(project, others);
    const server = await serve(folders);
    const flags = [
        "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
        "--disable-component-update", "--disable-sync",
    ];
    const options = { executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", headless: true, args: flags };
    const browser = await chromium.launchPersistentContext(join(project, "user-data"), options);
    try {
        console.log(`Chromium ${browser.browser()?.version() ?? ""}`);
        check("Chromium, a plain page and workers", JSON.stringify(await page(browser, server.address, "plain/index.html")),
            JSON.stringify([ABC, true, ABC, true, ABC]));
        check("Chromium, a verified download that goes on in the private file system, and parts", JSON.stringify(await page(browser, server.address, "plain/download.html")),
            JSON.stringify([true, true, rootIn("rfc6962", file).text, "mksummksum", "mksummksum"]));
        for (const [name, folder] of bundled) {
            const found = await page(browser, server.address, `bundles/${folder}/index.html`);
            check(`Chromium, ${name}`, JSON.stringify(found), JSON.stringify([ABC, ABC, true]));
        }
        const strict = await page(browser, server.address, "plain/policy.html?strict");
        check("Chromium, a policy without WebAssembly", JSON.stringify(strict), JSON.stringify(["not-loaded", "not-loaded", "not-loaded"]));
        const allowed = await page(browser, server.address, "plain/policy.html?wasm");
        check("Chromium, a policy with WebAssembly", JSON.stringify(allowed), JSON.stringify([ABC, "loaded", ABC]));
        const { tests, failures } = await page(browser, server.address, "vite/index.html");
        for (const failure of failures) console.error(failure);
        check(`Chromium, ${tests} unit tests bundled by Vite: failures`, failures.length, 0);
        if (tests < 100) throw new Error(`only ${tests} tests`);
    } finally {
        await browser.close();
        server.close();
    }
}

/**
 * Installs packages beside the project and returns the folder of their programs. They are not dependencies, because npm locks packages
 * for all systems, and not all of these have all systems.
 */
function others(...packages) {
    const folder = mkdtempSync(join(project, "others-"));
    const flags = ["--silent", "--no-save", "--no-audit", "--no-fund", "--prefix", folder];
    execFileSync("npm", ["install", ...flags, ...packages], { stdio: ["ignore", "ignore", "inherit"] });
    return join(folder, "node_modules/.bin");
}

/** Tests other engines. */
function elsewhere() {
    const programs = others("deno@2.9.6", "bun@1.4.5");
    copyFileSync(join(root, "test/smoke.js"), join(project, "smoke.js"));
    for (const [name, ...rest] of [["node"], ["deno", "run", "--allow-read"], ["bun", "run"]]) {
        const program = name === "node" ? process.execPath : join(programs, name);
        const printed = execFileSync(program, [...rest, "smoke.js"], { cwd: project, encoding: "utf8" });
        check(`${name}, smoke`, printed.trim(), "passed");
    }
}

/** Compiles a program with the oldest TypeScript that the package supports: the first that knows `using`. */
function types() {
    const tsc = join(others("typescript@5.2.2"), "tsc");
    copyFileSync(join(root, "test/types.ts"), join(project, "types.ts"));
    const flags = ["--strict", "--noEmit", "--target", "es2022", "--lib", "es2022,dom,dom.iterable"];
    for (const kind of [["--module", "nodenext"], ["--module", "esnext", "--moduleResolution", "bundler"]]) {
        try {
            execFileSync(tsc, [...flags, ...kind, "types.ts"], { cwd: project, encoding: "utf8" });
        } catch (error) {
            throw new Error(`TypeScript 5.2, ${kind.join(" ")}:\n${error.stdout}`, { cause: error });
        }
        console.log(`ok: TypeScript 5.2, ${kind.at(-1)}`);
    }
}

/** Runs the package in workerd, Cloudflare's runtime, which compiles no WebAssembly at run time. */
async function inWorkerd() {
    const program = join(others("workerd@1.20261117.1"), "workerd");
    const folder = mkdtempSync(join(project, "workerd-"));
    writeFileSync(join(project, "workerd.js"), `
        import module from "mksum/simd.wasm";
        import { load, rootOf, sha256, toHex } from "mksum/fetch";
        export default {
            async fetch(request) {
                await load(module);
                const bytes = new Uint8Array(await request.arrayBuffer());
                return new Response([toHex(sha256(bytes)), (await rootOf("sha256", new Blob([bytes]))).text].join());
            },
        };
    `);
    await esbuild({
        entryPoints: [join(project, "workerd.js")], bundle: true, format: "esm", outdir: folder, conditions: ["workerd"], logLevel: "silent",
        loader: { ".wasm": "copy" }, assetNames: "[name]", external: ["node:*"],
    });
    writeFileSync(join(folder, "config.capnp"), `
        using Workerd = import "/workerd/workerd.capnp";
        const config :Workerd.Config = (
            services = [(name = "main", worker = (
                modules = [(name = "workerd.js", esModule = embed "workerd.js"), (name = "./simd.wasm", wasm = embed "simd.wasm")],
                compatibilityDate = "2026-01-01",
            ))],
            sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
        );
    `);
    const child = spawn(program, ["serve", "config.capnp", "--control-fd=3"], { cwd: folder, stdio: ["ignore", "inherit", "inherit", "pipe"] });
    try {
        const port = await new Promise((resolve, reject) => {
            child.on("exit", (code) => reject(new Error(`workerd ended with ${code}`)));
            child.stdio[3].on("data", (line) => {
                const { event, port } = JSON.parse(String(line).split("\n")[0]);
                if (event === "listen") resolve(port);
            });
        });
        const response = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body: "abc" });
        check("workerd", await response.text(), `${ABC},${ABC}`);
    } finally {
        child.kill();
    }
}

/** Bundles a page for a server that renders it, and renders it in Node. */
async function onServer() {
    const entry = join(project, "server.js");
    writeFileSync(entry, 'import { sha256, toHex } from "mksum"; export const render = () => `<p>${toHex(sha256(new TextEncoder().encode("abc")))}</p>`;');
    for (const noExternal of [false, true]) {
        const outDir = join(project, `server-${noExternal}`);
        await build({ root: project, configFile: false, logLevel: "error", ssr: { noExternal: noExternal || undefined }, build: { ssr: entry, outDir } });
        const printed = node(`import { render } from ${JSON.stringify(join(outDir, "server.js"))}; console.log(render())`);
        check(`rendered on a server, mksum ${noExternal ? "bundled" : "imported"}`, printed, `<p>${ABC}</p>`);
    }
}

try {
    const tarball = install();
    const parts = {
        lint: () => lint(tarball),
        sizes: () => checkSizes(project, readFileSync(join(root, "README.md"), "utf8")),
        node: inNode,
        elsewhere,
        types,
        workerd: inWorkerd,
        server: onServer,
        chromium: inChromium,
    };
    for (const part of process.argv.length > 2 ? process.argv.slice(2) : Object.keys(parts)) await parts[part]();
} finally {
    rmSync(project, { recursive: true, force: true });
}
