// hash.js 1: JavaScript; its output is an array of numbers.
import hash from "hash.js";

const digest = (name) => (bytes) => hash[name]().update(bytes).digest();

export default {
    name: "hash.js",
    kind: "js",
    load: () => ({
        hashes: {
            sha1: digest("sha1"),
            sha256: digest("sha256"),
            sha512: digest("sha512"),
            ripemd160: digest("ripemd160"),
        },
        streams: { sha256: () => hash.sha256() },
    }),
};
