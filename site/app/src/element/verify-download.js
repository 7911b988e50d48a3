// <verify-download href root>: a link whose file is verified before it is saved. One script, without other files.
import { MksumError, Spec, Frontier } from "mksum/fetch";
import { canonical, shown } from "../known/checks.js";
import { claimOf, formatsFor } from "../known/claims.js";
import { sumLines } from "../known/sum-lines.js";
import { grouped, size } from "../text/sizes.js";
import { Job } from "../hashing/job.js";
import { progressText } from "../page/jobs.js";
import { isAbort } from "../hashing/messages.js";
import { Sink } from "./sink.js";

/** @typedef {{ format: string, root: string }} Expected */

const STYLE = `
:host { display: inline-block; max-width: 100%; font: inherit; color: inherit; }
[hidden] { display: none !important; }
.row { display: flex; flex-wrap: wrap; gap: 0.5em; align-items: center; }
button { font: inherit; min-height: 2.5em; padding: 0.3em 0.9em; border: 1px solid currentColor; border-radius: 6px; background: none; color: inherit; cursor: pointer; }
button:focus-visible { outline: 3px solid currentColor; outline-offset: 2px; }
progress { width: 100%; }
p { margin: 0.3em 0; overflow-wrap: anywhere; }
strong { padding: 0 0.4em; border: 2px solid currentColor; border-radius: 4px; }
.match { color: var(--good, #11703a); } .error { color: var(--bad, #b3261e); }
@media (prefers-color-scheme: dark) { .match { color: var(--good, #6fd195); } .error { color: var(--bad, #ff9a90); } }
`;

/**
 * Reads the `root` attribute, with the `format` attribute if the root does not name its format.
 *
 * @param {string} root
 * @param {string | null} format
 * @returns {Expected}
 */
export function expectedOf(root, format) {
    const line = sumLines(root);
    const entry = line.entries.length === 1 ? line.entries[0] : undefined;
    const claim = claimOf(root);
    const named = format ?? (entry && !entry.guessed && !claim ? entry.format : claim?.format);
    const text = claim?.text ?? entry?.root;
    if (text === undefined) throw new Error(`the attribute root is not a digest: “${root}”`);
    const first = named ?? (claim && claim.parts === undefined ? formatsFor(claim, 0).first[0] : undefined);
    if (first === undefined) throw new Error("the attribute format is missing: this root does not name its format");
    const found = canonical(first);
    if ("message" in found) throw new Error(`the attribute format: ${found.message}`);
    if (!Spec.parse(found.format).streams) throw new Error(`${found.format} needs the length first: it cannot be computed from a download`);
    return { format: found.format, root: text };
}

/** Creates an element. @type {<T extends keyof HTMLElementTagNameMap>(tag: T, properties?: object) => HTMLElementTagNameMap[T]} */
const make = (tag, properties = {}) => Object.assign(document.createElement(tag), properties);

class VerifyDownload extends HTMLElement {
    /** @private @type {Job | undefined} */
    job;

    connectedCallback() {
        if (this.shadowRoot) return;
        const root = this.attachShadow({ mode: "open" });
        const sheet = new CSSStyleSheet();
        sheet.replaceSync(STYLE);
        root.adoptedStyleSheets = [sheet];
        const start = make("button", { type: "button" });
        const label = make("slot", { textContent: `Download and verify ${this.fileName}` });
        start.append(label);
        const cancel = make("button", { type: "button", textContent: "Cancel", hidden: true });
        const bar = make("progress", { max: 1, hidden: true });
        bar.setAttribute("aria-label", `Download of ${this.fileName}`);
        const text = make("p", { hidden: true });
        const status = make("p");
        status.setAttribute("role", "status");
        const row = make("div", { className: "row" });
        row.append(start, cancel);
        root.append(row, bar, text, status);
        start.addEventListener("click", (event) => {
            // A link inside is for browsers without this script.
            event.preventDefault();
            void this.verify({ start, cancel, bar, text, status });
        });
        cancel.addEventListener("click", () => this.job?.cancel());
    }

