// @stablelib 2: JavaScript.
import { hash as blake2b } from "@stablelib/blake2b";
import { hash as blake2s } from "@stablelib/blake2s";
import { deriveKey } from "@stablelib/pbkdf2";
import { SHA256, hash as sha256 } from "@stablelib/sha256";
import { hash as sha512 } from "@stablelib/sha512";

export default {
    name: "@stablelib",
    kind: "js",
    load: () => ({
        hashes: {
            sha256: (bytes) => sha256(bytes),
            sha512: (bytes) => sha512(bytes),
            blake2b: (bytes) => blake2b(bytes),
            blake2s: (bytes) => blake2s(bytes),
        },
        pbkdf2: { sha256: (password, salt, iterations) => deriveKey(SHA256, password, salt, iterations, 32) },
        streams: { sha256: () => new SHA256() },
    }),
};
