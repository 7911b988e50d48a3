// The entry `mksum/hashes`: everything except trees, with a smaller WebAssembly module.
export * from "./common.js";
export {
    blake2b,
    blake2s,
    blake3,
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
