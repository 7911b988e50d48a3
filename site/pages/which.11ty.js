// Which sum is this? All formats by the form of their sums.
import { escape } from "../scripts/html.js";
import { forms } from "../scripts/formats.js";
import { repository } from "../scripts/output.js";

export const data = {
    layout: "page.11ty.js",
    permalink: "which-sum.html",
    title: "Which sum is this?",
    about: "The length and the form of a checksum or a root tell which formats it can have.",
    section: "which",
};

export function render() {
    const groups = forms(repository);
    return `<h1>Which sum is this?</h1>
<p class="lead">The length and the form of a checksum tell which formats it can have. To see those of one checksum,
<a href="index.html">paste it on the first page</a> or run <code>mksum which SUM</code>. Only hashing the file tells which one it is: add the
file to that page, or run <code>mksum which SUM FILE</code>.</p>
${groups.map((group) => section(group)).join("\n")}`;
}

function section({ bytes, parts, base64, formats }) {
    const name = described({ bytes, parts, base64 });
    const id = [base64 ? "base64" : "hex", bytes, ...(parts ? ["parts"] : [])].join("-");
    const rows = formats.map(
        ({ name, page, hashes, about, same }) =>
            `<tr><th scope="row"><a href="${page}"><code>${escape(name)}</code></a></th>` +
            `<td>${hashes.map((hash) => `<code>${escape(hash)}</code>`).join(" ")}</td><td>${marks(about)}</td><td>${marks(same)}</td></tr>`,
    );
    return `<section class="form" aria-labelledby="${id}">
<h2 id="${id}">${escape(name)}</h2>
<div class="scroll" role="group" tabindex="0" aria-label="Table: ${escape(name)}"><table>
<thead><tr><th scope="col">format</th><th scope="col">with the hash</th><th scope="col">root of</th><th scope="col">same output as</th></tr></thead>
<tbody>${rows.join("\n")}</tbody></table></div>
</section>`;
}

/** 32 bytes are 64 hex digits. Sums of parts end with their number. */
function described({ bytes, parts, base64 }) {
    const digits = base64 ? `${4 * Math.ceil(bytes / 3)} characters of base64` : `${2 * bytes} hex digits`;
    return parts ? `${digits}, a hyphen and the number of parts` : `${digits} (${bytes} bytes)`;
}

/** Markdown's code marks become code. */
const marks = (text) => escape(text).replaceAll(/`([^`]+)`/g, "<code>$1</code>");
