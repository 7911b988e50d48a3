// A picture of a tree, as the tool draws it.
import { visible } from "../text/visible.js";

/**
 * Returns the picture in the text of an SVG file.
 *
 * @param {string} text
 * @param {string} label What it shows, for those who do not see it.
 */
export function treePicture(text, label) {
    // The page has colours of its own, and its policy allows no styles inside.
    const svg = new DOMParser().parseFromString(text.replace(/<style>.*<\/style>/, ""), "image/svg+xml").documentElement;
    svg.classList.add("tree");
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", visible(label));
    return svg;
}
