// The files that a person dropped or chose, with their paths; folders with everything below them.

/**
 * @typedef {object} Chosen
 * @property {string} path The path from the folder that was chosen, or the file's name.
 * @property {File} file
 * @property {FileSystemFileHandle} [handle] With it the browser may write to the file.
 * @property {import("./watch.js").Fresh} [fresh] Returns the file as it is now, where the browser tells.
 */

/**
 * Returns the files of an `<input type=file>`.
 *
 * @param {Iterable<File>} files
 * @returns {Chosen[]}
 */
export function fromInput(files) {
    return Array.from(files, (file) => ({ path: file.webkitRelativePath || file.name, file }));
}

/**
 * Returns the files that were dropped or pasted. Call it in the event's own turn: later the browser no longer tells.
 *
 * @param {DataTransfer} transfer
 * @returns {Promise<Chosen[]>}
 */
export async function fromTransfer(transfer) {
    const pending = Array.from(transfer.items)
        .filter(({ kind }) => kind === "file")
        .map((item) => ({
            handle: "getAsFileSystemHandle" in item ? item.getAsFileSystemHandle().catch(() => null) : Promise.resolve(null),
            entry: item.webkitGetAsEntry?.(),
            file: item.getAsFile(),
        }));
    /** @type {Chosen[]} */
    const found = [];
    for (const { handle, entry, file } of pending) {
        const known = await handle;
        if (known) found.push(...(await fromHandle(known)));
        else if (entry) found.push(...(await fromEntry(entry)));
        else if (file) found.push({ path: file.name, file });
    }
    return found;
}

/**
 * Returns the files of a handle: itself, or everything below a folder.
 *
 * @param {FileSystemHandle} handle
 * @param {string} [folder]
 * @returns {Promise<Chosen[]>}
 */
export async function fromHandle(handle, folder = "") {
    const path = folder + handle.name;
    if (handle.kind === "file") {
        const own = /** @type {FileSystemFileHandle} */ (handle);
        return [{ path, file: await own.getFile(), handle: own, fresh: () => own.getFile() }];
    }
    /** @type {Chosen[]} */
    const found = [];
    for await (const child of /** @type {FileSystemDirectoryHandle} */ (handle).values()) {
        for (const file of await fromHandle(child, `${path}/`)) found.push(file);
    }
    return found;
}

/**
 * @param {FileSystemEntry} entry
 * @returns {Promise<Chosen[]>}
 */
async function fromEntry(entry) {
    if (entry.isFile) {
        const own = /** @type {FileSystemFileEntry} */ (entry);
        const fresh = () => new Promise((/** @type {(file: File) => void} */ resolve, reject) => own.file(resolve, reject));
        return [{ path: entry.fullPath.replace(/^\//, ""), file: await fresh(), fresh }];
    }
    const reader = /** @type {FileSystemDirectoryEntry} */ (entry).createReader();
    /** @type {Chosen[]} */
    const found = [];
    for (;;) {
        // A folder is listed in parts of at most 100 entries.
        const part = await new Promise((/** @type {(entries: FileSystemEntry[]) => void} */ resolve, reject) => reader.readEntries(resolve, reject));
        if (part.length === 0) return found;
        for (const child of part) found.push(...(await fromEntry(child)));
    }
}
