// Errors as sentences for the page: what happened to which file, and what to do next.
import { MksumError } from "mksum/fetch";

/**
 * Returns the message of an error about a file.
 *
 * @param {string} path
 * @param {unknown} error
 */
export function messageOf(path, error) {
    if (!(error instanceof MksumError)) return `${path}: ${error instanceof Error ? error.message : String(error)}`;
    if (error.code === "source" && !error.message.startsWith("a worker failed")) {
        return `${path}: the file could not be read to its end, or it changed while it was read. No digest was computed. Choose the file again. (${error.message})`;
    }
    if (error.code === "source") return `${path}: ${error.message}. Try again; if it fails again, reload the page.`;
    return `${path}: ${error.message}`;
}

/** @param {unknown} error */
export function isAbort(error) {
    return error instanceof DOMException && error.name === "AbortError";
}
