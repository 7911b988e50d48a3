// How files and knowledge come to the page: buttons, drops anywhere, and paste.
import { loaded } from "../engine.js";
import { fromHandle, fromInput, fromTransfer } from "../files/collect.js";
import { isKnowledge, LONGEST_TEXT, recogniseBytes, recogniseText } from "../known/recognise.js";
import { counted } from "../text/sizes.js";
import { visible } from "../text/visible.js";
import { announce } from "./announce.js";
import { byId } from "./dom.js";
import { guess } from "./guess.js";
import { knownOf } from "./links.js";

/** @typedef {import("../files/collect.js").Chosen} Chosen */

/** The bytes of a file that say whether it is a sum file, an outboard or a proof. */
const HEAD = 1 << 12;

/** Of more files, only those with such names are read to see whether they tell about others. */
const FEW = 32;
const HINT = /(\.(mkt|(tlog-)?proof|sfv|md5|sha\w*|b2|b3|blake\w*|txt)|sums?(\.\w+)?)$/i;

/** The characters of a text that the field shows when it is pasted. */
const LONG_PASTE = 1 << 16;

/** The longest outboard or proof that is read, in bytes. */
const LONGEST = 1 << 30;

/**
 * @param {import("../workspace.js").Workspace} workspace
 * @param {Promise<unknown>} ready Resolves when the engine is loaded. If it is rejected, the page says why.
 */
export function takeFiles(workspace, ready) {
    const [files, folder, known] = ["files", "folder", "known"].map((id) => inputOf(id));
    const problem = byId("claim-problem");
    /** @type {HTMLTextAreaElement} */
    const claim = byId("claim");

    /** Takes files to hash, and those among them that tell about others. @param {readonly Chosen[]} chosen */
    const take = async (chosen) => {
        await ready.catch(() => {});
        /** @type {Chosen[]} */
        const own = [];
        /** @type {Chosen[]} */
        const about = [];
        const few = chosen.length <= FEW;
        for (const one of chosen) ((few || HINT.test(one.path)) && (await tells(one)) ? about : own).push(one);
        await learn(about);
        if (own.length > 0) {
            workspace.add(own);
            announce(counted(own.length, "file"));
        } else if (chosen.length === 0) {
            announce("There are no files in it.");
        }
    };

    /** Takes files that tell about others. @param {readonly Chosen[]} chosen */
    const learn = async (chosen) => {
        await ready.catch(() => {});
        problem.textContent = "";
        for (const { path, file } of chosen) {
            if (file.size > LONGEST) {
                problem.textContent = visible(`${path}: ${file.size} bytes are too long for a sum file, an outboard or a proof. Drop it as a file to hash.`);
                continue;
            }
            try {
                const found = await recogniseBytes(new Uint8Array(await file.arrayBuffer()), path);
                learnAll(found);
            } catch (error) {
                problem.textContent = visible(`${path}: it cannot be read: ${String(error)}`);
            }
        }
    };

    /** Takes what was recognised, and says what was not. @param {readonly import("../known/recognise.js").Known[]} found */
    const learnAll = (found) => {
        const usable = found.filter(({ kind }) => kind !== "unknown");
        for (const one of found) if (one.kind === "unknown") problem.textContent = visible(one.message);
        if (usable.length > 0) workspace.learn(usable);
        return usable.length;
    };

    /** Takes what a text tells, if it tells something. @param {() => Promise<readonly import("../known/recognise.js").Known[]>} read */
    const learnText = async (read) => {
        await ready.catch(() => {});
        problem.textContent = "";
        const count = learnAll(await read());
        if (count > 0) announce(counted(count, "item") + " to compare with");
        return count > 0;
    };
    const showGuess = () => (byId("claim-guess").textContent = visible(guess(claim.value)));
    const fromText = async () => {
        const { value } = claim;
        if ((await learnText(() => recogniseText(value))) && claim.value === value) claim.value = "";
        showGuess();
    };
    const fromLink = () => void learnText(() => knownOf(location.hash));
    fromLink();
    window.addEventListener("hashchange", fromLink);
    claim.addEventListener("input", () => void loaded().then(showGuess, () => {}));

    byId("choose-files").addEventListener("click", async () => {
        if (typeof window.showOpenFilePicker !== "function") return files?.click();
        const handles = await picked(() => window.showOpenFilePicker({ multiple: true }), files);
        const chosen = await Promise.all((handles ?? []).map((handle) => fromHandle(handle)));
        if (handles) await take(chosen.flat());
    });
    byId("choose-folder").addEventListener("click", async () => {
        if (typeof window.showDirectoryPicker !== "function") return folder?.click();
        const handle = await picked(() => window.showDirectoryPicker(), folder);
        if (handle) await take(await fromHandle(handle));
    });
    byId("choose-known").addEventListener("click", () => known?.click());
    byId("claim-add").addEventListener("click", fromText);
    byId("claim").addEventListener("keydown", (event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void fromText();
    });
    // A pasted text is compared at once. A long one does not go through the field, whose layout would take seconds.
    byId("claim").addEventListener("paste", (/** @type {ClipboardEvent} */ event) => {
        const text = event.clipboardData?.getData("text/plain") ?? "";
        if (text.length > LONG_PASTE) {
            event.preventDefault();
            void learnText(() => recogniseText(text));
        } else {
            setTimeout(fromText);
        }
    });
    for (const input of [files, folder]) {
        input?.addEventListener("change", async () => {
            const chosen = fromInput(input.files ?? []);
            await take(chosen);
            input.value = "";
        });
    }
    known?.addEventListener("change", async () => {
        const chosen = fromInput(known.files ?? []);
        await learn(chosen);
        known.value = "";
    });
    takeDrops(take);
}

