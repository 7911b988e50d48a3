// The entry `mksum/ripemd160`: with the module of this family alone.
export * from "./common.js";
export { ripemd160 } from "./hash.js";
