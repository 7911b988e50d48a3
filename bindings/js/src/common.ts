// The exports that all entries share.
export { type HashName, HASHES } from "./algorithms.js";
export type { Bytes, Data } from "./bytes.js";
export { hkdf, hkdfExpand, hkdfExtract, pbkdf2, pbkdf2Many, pbkdf2Of, type Secret } from "./derive.js";
export { digestFast } from "./digest-fast.js";
export { digestOf } from "./digest-of.js";
export { load } from "./engine.js";
export { type ErrorCode, MksumError } from "./errors.js";
export { create, createHmac, type Digest, digest, Hasher, hmac } from "./hash.js";
export { fromHex, toHex } from "./hex.js";
export type { Options, Source } from "./input.js";
export { through } from "./through.js";
