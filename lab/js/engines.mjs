// How each engine is found and started. All of them answer `run(plan, heard)`: the study runs in them, and `heard`
// gets its reports.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const QUIET_SECONDS = 180; // An engine that says nothing for so long hangs.

const installed = (name) => path.join(here, "engines/node_modules/.bin", name);
const printed = (command, ...args) => {
    const told = spawnSync(command, args, { encoding: "utf8" });
    return told.status === 0 ? told.stdout.trim() : undefined;
};
const number = (text) => text?.match(/\d+(\.\d+)+/)?.[0];

/** Kills the process unless it is heard of. */
function watched(child, name, failed) {
    let timer;
    const again = () => {
        clearTimeout(timer);
        timer = setTimeout(() => {
            child.kill("SIGKILL");
            failed(new Error(`${name} said nothing for ${QUIET_SECONDS} s`));
        }, 1000 * QUIET_SECONDS);
    };
    again();
    return { again, stop: () => clearTimeout(timer) };
}

/** An engine that is a command of the shell. */
function command(name, program, flags) {
    return {
        name,
        program,
        version: () => number(printed(program, "--version")),
        run: (plan, heard) =>
            new Promise((finished, failed) => {
                const child = spawn(program, [...flags, path.join(here, "command.mjs"), JSON.stringify(plan)], {
                    stdio: ["ignore", "pipe", "pipe"],
                });
                const watch = watched(child, name, failed);
                let done = false;
                let complaints = "";
                child.stderr.on("data", (data) => (complaints = (complaints + data).slice(-4000)));
                createInterface({ input: child.stdout }).on("line", (line) => {
                    watch.again();
                    const said = JSON.parse(line);
                    done ||= Boolean(said.done);
                    heard(said);
                });
                child.on("error", failed);
                child.on("close", (code, signal) => {
                    watch.stop();
                    if (done) finished();
                    else failed(new Error(`${name} ended early (${signal ?? `exit ${code}`}): ${complaints}`));
                });
            }),
    };
}

const TYPES = { ".html": "text/html; charset=utf-8", ".mjs": "text/javascript; charset=utf-8" };

/** Serves the page with the headers that isolate it: only then is the clock fine and is memory told. */
function serve(plan, heard) {
    const server = createServer(async (request, response) => {
        const headers = {
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Embedder-Policy": "require-corp",
            "Cache-Control": "no-store",
        };
        const { pathname } = new URL(request.url, "http://localhost");
        if (request.method === "POST" && pathname === "/report") {
            let body = "";
            for await (const data of request) body += data;
            response.writeHead(204, headers).end();
            for (const said of JSON.parse(body)) heard(said);
        } else if (pathname === "/plan") {
            response.writeHead(200, { ...headers, "Content-Type": "application/json" }).end(JSON.stringify(plan));
        } else if (pathname === "/" || pathname === "/build/study.mjs") {
            const file = pathname === "/" ? "page.html" : pathname.slice(1);
            response
                .writeHead(200, { ...headers, "Content-Type": TYPES[path.extname(file)] })
                .end(await readFile(path.join(here, file)));
        } else if (/^\/mksum\/[a-z-]+\.js$/.test(pathname)) {
            // Our package as it is published, for its workers.
            const file = path.join(here, "../../bindings/js/dist", pathname.slice("/mksum/".length));
            response.writeHead(200, { ...headers, "Content-Type": TYPES[".mjs"] }).end(await readFile(file));
        } else {
            response.writeHead(404, headers).end();
        }
    });
    return new Promise((ready) => server.listen(0, "127.0.0.1", () => ready(server)));
}

/** A browser: it opens a page of this machine, which runs the study and posts what it found. */
function browser(name, program, flags, prepare = () => {}) {
    return {
        name,
        program,
        version: () => number(printed(program, "--version")),
        run: async (plan, heard) => {
            const profile = mkdtempSync(path.join(tmpdir(), "mksum-lab-"));
            prepare(profile);
            let child;
            let server;
            let watch;
            try {
                await new Promise((finished, failed) => {
                    const listen = (said) => {
                        watch?.again();
                        if (said.failed) return failed(new Error(`${name}: ${said.failed}`));
                        heard(said);
                        if (said.done) finished();
                    };
                    serve(plan, listen).then((listening) => {
                        server = listening;
                        const url = `http://localhost:${server.address().port}/`;
                        // A group of its own: browsers have children.
                        child = spawn(program, [...flags(profile), url], { stdio: "ignore", detached: true });
                        watch = watched(child, name, failed);
                        child.on("error", failed);
                        child.on("close", (code) => failed(new Error(`${name} ended early (exit ${code})`)));
                    }, failed);
                });
            } finally {
                watch?.stop();
                try {
                    if (child?.pid) process.kill(-child.pid, "SIGKILL");
                } catch {
                    // It has ended by itself.
                }
                server?.closeAllConnections();
                server?.close();
                rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
            }
        },
    };
}

// First runs, updates and reports of crashes are no part of the study; nor is the end of scripts that take long, nor
// a clock of whole milliseconds.
const FIREFOX = [
    ["dom.max_script_run_time", 0],
    ["privacy.reduceTimerPrecision", false],
    ["browser.shell.checkDefaultBrowser", false],
    ["datareporting.policy.dataSubmissionEnabled", false],
    ["toolkit.telemetry.reportingpolicy.firstRun", false],
    ["browser.aboutwelcome.enabled", false],
    ["app.update.enabled", false],
    ["network.captive-portal-service.enabled", false],
    ["network.connectivity-service.enabled", false],
    ["termsofuse.bypassNotification", true],
];

const chromium = (profile) => [
    "--headless=new",
    "--no-first-run",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-background-timer-throttling",
    "--disable-renderer-backgrounding",
    "--enable-blink-features=ForceEagerMeasureMemory",
    // Root has no user namespace of its own for the sandbox.
    ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
    `--user-data-dir=${profile}`,
];

/**
 * In the order in which they are measured: the first two are measured most closely; `version` is undefined for one
 * that is not here.
 */
export const ENGINES = [
    command("node", process.execPath, ["--expose-gc", "--no-deprecation"]),
    browser("chromium", "chromium", chromium),
    browser(
        "firefox",
        "firefox-esr",
        (profile) => ["--headless", "--no-remote", "--profile", profile],
        (profile) =>
            writeFileSync(
                path.join(profile, "user.js"),
                FIREFOX.map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`).join(
                    "",
                ),
            ),
    ),
    command("node-current", installed("node"), ["--expose-gc", "--no-deprecation"]),
    command("bun", installed("bun"), []),
    command("deno", installed("deno"), ["run", "--allow-all", "--v8-flags=--expose-gc"]),
].map((engine, index) => ({
    ...engine,
    first: index < 2,
    here: () => !path.isAbsolute(engine.program) || existsSync(engine.program),
}));
