// The entry `mksum/md5`: with the module of this family alone.
export * from "./common.js";
export { md5 } from "./hash.js";
