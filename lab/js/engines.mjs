// Finds and starts each engine. `open()` starts a session: its `run(plan, receive)` runs a plan in a fresh process and passes the
// reports to `receive`, with the process id of the engine; `close()` ends the session.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const QUIET_SECONDS = 60; // An engine without a report for this long hangs.

const installed = (name) => path.join(here, "engines", name, "node_modules/.bin", name);
const printed = (command, ...args) => {
    const done = spawnSync(command, args, { encoding: "utf8" });
    return done.status === 0 ? done.stdout.trim() : undefined;
};
const number = (text) => text?.match(/\d+(\.\d+)+/)?.[0];

/** Returns a function that calls `failed` unless it is called again in time. `stop` ends the wait. */
function watched(name, failed) {
    let timer;
    const again = () => {
        clearTimeout(timer);
        timer = setTimeout(() => failed(new Error(`${name} sent no report for ${QUIET_SECONDS} s`)), 1000 * QUIET_SECONDS);
    };
    again();
    return { again, stop: () => clearTimeout(timer) };
}

/** Returns a command-line engine. It starts a process for each plan. */
function command(name, program, flags) {
    const run = (plan, receive) =>
        new Promise((finished, failed) => {
            const child = spawn(program, [...flags, path.join(here, "command.mjs"), JSON.stringify(plan)], {
                stdio: ["ignore", "pipe", "pipe"],
            });
            const watch = watched(name, (error) => {
                child.kill("SIGKILL");
                failed(error);
            });
            let done = false;
            let complaints = "";
            child.stderr.on("data", (data) => (complaints = (complaints + data).slice(-4000)));
            createInterface({ input: child.stdout }).on("line", (line) => {
                watch.again();
                const message = JSON.parse(line);
                done ||= Boolean(message.done);
                receive(message, child.pid);
            });
            child.on("error", failed);
            child.on("close", (code, signal) => {
                watch.stop();
                if (done) finished();
                else failed(new Error(`${name} ended early (${signal ?? `exit ${code}`}): ${complaints}`));
            });
        });
    return { name, program, version: () => number(printed(program, "--version")), open: () => ({ run, close() {} }) };
}

const TYPES = { ".html": "text/html; charset=utf-8", ".mjs": "text/javascript; charset=utf-8" };
// They isolate the page, which a precise clock and memory measurements require.
const HEADERS = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Cache-Control": "no-store",
};
// Which files a page may have: the study, and for its workers the published package.
const FILES = [
    [/^\/build\/study\/[\w./-]+\.mjs$/, here],
    [/^\/mksum\/[a-z0-9-]+\.js$/, path.join(here, "../../bindings/js/dist"), "/mksum"],
];

/**
 * Serves the pages. Each plan has a page of its own, at a host of its own: `http://pN.localhost`. The first page of the browser, the
 * opener, waits for the next plan and opens its page with `noopener`. Such a page has no relation to any other, and its site is
 * different from that of all others, so that browsers that isolate sites give it a fresh process (test/engines.test.mjs). This
 * takes a fraction of the time that starting a browser takes.
 */
class Pages {
    #waiting;
    #page;
    #number = 0;

    async listen() {
        this.server = createServer((request, response) =>
            this.#answer(request, response).catch(() => response.writeHead(404, HEADERS).end()),
        );
        await new Promise((ready) => this.server.listen(0, "127.0.0.1", ready));
        this.port = this.server.address().port;
    }

    /** Opens a page for a plan. */
    open(plan, listen) {
        this.#page = { host: `p${this.#number++}.localhost:${this.port}`, plan, listen };
        this.#next();
    }

    #next() {
        if (!this.#waiting || !this.#page || this.#page.opened) return;
        this.#page.opened = true;
        this.#waiting.end(JSON.stringify({ url: `http://${this.#page.host}/` }));
        this.#waiting = undefined;
    }

    async #answer(request, response) {
        const { pathname } = new URL(request.url, "http://localhost");
        const json = { ...HEADERS, "Content-Type": "application/json" };
        if (pathname === "/next") {
            this.#waiting = response.writeHead(200, json);
            this.#next();
        } else if (pathname === "/report") {
            let body = "";
            for await (const data of request) body += data;
            // A page that was given up may still report.
            if (request.headers.host === this.#page?.host) for (const message of JSON.parse(body)) this.#page.listen(message);
            response.writeHead(204, HEADERS).end();
        } else if (pathname === "/plan") {
            response.writeHead(200, json).end(JSON.stringify(this.#page.plan));
        } else if (pathname === "/" || pathname === "/opener") {
            const page = await readFile(path.join(here, pathname === "/" ? "page.html" : "opener.html"));
            response.writeHead(200, { ...HEADERS, "Content-Type": TYPES[".html"] }).end(page);
        } else {
            const [, folder, prefix = ""] = FILES.find(([pattern]) => pattern.test(pathname) && !pathname.includes(".."));
            const module = await readFile(path.join(folder, pathname.slice(prefix.length)));
            response.writeHead(200, { ...HEADERS, "Content-Type": TYPES[".mjs"] }).end(module);
        }
    }

    close() {
        this.server.closeAllConnections();
        this.server.close();
    }
}

/** Returns a browser. It runs each plan in a page of its own, which posts its reports. */
function browser(name, program, flags, prepare = () => {}) {
    const open = async () => {
        const profile = mkdtempSync(path.join(tmpdir(), "mksum-lab-"));
        prepare(profile);
        const pages = new Pages();
        await pages.listen();
        let ended;
        // In its own process group, because browsers have child processes.
        const child = spawn(program, [...flags(profile), `http://localhost:${pages.port}/opener`], {
            stdio: "ignore",
            detached: true,
        });
        child.on("error", (error) => ended?.(error));
        child.on("close", (code) => ended?.(new Error(`${name} ended early (exit ${code})`)));
        return {
            run: (plan, receive) =>
                new Promise((finished, failed) => {
                    const watch = watched(name, (error) => end(error));
                    const end = (error) => {
                        watch.stop();
                        if (error) failed(error);
                        else finished();
                    };
                    ended = end;
                    pages.open(plan, (message) => {
                        watch.again();
                        if (message.failed) return end(new Error(`${name}: ${message.failed}`));
                        receive(message, child.pid);
                        if (message.done) end();
                    });
                }),
            close() {
                try {
                    if (child.pid) process.kill(-child.pid, "SIGKILL");
                } catch {
                    // The process has already ended.
                }
                pages.close();
                rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
            },
        };
    };
    return { name, program, version: () => number(printed(program, "--version")), open };
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
    // The opener opens pages, and these close themselves.
    ["dom.disable_open_during_load", false],
    ["dom.popup_maximum", -1],
    ["dom.allow_scripts_to_close_windows", true],
    // A process for a later page would start during the trials of this one.
    ["dom.ipc.processPrelaunch.enabled", false],
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
    "--disable-popup-blocking",
    // A process for a later page would start during the trials of this one.
    "--disable-features=SpareRendererForSitePerProcess",
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

// What is measured unless engines are named.
const DEFAULT = ["node", "chromium", "firefox"];

/** All engines in the order of measurement. `version` is undefined if missing. */
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
].map((engine) => ({
    ...engine,
    byDefault: DEFAULT.includes(engine.name),
    needs: NEEDS[engine.name],
    here: () => !path.isAbsolute(engine.program) || existsSync(engine.program),
}));
