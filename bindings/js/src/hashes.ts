// Everything but trees: the entry `mksum/hashes`, whose WebAssembly is smaller.
export { type HashName, HASHES } from "./algorithms.js";
export type { Bytes } from "./bytes.js";
export { hkdf, hkdfExpand, hkdfExtract, pbkdf2, pbkdf2Many, pbkdf2Of, type Secret } from "./derive.js";
export { digestOf } from "./digest-of.js";
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
