// All libraries of the study, each loaded only by the processes that measure it. An adapter only defines how its library is called:
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
export const ADAPTERS = {
    sjcl: () => import("./sjcl.mjs"),
    "crypto-js": () => import("./crypto-js.mjs"),
    "node-forge": () => import("./node-forge.mjs"),
    "crypto-browserify": () => import("./crypto-browserify.mjs"),
    "sha.js": () => import("./sha.js.mjs"),
    "hash.js": () => import("./hash.js.mjs"),
    jshashes: () => import("./jshashes.mjs"),
    rusha: () => import("./rusha.mjs"),
    "git-sha1": () => import("./git-sha1.mjs"),
    blake2s: () => import("./blake2s.mjs"),
    "blake2s-js": () => import("./blake2s-js.mjs"),
    ripemd160: () => import("./ripemd160.mjs"),
    "js-nacl": () => import("./js-nacl.mjs"),
    "@noble/hashes": () => import("./noble.mjs"),
    "hash-wasm": () => import("./hash-wasm.mjs"),
    "libsodium-wrappers-sumo": () => import("./libsodium.mjs"),
    "js-sha256": () => import("./js-sha256.mjs"),
    "js-sha1": () => import("./js-sha1.mjs"),
    "js-sha512": () => import("./js-sha512.mjs"),
    "js-md5": () => import("./js-md5.mjs"),
    blakejs: () => import("./blakejs.mjs"),
    "@chainsafe/as-sha256": () => import("./as-sha256.mjs"),
    "@stablelib": () => import("./stablelib.mjs"),
    jssha: () => import("./jssha.mjs"),
    "blake3-wasm": () => import("./blake3-wasm.mjs"),
    "blake2b-wasm": () => import("./blake2b-wasm.mjs"),
    "node:crypto": () => import("./node-crypto.mjs"),
    WebCrypto: () => import("./webcrypto.mjs"),
    mksum: () => import("./mksum.mjs"),
};
