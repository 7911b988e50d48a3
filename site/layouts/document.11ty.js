// A page of documentation: where it is from, its text, and links to its parts.
import { escape } from "../scripts/html.js";

export const data = { layout: "page.11ty.js" };

export function render({ content, source, page }) {
    const parts = page.outline ?? [];
    const contents = parts.map(({ id, title }) => `<li><a href="#${id}">${escape(title)}</a></li>`).join("");
    const aside = parts.length > 2 ? `<nav class="parts" aria-label="On this page"><p>On this page</p><ol>${contents}</ol></nav>` : "";
    return `<div class="document">
<article class="text">
${content}
<p class="source">From <code>${escape(source)}</code> in the repository.</p>
</article>
${aside}
</div>`;
}
