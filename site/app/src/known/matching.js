// Which file a line of a sum file, or an outboard, is about.

/** @typedef {{ readonly path: string, readonly size: number }} Candidate */

/**
 * Returns a path with slashes and without `./` and `..` that lead nowhere.
 *
 * @param {string} path
 */
export function normal(path) {
    const slashes = path.includes("/") ? path : path.replaceAll("\\", "/");
    return slashes.split("/").filter((part) => part !== "" && part !== ".").join("/");
}

/** @param {string} path */
export function folderOf(path) {
    return path.slice(0, path.lastIndexOf("/") + 1);
}

/** Finds files by the paths that sum files have. */
export class Finder {
    /** @param {Iterable<Candidate>} files */
    constructor(files) {
        /** @private @type {Map<string, Candidate>} */
        this.byPath = new Map();
        /** @private @type {Map<string, Candidate[]>} */
        this.byName = new Map();
        for (const file of files) {
            const path = normal(file.path);
            this.byPath.set(path, file);
            const name = path.slice(path.lastIndexOf("/") + 1);
            const same = this.byName.get(name);
            if (same) same.push(file);
            else this.byName.set(name, [file]);
        }
    }

    /**
     * Returns the file that a path of a sum file means: beside the sum file, from the top, or the only one whose path ends in
     * the same way.
     *
     * @param {string} path
     * @param {string} folder The folder of the sum file, with a slash at its end, or an empty text.
     * @returns {Candidate | undefined}
     */
    find(path, folder) {
        const wanted = normal(path);
        const exact = this.byPath.get(normal(folder + wanted)) ?? this.byPath.get(wanted);
        if (exact) return exact;
        const alike = (this.byName.get(wanted.slice(wanted.lastIndexOf("/") + 1)) ?? []).filter((file) => {
            const own = normal(file.path);
            return own.endsWith(`/${wanted}`) || wanted.endsWith(`/${own}`);
        });
        return alike.length === 1 ? alike[0] : undefined;
    }
}

/**
 * Returns the file that an outboard is of: by its name without `.mkt`, or else the only one with its length, or the only one.
 *
 * @template {Candidate} C
 * @param {string} name The outboard's name.
 * @param {number} len The length of its file.
 * @param {readonly C[]} files
 * @returns {C | undefined}
 */
export function fileOfOutboard(name, len, files) {
    const base = name.slice(name.lastIndexOf("/") + 1).replace(/\.mkt$/, "");
    const named = files.filter(({ path }) => path.slice(path.lastIndexOf("/") + 1) === base);
    if (named.length > 0) return named[0];
    const long = files.filter(({ size }) => size === len);
    if (long.length > 0) return long[0];
    return files.length === 1 ? files[0] : undefined;
}
