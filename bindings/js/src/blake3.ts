// The entry `mksum/blake3`: with the module of this family alone.
export * from "./common.js";
export { blake3 } from "./hash.js";
