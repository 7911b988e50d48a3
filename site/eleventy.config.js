// The generator's settings: which files of the repository are pages, and how Markdown becomes HTML.
//
// Eleventy makes pages of templates and Markdown; it is the static generator with the fewest parts that can take files from anywhere.
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { every as everyFigure } from "./figures/every.js";
import figurePage from "./layouts/figure.js";
import { renderer } from "./scripts/markdown.js";
import { documents } from "./scripts/documents.js";
import { repository } from "./scripts/output.js";

export default function (config) {
    // Markdown is Markdown alone: braces in a page of the documentation are not a template.
    const markdown = renderer(repository);
    config.setLibrary("md", markdown);
    // Eleventy turns indented code off: formulas are that.
    config.amendLibrary("md", (library) => library.enable("code"));
    for (const { source, output, title, about } of documents(repository)) {
        const text = readFileSync(path.join(repository, source), "utf8");
        config.addTemplate(`documents/${source}`, text, {
            layout: "document.11ty.js",
            permalink: output,
            source,
            title,
            about,
            // Front matter is a YAML block between lines of dashes, which these files do not have.
            templateEngineOverride: "md",
        });
    }
    for (const figure of everyFigure(repository)) {
        config.addTemplate(`figures/${figure.output.replace(/\.html$/, ".11ty.js")}`, { render: () => figurePage(figure) }, {
            layout: "page.11ty.js",
            permalink: figure.output,
            title: figure.page,
            about: figure.about,
            script: "plot.js",
            section: "figures",
        });
    }
    for (const asset of markdown.assets(documents(repository))) {
        if (existsSync(path.join(repository, asset))) config.addPassthroughCopy({ [path.join("..", asset)]: asset });
    }
    return {
        dir: { input: "pages", layouts: "../layouts", includes: "../layouts" },
        markdownTemplateEngine: false,
        htmlTemplateEngine: false,
        templateFormats: ["md", "11ty.js"],
    };
}
