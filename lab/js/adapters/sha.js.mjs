// sha.js 2: JavaScript.
import sha from "sha.js";

const digest = (name) => (bytes) => sha(name).update(bytes).digest();

export default {
    name: "sha.js",
    kind: "js",
    load: () => ({
        hashes: { sha1: digest("sha1"), sha256: digest("sha256"), sha512: digest("sha512") },
        streams: { sha256: () => sha("sha256") },
    }),
};
