// The entry `mksum/sha1`, with a module for this family only.
export * from "./common.js";
export { sha1, sha1hex } from "./hash.js";
