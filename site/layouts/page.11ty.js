// The frame of every page: head, navigation, content, foot.
import { escape, toRoot } from "../scripts/html.js";
import { POLICY } from "../scripts/policy.js";

const SECTIONS = [
    ["index.html", "Hash and verify", "app"],
    ["which-sum.html", "Which sum is this?", "which"],
    ["spec/index.html", "Formats", "spec"],
    ["docs/index.html", "Documentation", "docs"],
    ["figures/index.html", "Measurements", "figures"],
];

export default function ({ content, title, about, page, section, script, styles = [], appPolicy }) {
    const output = page.url.endsWith("/") ? `${page.url}index.html` : page.url;
    const root = toRoot(output);
    const here = section ?? (output.startsWith("/spec/") ? "spec" : "docs");
    const links = SECTIONS.map(([to, label, name]) => {
        const current = output === `/${to}` ? ' aria-current="page"' : here === name ? ' aria-current="true"' : "";
        return `<li><a href="${root}${to}"${current}>${label}</a></li>`;
    });
    const policy = section === "app" ? appPolicy : POLICY;
    const scripts = ["site.js", ...[script ?? []].flat()];
    return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>${escape(title === "mksum" || section === "app" ? title : `${title} – mksum`)}</title>
<meta name="description" content="${escape(about ?? "")}">
<link rel="icon" href="${root}icon.svg" type="image/svg+xml">
${[...styles, "site.css"].map((name) => `<link rel="stylesheet" href="${root}${name}">`).join("\n")}
${scripts.map((name) => `<script type="module" src="${root}${name}"></script>`).join("\n")}
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header class="top">
<a class="name" href="${root}index.html">mksum</a>
<nav aria-label="Site"><ul>${links.join("")}</ul></nav>
</header>
<main id="content" tabindex="-1">
${content}
</main>
<footer>
<p>mksum computes Merkle-tree hashes of files of any size, in any published tree format. MIT or Apache-2.0.</p>
<p>This site loads nothing from other servers and works offline after the first visit.</p>
</footer>
</body>
</html>
`;
}
