// crypto-browserify 3: the bundlers' replacement for Node's crypto. In Node it would delegate to node:crypto.
import { createHash, pbkdf2Sync } from "crypto-browserify";

const digest = (name) => (bytes) => createHash(name).update(bytes).digest();

export default {
    name: "crypto-browserify",
    kind: "js",
    load: () => ({
        hashes: {
            md5: digest("md5"),
            sha1: digest("sha1"),
            sha256: digest("sha256"),
            sha512: digest("sha512"),
            ripemd160: digest("rmd160"),
        },
        pbkdf2: {
            sha1: (password, salt, iterations) => pbkdf2Sync(password, salt, iterations, 20, "sha1"),
            sha256: (password, salt, iterations) => pbkdf2Sync(password, salt, iterations, 32, "sha256"),
        },
        streams: { sha256: () => createHash("sha256") },
    }),
};