    /** The name under which the file is saved: the attribute `download`, or the end of the address. */
    get fileName() {
        const path = new URL(this.getAttribute("href") ?? "", document.baseURI).pathname;
        return this.getAttribute("download") || decodeURIComponent(path.slice(path.lastIndexOf("/") + 1)) || "download";
    }

    /** @private @param {{ start: HTMLButtonElement, cancel: HTMLButtonElement, bar: HTMLProgressElement, text: HTMLElement, status: HTMLElement }} parts */
    async verify({ start, cancel, bar, text, status }) {
        const tell = (/** @type {string} */ state, /** @type {string} */ word, /** @type {string} */ message) => {
            const strong = document.createElement("strong");
            strong.textContent = word;
            status.className = state;
            status.replaceChildren(strong, ` ${message}`);
            this.dispatchEvent(new CustomEvent("verified", { detail: { state, message }, bubbles: true }));
        };
        status.replaceChildren();
        start.disabled = true;
        /** @type {Sink | undefined} */
        let sink;
        try {
            const { format, root } = expectedOf(this.getAttribute("root") ?? "", this.getAttribute("format"));
            // The place is asked for at once: later the browser no longer allows it.
            const own = (sink = await Sink.open(this.fileName));
            const job = (this.job = new Job(this.fileName, 0));
            [cancel.hidden, bar.hidden, text.hidden] = [false, false, false];
            const found = await this.download(job, format, own, () => {
                if (job.total > 0) bar.value = job.done / job.total;
                else bar.removeAttribute("value");
                text.textContent = job.total > 0 ? progressText(job) : size(job.done);
            });
            if (found.root !== root) {
                await sink.drop();
                tell("error", "✗ Mismatch", `The file is not the expected one and was not saved. Expected ${shown(format)} ${root}, found ${found.root} (${grouped(found.len)} bytes).`);
            } else {
                await sink.keep();
                tell("match", "✓ Verified", `${this.fileName} has the expected ${shown(format)} and was saved (${grouped(found.len)} bytes).`);
            }
        } catch (error) {
            await sink?.drop();
            const message = isAbort(error) ? "Cancelled. Nothing was saved." : `Nothing was saved: ${error instanceof MksumError || error instanceof Error ? error.message : String(error)}`;
            tell("error", "✗ Not verified", message);
        } finally {
            start.disabled = false;
            [cancel.hidden, bar.hidden, text.hidden] = [true, true, true];
        }
    }

    /** @private @param {Job} job @param {string} format @param {Sink} sink @param {() => void} show */
    async download(job, format, sink, show) {
        const url = new URL(this.getAttribute("href") ?? "", document.baseURI);
        let response;
        try {
            response = await fetch(url, { signal: job.signal });
        } catch (cause) {
            if (isAbort(cause)) throw cause;
            throw new Error(`${url} cannot be fetched: ${String(cause)}`, { cause });
        }
        if (!response.ok || !response.body) throw new Error(`${url}: the server answered with status ${response.status}`);
        // A compressed transfer has another length than the file.
        const stated = response.headers.has("Content-Encoding") ? 0 : Number(response.headers.get("Content-Length") ?? 0);
        job.total = stated;
        const frontier = new Frontier(format);
        const reader = response.body.getReader();
        let [len, last] = [0, 0];
        try {
            for (;;) {
                const { done, value } = await reader.read();
                if (done) break;
                frontier.update(value);
                await sink.write(value);
                len += value.length;
                job.total = Math.max(job.total, stated && len);
                job.advance(stated ? len : 0);
                job.done = len;
                if (performance.now() - last < 200) continue;
                last = performance.now();
                show();
            }
            if (stated && len !== stated) throw new Error(`the download ended after ${grouped(len)} of ${grouped(stated)} bytes`);
            return { root: frontier.root().text, len };
        } finally {
            frontier.free();
            void reader.cancel().catch(() => {});
        }
    }
}

customElements.define("verify-download", VerifyDownload);