/**
 * Opens a picker. Where it is refused, as in frames of other sites, it opens the input instead.
 *
 * @template T
 * @param {() => Promise<T>} pick
 * @param {HTMLInputElement | undefined} input
 * @returns {Promise<T | undefined>}
 */
async function picked(pick, input) {
    try {
        return await pick();
    } catch (error) {
        if (!(error instanceof DOMException && error.name === "AbortError")) input?.click();
        return undefined;
    }
}

/** Returns whether a file tells about others. @param {Chosen} chosen */
async function tells({ path, file }) {
    if (file.size > LONGEST_TEXT && !/\.(mkt|proof|prf)$/i.test(path)) return false;
    try {
        return await isKnowledge(path, new Uint8Array(await file.slice(0, HEAD).arrayBuffer()), file.size);
    } catch {
        // It is reported when it is hashed.
        return false;
    }
}

/** Returns an input of the page. @param {string} id @returns {HTMLInputElement} */
function inputOf(id) {
    return byId(id);
}

/** @param {DragEvent} event */
function hasFiles(event) {
    return event.dataTransfer?.types.includes("Files") ?? false;
}

/** @param {(chosen: readonly Chosen[]) => Promise<void>} take */
function takeDrops(take) {
    const overlay = byId("overlay");
    let depth = 0;
    window.addEventListener("dragenter", (event) => {
        if (!hasFiles(event)) return;
        depth++;
        overlay.hidden = false;
    });
    window.addEventListener("dragleave", (event) => {
        if (hasFiles(event) && --depth <= 0) overlay.hidden = true;
    });
    window.addEventListener("dragover", (event) => hasFiles(event) && event.preventDefault());
    window.addEventListener("drop", async (event) => {
        depth = 0;
        overlay.hidden = true;
        if (!hasFiles(event) || !event.dataTransfer) return;
        event.preventDefault();
        await take(await fromTransfer(event.dataTransfer));
    });
    window.addEventListener("paste", async (event) => {
        if (!event.clipboardData || event.clipboardData.files.length === 0) return;
        event.preventDefault();
        await take(await fromTransfer(event.clipboardData));
    });
}
