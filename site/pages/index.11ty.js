// The first page: the application where it is built, and one sentence about the project where it is not.
import { app, fragment } from "../scripts/app.js";

export const data = {
    layout: "page.11ty.js",
    permalink: "index.html",
    title: app ? "mksum: hash, verify and repair files in the browser" : "mksum: Merkle-tree hashes of files",
    about: "Hash, verify and repair files in the browser, in any published tree format. Files never leave your machine.",
    section: "app",
    script: app ? ["app.js"] : [],
    styles: app ? ["app.css"] : [],
};

export function render() {
    if (app) return fragment();
    return `<div class="text">
<h1>mksum</h1>
<p>mksum computes Merkle-tree hashes of files of any size, in any published tree format, on all cores.</p>
<ul>
<li><a href="readme.html">What it does, and how to install it</a></li>
<li><a href="which-sum.html">Which sum is this?</a> finds the formats that a sum can have.</li>
<li><a href="figures/index.html">Measurements</a> of mksum beside other programs and libraries.</li>
</ul>
</div>`;
}
