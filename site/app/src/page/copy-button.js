import { announce } from "./announce.js";
import { button } from "./dom.js";

/**
 * Returns a button that copies a text.
 *
 * @param {string} text
 * @param {string} what What is copied, for screen readers.
 */
export function copyButton(text, what) {
    const own = button("Copy", async () => {
        try {
            await navigator.clipboard.writeText(text);
            own.textContent = "Copied";
            announce(`${what} copied`);
        } catch {
            own.textContent = "Select the text to copy it";
        }
        setTimeout(() => (own.textContent = "Copy"), 2000);
    }, { class: "small", "aria-label": `Copy ${what}` });
    return own;
}
