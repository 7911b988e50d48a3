export { type HashName, HASHES } from "./algorithms.js";
export type { Bytes } from "./bytes.js";
export { load } from "./engine.js";
export { type ErrorCode, MksumError } from "./errors.js";
export {
    blake2b,
    blake2s,
    blake3,
    create,
    createHmac,
    type Digest,
    digest,
    Hasher,
    hmac,
    keccak256,
    md5,
    ripemd160,
    sha1,
    sha224,
    sha256,
    sha384,
    sha3_224,
    sha3_256,
    sha3_384,
    sha3_512,
    sha512,
    sha512_224,
    sha512_256,
} from "./hash.js";
export { fromHex, toHex } from "./hex.js";
export type { Options, Source } from "./input.js";
export { digestOf, rootOf } from "./of.js";
export { type Damage, keep, Outboard } from "./outboard.js";
export { type Claim, Proof, type Trusted } from "./proof.js";
export { Frontier, Root, root } from "./root.js";
export { type Binding, type Family, formats, Spec } from "./spec.js";
export { Pool } from "./pool.js";
