// blake2s-js 1: JavaScript, on which blake2s is based.
import Blake2s from "blake2s-js";

export default {
    name: "blake2s-js",
    kind: "js",
    load: () => ({ hashes: { blake2s: (bytes) => new Blake2s(32).update(bytes).digest() } }),
};
