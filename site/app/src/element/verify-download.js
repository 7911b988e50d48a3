// <verify-download href root>: a link whose file is verified before it is saved. One script, without other files.
import { MksumError } from "mksum/fetch";
import { tool } from "../internal.js";
import { shown } from "../text/format-name.js";
import { grouped, size } from "../text/sizes.js";
import { visible } from "../text/visible.js";
import { Job } from "../hashing/job.js";
import { progressText } from "../page/jobs.js";
import { isAbort } from "../hashing/messages.js";
import { Sink } from "./sink.js";

const { Frontier, Spec, load, published, rootGiven } = tool;

/** What a file is compared with: a root as each of several formats prints it, of one if it is named. @typedef {readonly { spec: string, root: string }[]} Expected */

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
    const wanted = format === null ? readOf(root) : [{ spec: Spec.parse(format).text, root: rootGiven(format, root) }];
    const found = wanted.filter(({ spec }) => Spec.parse(spec).streams);
    if (found.length > 0) return found;
    throw new Error(wanted[0] ? `${wanted[0].spec} needs the length first: it cannot be computed from a download` : "the attribute root is that of no file");
}

/**
 * Returns the formats of a root that is given without one: that which it names, or all hashes of its length. A file can be made of the
 * nodes of a tree so that its hash is the tree's root: a tree must be named.
 *
 * @param {string} root
 * @returns {Expected}
 */
function readOf(root) {
    let found;
    try {
        found = published(root, 0, true);
    } catch (cause) {
        throw new Error(`the attribute root is not a digest: “${root}”`, { cause });
    }
    const { format, parts, usual, unusual } = found;
    if (parts !== undefined && format === undefined) throw new Error("the attribute format is missing: this root does not name its format");
    if (format !== undefined) return usual;
    return [...usual, ...unusual].filter(({ spec }) => Spec.parse(spec).family === Spec.parse(spec).hash);
}

/** Creates an element. @type {<T extends keyof HTMLElementTagNameMap>(tag: T, properties?: object) => HTMLElementTagNameMap[T]} */
const make = (tag, properties = {}) => Object.assign(document.createElement(tag), properties);

/** The page may not read the file: a policy, or another site without CORS. */
class Unreachable extends Error {}

class VerifyDownload extends HTMLElement {
    /** @private @type {Job | undefined} */
    job;

    /** Whether the engine has started, or failed to. @private */
    ready = false;
    /** Why nothing is verified, so that the link is a plain link. @private @type {string | undefined} */
    reason;

    connectedCallback() {
        if (this.shadowRoot) return;
        const root = this.attachShadow({ mode: "open" });
        const sheet = new CSSStyleSheet();
        sheet.replaceSync(STYLE);
        root.adoptedStyleSheets = [sheet];
        const start = make("slot");
        start.append(make("a", { href: this.getAttribute("href") ?? "", download: this.fileName, textContent: visible(`Download and verify ${this.fileName}`) }));
        const cancel = make("button", { type: "button", textContent: "Cancel", hidden: true });
        const bar = make("progress", { max: 1, hidden: true });
        bar.setAttribute("aria-label", visible(`Download of ${this.fileName}`));
        const text = make("p", { hidden: true });
        const status = make("p");
        status.setAttribute("role", "status");
        const row = make("div", { className: "row" });
        row.append(start, cancel);
        root.append(row, bar, text, status);
        const parts = { cancel, bar, text, status };
        start.addEventListener("click", (event) => {
            // A click that opens a new tab, or anything else than the link, is not for this element.
            if (event.button !== 0 || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || event.defaultPrevented) return;
            const link = event.composedPath().find((own) => own instanceof HTMLAnchorElement);
            if (!link) return;
            if (!this.ready) {
                event.preventDefault();
                void starting.then(() => link.click());
                return;
            }
            const expected = this.expected(parts.status);
            if (expected) event.preventDefault();
            if (expected && !this.job) void this.verify(expected, parts);
        });
        cancel.addEventListener("click", () => this.job?.cancel());
        const starting = load().catch((error) => {
            this.reason = error instanceof Error ? error.message : String(error);
        }).then(() => (this.ready = true));
    }

    /** Returns what the file is compared with, or tells why it is downloaded without that. @private @param {HTMLElement} status */
    expected(status) {
        try {
            if (this.reason !== undefined) throw new Error(this.reason);
            return expectedOf(this.getAttribute("root") ?? "", this.getAttribute("format"));
        } catch (error) {
            this.tell(status, "unable", "? Cannot check", `${this.fileName} is downloaded without being verified: ${error instanceof Error ? error.message : String(error)}`);
            return undefined;
        }
    }

