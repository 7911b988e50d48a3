// hash-wasm 4: WebAssembly, with an instance for each hasher. The study reuses one hasher, which is the fastest way.
import * as wasm from "hash-wasm";

const makers = {
    md5: wasm.createMD5,
    sha1: wasm.createSHA1,
    sha256: wasm.createSHA256,
    sha512: wasm.createSHA512,
    ripemd160: wasm.createRIPEMD160,
    blake2s: () => wasm.createBLAKE2s(256),
    blake2b: () => wasm.createBLAKE2b(512),
    blake3: () => wasm.createBLAKE3(256),
};

const pbkdf2 = (hash, hashLength) => (password, salt, iterations) =>
    wasm.pbkdf2({ password, salt, iterations, hashLength, hashFunction: makers[hash](), outputType: "binary" });

export default {
    name: "hash-wasm",
    kind: "wasm",
    load: async () => {
        const hashes = {};
        for (const [name, make] of Object.entries(makers)) {
            const hasher = await make();
            hashes[name] = (bytes) => hasher.init().update(bytes).digest("binary");
        }
        const spare = [];
        const shared = await wasm.createSHA256();
        return {
            hashes,
            pbkdf2: { sha1: pbkdf2("sha1", 20), sha256: pbkdf2("sha256", 32) },
            streams: {
                // One instance for each file.
                sha256: async () => {
                    const hasher = await wasm.createSHA256();
                    hasher.init();
                    return { update: (bytes) => hasher.update(bytes), digest: () => hasher.digest("binary") };
                },
                // Instances are returned to a pool and reused.
                "sha256 pooled": async () => {
                    const hasher = spare.pop() ?? (await wasm.createSHA256());
                    hasher.init();
                    return {
                        update: (bytes) => hasher.update(bytes),
                        digest: () => {
                            spare.push(hasher);
                            return hasher.digest("binary");
                        },
                    };
                },
                // One instance, which loads the file's state for each chunk.
                "sha256 saved states": () => {
                    let state = shared.init().save();
                    return {
                        update: (bytes) => {
                            state = shared.load(state).update(bytes).save();
                        },
                        digest: () => shared.load(state).digest("binary"),
                    };
                },
            },
        };
    },
};
