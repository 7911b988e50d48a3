// blakejs 1: JavaScript.
import { blake2b, blake2s } from "blakejs";

export default {
    name: "blakejs",
    kind: "js",
    load: () => ({
        hashes: { blake2b: (bytes) => blake2b(bytes, null, 64), blake2s: (bytes) => blake2s(bytes, null, 32) },
    }),
};
