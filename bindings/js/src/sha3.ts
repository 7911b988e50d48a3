// The entry `mksum/sha3`, with a module for this family only.
export * from "./common.js";
export { keccak256, keccak256hex, sha3_224, sha3_224hex, sha3_256, sha3_256hex, sha3_384, sha3_384hex, sha3_512, sha3_512hex } from "./hash.js";
