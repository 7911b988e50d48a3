// The entry `mksum/sha1`, with a module for this family only.
export * from "./common.js";
export { sha1 } from "./hash.js";
