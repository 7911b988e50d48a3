// The choice of formats.
import { loaded } from "../engine.js";
import { isMore } from "../hashing/more-sums.js";
import { canonical } from "../known/checks.js";
import { shown } from "../text/format-name.js";
import { byId, make } from "./dom.js";

/** The formats with a check box, and the programs that print the same. */
const OFFERED = /** @type {const} */ ([
    ["sha256", "sha256sum"], ["sha512", "sha512sum"], ["blake3", "b3sum"], ["blake2b", "b2sum"], ["sha1", "sha1sum"], ["md5", "md5sum"],
    ["sha3-256", "openssl"], ["sha384", "sha384sum"],
    ["rfc6962:sha256:64KiB", "tree: mksum"], ["btv2", "tree: BitTorrent v2"], ["fsverity:sha256:4KiB", "tree: fsverity"],
    ["s3:md5:8MiB", "tree: S3 ETag"], ["dropbox", "tree: Dropbox"], ["glacier", "tree: S3 Glacier"],
]);

const STORED = "mksum-formats";

/** Shows the formats. @param {import("../workspace.js").Workspace} workspace */
export async function showFormats(workspace) {
    const choices = byId("format-choices");
    const [other, problem] = [byId("format-other"), byId("format-problem")];
    /** @type {HTMLInputElement[]} */
    const boxes = [];
    const chosen = () => boxes.filter(({ checked }) => checked).map(({ value }) => value);
    const changed = () => {
        byId("formats-chosen").textContent = chosen().map(shown).join(", ") || "none, only those that a comparison needs";
        workspace.choose(chosen());
        remember(chosen());
    };
    const add = (/** @type {string} */ format, /** @type {string} */ same, /** @type {boolean} */ checked) => {
        const box = make("input", { type: "checkbox", value: format, checked, onchange: changed });
        boxes.push(box);
        choices.append(make("label", {}, box, make("span", {}, shown(format), same ? make("small", {}, same) : undefined)));
    };
    const wanted = remembered() ?? workspace.formats;
    if (wanted.some(isMore)) await loaded().catch(() => {});
    for (const [format, same] of OFFERED) add(format, same, wanted.includes(format));
    for (const format of wanted) if (!OFFERED.some(([own]) => own === format) && "format" in canonical(format)) add(format, "", true);
    const addOther = async () => {
        const text = /** @type {HTMLInputElement} */ (other).value.trim();
        const failed = isMore(text) ? await loaded().then(() => undefined, String) : undefined;
        const found = failed === undefined ? canonical(text) : { message: failed };
        problem.textContent = "message" in found ? `“${text}” is not a format: ${found.message}` : "";
        if ("message" in found) return;
        const own = boxes.find(({ value }) => value === found.format);
        if (own) own.checked = true;
        else add(found.format, "", true);
        /** @type {HTMLInputElement} */ (other).value = "";
        changed();
    };
    byId("format-add").addEventListener("click", addOther);
    other.addEventListener("keydown", (event) => event.key === "Enter" && addOther());
    changed();
}

/** Returns the formats of the last visit. @returns {string[] | undefined} */
function remembered() {
    try {
        const found = JSON.parse(localStorage.getItem(STORED) ?? "null");
        return Array.isArray(found) ? found.map(String) : undefined;
    } catch {
        // The browser stores nothing for this page.
        return undefined;
    }
}

/** @param {string[]} formats */
function remember(formats) {
    try {
        localStorage.setItem(STORED, JSON.stringify(formats));
    } catch {
        // As above.
    }
}
