// Saves bytes as a file: where the person says, or as a download.
import { make } from "./dom.js";

/** How long the address of a download is kept, in milliseconds. */
const KEPT = 60_000;

/**
 * Saves a blob. Where the browser can write files, the person chooses the place and the blob is streamed to it; elsewhere it is
 * a download.
 *
 * @param {Blob} blob
 * @param {string} name
 * @returns {Promise<boolean>} Whether it was saved: `false` if the person chose no place.
 */
export async function save(blob, name) {
    if (typeof window.showSaveFilePicker === "function") {
        let handle;
        try {
            handle = await window.showSaveFilePicker({ suggestedName: name });
        } catch (error) {
            if (error instanceof DOMException && error.name === "AbortError") return false;
            // For example in a frame of another site, where pickers are refused.
            return download(blob, name);
        }
        const writable = await handle.createWritable();
        await blob.stream().pipeTo(writable);
        return true;
    }
    return download(blob, name);
}

/** @param {Blob} blob @param {string} name */
export function download(blob, name) {
    const url = URL.createObjectURL(blob);
    const link = make("a", { href: url, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), KEPT);
    return true;
}

/** @param {string} text @param {string} name */
export function saveText(text, name) {
    return save(new Blob([text], { type: "text/plain" }), name);
}

/** @param {string} path */
export function baseName(path) {
    return path.slice(path.lastIndexOf("/") + 1);
}
