// The entry `mksum/sha3`, with a module for this family only.
export * from "./common.js";
export { keccak256, sha3_224, sha3_256, sha3_384, sha3_512 } from "./hash.js";
