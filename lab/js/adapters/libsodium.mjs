// libsodium-wrappers-sumo 0.8: WebAssembly.
import sodium from "libsodium-wrappers-sumo";

export default {
    name: "libsodium-wrappers-sumo",
    kind: "wasm",
    load: async () => {
        await sodium.ready;
        return {
            hashes: {
                sha256: (bytes) => sodium.crypto_hash_sha256(bytes),
                sha512: (bytes) => sodium.crypto_hash_sha512(bytes),
                blake2b: (bytes) => sodium.crypto_generichash(64, bytes),
            },
            streams: {
                sha256: () => {
                    const state = sodium.crypto_hash_sha256_init();
                    return {
                        update: (bytes) => sodium.crypto_hash_sha256_update(state, bytes),
                        digest: () => sodium.crypto_hash_sha256_final(state),
                    };
                },
            },
        };
    },
};
