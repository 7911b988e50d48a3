// What bundlers put in the place of Node's globals.
export { Buffer } from "./buffer.mjs";
export { default as process } from "process/browser.js";
