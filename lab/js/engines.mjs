// Finds and starts each engine. `run(plan, receive)` runs the study in an engine and passes its reports to `receive`.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const QUIET_SECONDS = 180; // An engine without a report for this long hangs.

const installed = (name) => path.join(here, "engines", name, "node_modules/.bin", name);
const printed = (command, ...args) => {
    const done = spawnSync(command, args, { encoding: "utf8" });
    return done.status === 0 ? done.stdout.trim() : undefined;
};
const number = (text) => text?.match(/\d+(\.\d+)+/)?.[0];

/** Kills the process if it sends no report for a while. */
function watched(child, name, failed) {
    let timer;
    const again = () => {
        clearTimeout(timer);
        timer = setTimeout(() => {
            child.kill("SIGKILL");
            failed(new Error(`${name} sent no report for ${QUIET_SECONDS} s`));
        }, 1000 * QUIET_SECONDS);
    };
    again();
    return { again, stop: () => clearTimeout(timer) };
}

/** Returns a command-line engine. */
function command(name, program, flags) {
    return {
        name,
        program,
        version: () => number(printed(program, "--version")),
        run: (plan, receive) =>
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
                    const message = JSON.parse(line);
                    done ||= Boolean(message.done);
                    receive(message);
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

/** Serves the page with headers that isolate it, which a precise clock and memory measurements require. */
function serve(plan, receive) {
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
            for (const message of JSON.parse(body)) receive(message);
        } else if (pathname === "/plan") {
            response.writeHead(200, { ...headers, "Content-Type": "application/json" }).end(JSON.stringify(plan));
        } else if (pathname === "/" || pathname === "/build/study.mjs") {
            const file = pathname === "/" ? "page.html" : pathname.slice(1);
            response
                .writeHead(200, { ...headers, "Content-Type": TYPES[path.extname(file)] })
                .end(await readFile(path.join(here, file)));
        } else if (/^\/mksum\/[a-z-]+\.js$/.test(pathname)) {
            // The published package, for its workers.
            const file = path.join(here, "../../bindings/js/dist", pathname.slice("/mksum/".length));
            response.writeHead(200, { ...headers, "Content-Type": TYPES[".mjs"] }).end(await readFile(file));
        } else {
            response.writeHead(404, headers).end();
        }
    });
    return new Promise((ready) => server.listen(0, "127.0.0.1", () => ready(server)));
}

/** Returns a browser. It opens a local page that runs the study and posts its reports. */
function browser(name, program, flags, prepare = () => {}) {
    return {
        name,
        program,
        version: () => number(printed(program, "--version")),
        run: async (plan, receive) => {
            const profile = mkdtempSync(path.join(tmpdir(), "mksum-lab-"));
            prepare(profile);
            let child;
            let server;
            let watch;
            try {
                await new Promise((finished, failed) => {
                    const listen = (message) => {
                        watch?.again();
                        if (message.failed) return failed(new Error(`${name}: ${message.failed}`));
                        receive(message);
                        if (message.done) finished();
                    };
                    serve(plan, listen).then((listening) => {
                        server = listening;
                        const url = `http://localhost:${server.address().port}/`;
                        // In its own process group, because browsers have child processes.
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
                    // The process has already ended.
                }
                server?.closeAllConnections();
                server?.close();
                rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
            }
        },
    };
}

// Disables first-run pages, updates, crash reports, the limit for long scripts, and the reduced clock precision.
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
    // The sandbox does not work for root.
    ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
    `--user-data-dir=${profile}`,
];

// What scripts/need.sh installs for each engine. Each npm engine has a folder of its own, because together they have 400 MB.
const NEEDS = {
    node: "node",
    chromium: "chromium",
    firefox: "firefox",
    "node-current": "npm:lab/js/engines/node",
    bun: "npm:lab/js/engines/bun",
    deno: "npm:lab/js/engines/deno",
};

/** All engines in the order of measurement. The first two are measured at more points. `version` is undefined if missing. */
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
    needs: NEEDS[engine.name],
    here: () => !path.isAbsolute(engine.program) || existsSync(engine.program),
}));
