// The entry `mksum/md5`, with a module for this family only.
export * from "./common.js";
export { md5, md5hex } from "./hash.js";
