// Replacements for Node's globals, as bundlers provide them.
export { Buffer } from "./buffer.mjs";
export { default as process } from "process/browser.js";
