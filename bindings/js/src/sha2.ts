// The entry `mksum/sha2`, with a module for this family only.
export * from "./common.js";
export { sha224, sha224hex, sha256, sha256hex, sha384, sha384hex, sha512, sha512_224, sha512_224hex, sha512_256, sha512_256hex, sha512hex } from "./hash.js";
