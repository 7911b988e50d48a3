// The entry `mksum/sha3`: with the module of this family alone.
export * from "./common.js";
export { keccak256, sha3_224, sha3_256, sha3_384, sha3_512 } from "./hash.js";
