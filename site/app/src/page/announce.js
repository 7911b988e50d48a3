// Tells screen readers what happened. Texts that come together are read together.
import { visible } from "../text/visible.js";
import { byId } from "./dom.js";

/** @type {string[]} */
let waiting = [];

/** @param {string} text */
export function announce(text) {
    if (waiting.push(text) > 1) return;
    setTimeout(() => {
        byId("status").textContent = visible(waiting.slice(-3).join(" "));
        waiting = [];
    }, 150);
}
