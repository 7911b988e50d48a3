// blake2s-js 1: JavaScript, the one that blake2s was made of.
import Blake2s from "blake2s-js";

export default {
    name: "blake2s-js",
    kind: "js",
    load: () => ({ hashes: { blake2s: (bytes) => new Blake2s(32).update(bytes).digest() } }),
};
