// js-nacl 1: libsodium compiled to JavaScript. Its memory size must be set at the start.
import factory from "js-nacl";

export default {
    name: "js-nacl",
    kind: "js",
    load: async () => {
        const nacl = await new Promise((ready) => factory.instantiate(ready, { requested_total_memory: 1 << 26 }));
        return {
            hashes: { sha256: (bytes) => nacl.crypto_hash_sha256(bytes), sha512: (bytes) => nacl.crypto_hash(bytes) },
        };
    },
};
