// The entry `mksum/sha1`: with the module of this family alone.
export * from "./common.js";
export { sha1 } from "./hash.js";
