// The entry `mksum/ripemd160`, with a module for this family only.
export * from "./common.js";
export { ripemd160, ripemd160hex } from "./hash.js";
