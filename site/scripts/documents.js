// The pages of documentation: which Markdown files of the repository are pages of the site, and where.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";

/** What is published. Other Markdown files are for those who have the repository: tests' notes, languages' own pages. */
const PATTERNS = [
    "README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "docs/*.md", "spec/*.md", "lab/README.md",
    "lab/js/README.md", "bindings/*/README.md", "crates/lanes/README.md", "languages/README.md", "vectors/README.md", "site/README.md",
    "site/app/README.md",
];

const found = new Map();

/** Returns each document's source, output path, title (its first heading) and first sentence, in the order of PATTERNS. */
export function documents(repository) {
    if (found.has(repository)) return found.get(repository);
    const order = (name) => PATTERNS.findIndex((pattern) => matches(name, pattern));
    const names = execFileSync("git", ["ls-files", "--", ...PATTERNS.map((pattern) => `:(glob)${pattern}`)], {
        cwd: repository,
        encoding: "utf8",
    });
    const list = names.split("\n").filter(Boolean).map((source) => {
        const text = readFileSync(path.join(repository, source), "utf8");
        const title = plain(text.match(/^# (.*)$/m)?.[1] ?? source);
        const first = text.split(/\n{2,}/).find((part) => /^(?:[A-Z[*]|`[^`])/.test(part) && !part.startsWith("[![")) ?? "";
        const about = plain(first.replaceAll(/\s+/g, " ")).match(/^.*?[.:](?=\s|$)/)?.[0].replace(/:$/, ".") ?? "";
        return { source, output: address(source), title, about };
    });
    list.sort((a, b) => order(a.source) - order(b.source) || (a.source < b.source ? -1 : 1));
    found.set(repository, list);
    return list;
}

/** The repository's README is `readme.html`, because `index.html` is the page that hashes; others are the index of their folder. */
function address(source) {
    if (source === "README.md") return "readme.html";
    return source.replace(/README\.md$/, "index.html").replace(/\.md$/, ".html").replace(/^[A-Z]+\.html$/, (name) => name.toLowerCase());
}

function matches(name, pattern) {
    const expression = pattern.replaceAll(".", "\\.").replaceAll("*", "[^/]*");
    return new RegExp(`^${expression}$`).test(name);
}

/** Markdown of one line without its marks. */
function plain(text) {
    return text.replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll(/[`*]/g, "");
}
