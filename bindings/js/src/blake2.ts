// The entry `mksum/blake2`: with the module of this family alone.
export * from "./common.js";
export { blake2b, blake2s } from "./hash.js";
