// Which formats print sums of which form: from the table of spec/README.md and the roots in vectors/rows.
import { readFileSync } from "node:fs";
import path from "node:path";

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/**
 * Returns the forms of sums, the shortest first: `{bytes, parts, base64, formats}`. `parts` says that the number of parts follows,
 * as in `…-5`. Each format has `name`, `page`, `about`, `same` (Markdown) and its `hashes` that print sums of this form.
 */
export function forms(repository) {
    const found = new Map();
    for (const format of listed(repository)) {
        const rows = readFileSync(path.join(repository, "vectors/rows", `${format.name}.tsv`), "utf8").split("\n");
        for (const row of rows) {
            const [spec, , , root] = row.split("\t");
            if (!root || root === "-" || row.startsWith("#")) continue;
            const form = formOf(root);
            const key = JSON.stringify(form);
            if (!found.has(key)) found.set(key, { ...form, formats: new Map() });
            const { formats } = found.get(key);
            if (!formats.has(format.name)) formats.set(format.name, { ...format, hashes: new Set() });
            const hash = spec.split(":")[1];
            if (hash) formats.get(format.name).hashes.add(hash);
        }
    }
    const plain = [...found.values()].map((form) => ({
        ...form,
        formats: [...form.formats.values()].map((format) => ({ ...format, hashes: [...format.hashes] })),
    }));
    return plain.toSorted((a, b) => a.parts - b.parts || a.bytes - b.bytes);
}

/** The rows of the table of formats: ``| [`rfc6962`](rfc6962.md) | what | same output as |``. */
function listed(repository) {
    const text = readFileSync(path.join(repository, "spec/README.md"), "utf8");
    const rows = text.matchAll(/^\| \[`([a-z0-9-]+)`\]\(([a-z0-9-]+)\.md\) \| (.*?) \| (.*?) \|$/gm);
    return [...rows].map(([, name, page, about, same]) => ({ name, page: `spec/${page}.html`, about, same }));
}

/** The form of a root: its size in bytes, whether it is in base64, and whether the number of parts follows. */
function formOf(root) {
    // An identifier of Software Heritage has a word before its digits, and so has a hash of Nix.
    const [sum, parts] = root.replace(/^(?:swh:1:[a-z]{3}:|sha256-)/, "").split(/-(?=\d+$)/);
    if (/^(?:[0-9a-f]{2})+$/.test(sum)) return { bytes: sum.length / 2, parts: parts !== undefined, base64: false };
    if (BASE64.test(sum)) return { bytes: Buffer.from(sum, "base64").length, parts: parts !== undefined, base64: true };
    throw new Error(`formats.js: a root of an unknown form: ${root}`);
}
