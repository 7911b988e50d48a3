// The entry `mksum/blake2`, with a module for this family only.
export * from "./common.js";
export { blake2b, blake2bhex, blake2s, blake2shex } from "./hash.js";
