// The entry `mksum/blake2`, with a module for this family only.
export * from "./common.js";
export { blake2b, blake2s } from "./hash.js";
