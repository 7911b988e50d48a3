// Every subject of the study. An adapter says how its library wants to be fed, and nothing else:
//
//     name, kind            as results call it; 'js', 'wasm' or 'native'
//     absent()              why this engine has none, if it has none
//     load()                the library, ready:
//       input(bytes)          the library's own kind of input, where it does not take a Uint8Array; timed apart
//       hex(output)           its output in hexadecimal, where `hexadecimal` of bytes.mjs cannot tell
//       hashes.NAME(input)    a digest, or a promise of one
//       pbkdf2.NAME(password, salt, iterations)    a derived key as long as the digest
//       keys.SUBJECT(passwords, salt, iterations)  many keys with PBKDF2-SHA256 in one call, where there is one
//       root(bytes)           the Merkle root plain:sha256:1KiB, where there are trees
//       streams.NAME()        a state with update(bytes) and digest(); NAME is `sha256`, or `sha256 HOW`
import asSha256 from "./as-sha256.mjs";
import blake2bWasm from "./blake2b-wasm.mjs";
import blake2sJs from "./blake2s-js.mjs";
import blake2s from "./blake2s.mjs";
import blake3Wasm from "./blake3-wasm.mjs";
import blakejs from "./blakejs.mjs";
import cryptoBrowserify from "./crypto-browserify.mjs";
import cryptoJs from "./crypto-js.mjs";
import gitSha1 from "./git-sha1.mjs";
import hashJs from "./hash.js.mjs";
import hashWasm from "./hash-wasm.mjs";
import jsMd5 from "./js-md5.mjs";
import jsNacl from "./js-nacl.mjs";
import jsSha1 from "./js-sha1.mjs";
import jsSha256 from "./js-sha256.mjs";
import jsSha512 from "./js-sha512.mjs";
import jshashes from "./jshashes.mjs";
import jssha from "./jssha.mjs";
import libsodium from "./libsodium.mjs";
import mksum from "./mksum.mjs";
import noble from "./noble.mjs";
import nodeCrypto from "./node-crypto.mjs";
import nodeForge from "./node-forge.mjs";
import ripemd160 from "./ripemd160.mjs";
import rusha from "./rusha.mjs";
import shaJs from "./sha.js.mjs";
import sjcl from "./sjcl.mjs";
import stablelib from "./stablelib.mjs";
import webcrypto from "./webcrypto.mjs";

export const ADAPTERS = [
    sjcl,
    cryptoJs,
    nodeForge,
    cryptoBrowserify,
    shaJs,
    hashJs,
    jshashes,
    rusha,
    gitSha1,
    blake2s,
    blake2sJs,
    ripemd160,
    jsNacl,
    noble,
    hashWasm,
    libsodium,
    jsSha256,
    jsSha1,
    jsSha512,
    jsMd5,
    blakejs,
    asSha256,
    stablelib,
    jssha,
    blake3Wasm,
    blake2bWasm,
    nodeCrypto,
    webcrypto,
    mksum,
];
