// @noble/hashes 2: JavaScript.
import { blake2b, blake2s } from "@noble/hashes/blake2.js";
import { blake3 } from "@noble/hashes/blake3.js";
import { md5, ripemd160, sha1 } from "@noble/hashes/legacy.js";
import { pbkdf2 } from "@noble/hashes/pbkdf2.js";
import { sha256, sha512 } from "@noble/hashes/sha2.js";

const functions = { md5, sha1, sha256, sha512, ripemd160, blake2s, blake2b, blake3 };

export default {
    name: "@noble/hashes",
    kind: "js",
    load: () => ({
        hashes: Object.fromEntries(Object.entries(functions).map(([name, hash]) => [name, (bytes) => hash(bytes)])),
        pbkdf2: {
            sha1: (password, salt, c) => pbkdf2(sha1, password, salt, { c, dkLen: 20 }),
            sha256: (password, salt, c) => pbkdf2(sha256, password, salt, { c, dkLen: 32 }),
        },
        streams: { sha256: () => sha256.create() },
    }),
};
