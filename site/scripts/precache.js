// Writes the service worker: the list of the site's files with their digests, and what it does with them.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

const WORKER = "service-worker.js";

/** Writes the service worker of the site in `folder` from the text `worker`. */
export function precache(folder, worker) {
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const names = entries.map((entry) => path.relative(folder, path.join(entry.parentPath ?? entry.path, entry.name)).replaceAll(path.sep, "/"));
    const files = {};
    for (const name of names.toSorted()) {
        if (name === WORKER) continue;
        files[name] = `sha256-${createHash("sha256").update(readFileSync(path.join(folder, name))).digest("base64")}`;
    }
    const list = JSON.stringify(files, null, 1);
    const version = createHash("sha256").update(list + worker).digest("hex").slice(0, 16);
    writeFileSync(path.join(folder, WORKER), `const VERSION = "${version}";\nconst FILES = ${list};\n${worker}`);
}