    /** @private @param {HTMLElement} status @param {"match" | "error" | "unable" | "cancelled"} state @param {string} word @param {string} message */
    tell(status, state, word, message) {
        status.className = state;
        status.replaceChildren(make("strong", { textContent: word }), visible(` ${message}`));
        this.dispatchEvent(new CustomEvent("verified", { detail: { state, message }, bubbles: true }));
    }

    /** The name under which the file is saved: the attribute `download`, or the end of the address. */
    get fileName() {
        const path = new URL(this.getAttribute("href") ?? "", document.baseURI).pathname;
        return this.getAttribute("download") || decodeURIComponent(path.slice(path.lastIndexOf("/") + 1)) || "download";
    }

    /** @private @param {Expected} expected @param {{ cancel: HTMLButtonElement, bar: HTMLProgressElement, text: HTMLElement, status: HTMLElement }} parts */
    async verify(expected, { cancel, bar, text, status }) {
        status.replaceChildren();
        const job = (this.job = new Job(this.fileName, 0));
        /** @type {Sink | undefined} */
        let sink;
        try {
            // The place is asked for at once: later the browser no longer allows it.
            const own = (sink = await Sink.open(this.fileName));
            [cancel.hidden, bar.hidden, text.hidden] = [false, false, false];
            const { roots, len } = await this.download(job, expected.map(({ spec }) => spec), own, () => {
                if (job.total > 0) bar.value = job.done / job.total;
                else bar.removeAttribute("value");
                text.textContent = job.total > 0 ? progressText(job) : size(job.done);
            });
            const found = expected.find(({ root }, at) => roots[at] === root);
            if (found) {
                await sink.keep();
                return this.tell(status, "match", "✓ Verified", `${this.fileName} has the expected ${shown(found.spec)} and was saved (${grouped(len)} bytes).`);
            }
            await sink.drop();
            const all = expected.map(({ spec }, at) => `${shown(spec)} ${roots[at]}`).join(", ");
            const [{ spec, root } = { spec: "", root: "" }] = expected;
            if (expected.length === 1) this.tell(status, "error", "✗ Mismatch", `The file is not the expected one and was not saved. Expected ${shown(spec)} ${root}, found ${roots[0]} (${grouped(len)} bytes).`);
            else this.tell(status, "unable", "? Cannot check", `The file was not saved: no format gives the expected ${root}, which does not name one. Found ${all} (${grouped(len)} bytes).`);
        } catch (error) {
            await sink?.drop();
            if (isAbort(error)) return this.tell(status, "cancelled", "Cancelled.", "Nothing was saved.");
            // The next click downloads it as if this element were not there.
            if (error instanceof Unreachable) this.reason = error.message;
            const again = this.reason === undefined ? "" : " The link now downloads it without being verified.";
            this.tell(status, "error", "✗ Not verified", `Nothing was saved: ${error instanceof MksumError || error instanceof Error ? error.message : String(error)}.${again}`);
        } finally {
            this.job = undefined;
            [cancel.hidden, bar.hidden, text.hidden] = [true, true, true];
        }
    }

    /** @private @param {Job} job @param {string[]} formats @param {Sink} sink @param {() => void} show */
    async download(job, formats, sink, show) {
        const url = new URL(this.getAttribute("href") ?? "", document.baseURI);
        let response;
        try {
            response = await fetch(url, { signal: job.signal });
        } catch (cause) {
            if (isAbort(cause)) throw cause;
            throw new Unreachable(`${url} cannot be fetched: ${String(cause)}`, { cause });
        }
        if (!response.ok || !response.body) throw new Error(`${url}: the server answered with status ${response.status}`);
        // A compressed transfer has another length than the file.
        const stated = response.headers.has("Content-Encoding") ? 0 : Number(response.headers.get("Content-Length") ?? 0);
        job.total = stated;
        const frontiers = formats.map((format) => new Frontier(format));
        const reader = response.body.getReader();
        let [len, last] = [0, 0];
        try {
            for (;;) {
                const { done, value } = await reader.read();
                if (done) break;
                for (const frontier of frontiers) frontier.update(value);
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
            return { roots: frontiers.map((frontier) => frontier.root().text), len };
        } finally {
            for (const frontier of frontiers) frontier.free();
            void reader.cancel().catch(() => {});
        }
    }
}

customElements.define("verify-download", VerifyDownload);
