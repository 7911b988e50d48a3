// The entry `mksum/blake3`, with a module for this family only.
export * from "./common.js";
export { blake3, blake3hex } from "./hash.js";
