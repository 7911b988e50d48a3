// The entry `mksum/sha2`: with the module of this family alone.
export * from "./common.js";
export { sha224, sha256, sha384, sha512, sha512_224, sha512_256 } from "./hash.js";
