// All subjects of the study. An adapter only defines how its library is called:
//
//     name, kind            the name in results; 'js', 'wasm' or 'native'
//     absent()              the reason why this engine does not have the library, or undefined
//     load()                returns the initialised library:
//       input(bytes)          converts to the library's own input type, if it does not accept a Uint8Array; timed separately
//       hex(output)           converts its output to hexadecimal, if `hexadecimal` of bytes.mjs cannot
//       hashes.NAME(input)    returns a digest, or a promise of one
//       pbkdf2.NAME(password, salt, iterations)    derives a key as long as the digest
//       keys.SUBJECT(passwords, salt, iterations)  derives many keys with PBKDF2-SHA256 in one call, if the library can
//       root(bytes)           returns the Merkle root plain:sha256:1KiB, if the library has trees
//       streams.NAME()        returns a state with update(bytes) and digest(); NAME is `sha256`, or `sha256 METHOD`
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
