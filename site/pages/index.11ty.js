// The first page: the application.
import { fragment } from "../scripts/app.js";

export const data = {
    layout: "page.11ty.js",
    permalink: "index.html",
    title: "mksum: hash, verify and repair files in the browser",
    about: "Hash, verify and repair files in the browser, in any published tree format. Files never leave your machine.",
    section: "app",
    script: ["app.js"],
    styles: ["app.css"],
};

export const render = () => fragment();
