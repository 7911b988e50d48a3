// mksum: the Rust engine in WebAssembly, with one memory for all states.
import * as mksum from "../../../bindings/js/dist/index.js";

const HASHES = ["md5", "sha1", "sha256", "sha512", "ripemd160", "blake2s", "blake2b", "blake3"];

export default {
    name: "mksum",
    kind: "wasm",
    load: async () => {
        await mksum.load();
        const format = mksum.Spec.parse("plain:sha256:1KiB");
        return {
            hashes: Object.fromEntries(HASHES.map((name) => [name, mksum[name]])),
            pbkdf2: {
                sha1: (password, salt, iterations) => mksum.pbkdf2("sha1", password, salt, iterations, 20),
                sha256: (password, salt, iterations) => mksum.pbkdf2("sha256", password, salt, iterations, 32),
            },
            keys: {
                "mksum, in lanes": (passwords, salt, iterations) =>
                    mksum.pbkdf2Many(
                        "sha256",
                        passwords.map((password) => ({ password, salt })),
                        iterations,
                        32,
                    ),
            },
            root: (bytes) => mksum.root(format, bytes).digest,
            streams: { sha256: () => mksum.create("sha256") },
        };
    },
};
