// The entry `mksum/sha2`, with a module for this family only.
export * from "./common.js";
export { sha224, sha256, sha384, sha512, sha512_224, sha512_256 } from "./hash.js";
