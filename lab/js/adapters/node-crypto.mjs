// node:crypto, the engine's own library: OpenSSL in Node, and the implementations of Deno and Bun.
export const NAMES = {
    md5: "md5",
    sha1: "sha1",
    sha256: "sha256",
    sha512: "sha512",
    ripemd160: "ripemd160",
    blake2s: "blake2s256",
    blake2b: "blake2b512",
};

export default {
    name: "node:crypto",
    kind: "native",
    absent: () => (globalThis.process?.versions ? undefined : "browsers have none"),
    load: async () => {
        const crypto = await import("node:crypto");
        const digest = (name) =>
            crypto.hash
                ? (bytes) => crypto.hash(name, bytes, "buffer")
                : (bytes) => crypto.createHash(name).update(bytes).digest();
        return {
            hashes: Object.fromEntries(Object.entries(NAMES).map(([hash, name]) => [hash, digest(name)])),
            pbkdf2: {
                sha1: (password, salt, iterations) => crypto.pbkdf2Sync(password, salt, iterations, 20, "sha1"),
                sha256: (password, salt, iterations) => crypto.pbkdf2Sync(password, salt, iterations, 32, "sha256"),
            },
            keys: {
                // Each key is derived on a thread of the engine's pool.
                "node:crypto, in threads": (passwords, salt, iterations) =>
                    Promise.all(
                        passwords.map(
                            (password) =>
                                new Promise((done, failed) =>
                                    crypto.pbkdf2(password, salt, iterations, 32, "sha256", (error, key) =>
                                        error ? failed(error) : done(key),
                                    ),
                                ),
                        ),
                    ),
            },
            streams: { sha256: () => crypto.createHash("sha256") },
        };
    },
};
