// HTML as strings.

const NAMED = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Returns text for HTML, in content and in quoted attributes. */
export function escape(text) {
    return String(text).replaceAll(/[&<>"]/g, (sign) => NAMED[sign]);
}

/** Returns the way from a page back to the site's root: "", "../", "../../". */
export function toRoot(output) {
    return "../".repeat(output.replace(/^\//, "").split("/").length - 1);
}
