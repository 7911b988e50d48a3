// WebCrypto, the engine's own library: asynchronous, and without streams, so the whole file must be in memory.
import { concatenated } from "../bytes.mjs";

const digest = (name) => (bytes) => crypto.subtle.digest(name, bytes);
const pbkdf2 = (hash, length) => async (password, salt, iterations) => {
    const key = await crypto.subtle.importKey("raw", password, "PBKDF2", false, ["deriveBits"]);
    return crypto.subtle.deriveBits({ name: "PBKDF2", hash, salt, iterations }, key, 8 * length);
};

export default {
    name: "WebCrypto",
    kind: "native",
    load: () => ({
        hashes: { sha1: digest("SHA-1"), sha256: digest("SHA-256"), sha512: digest("SHA-512") },
        pbkdf2: { sha1: pbkdf2("SHA-1", 20), sha256: pbkdf2("SHA-256", 32) },
        keys: {
            "WebCrypto, all at once": (passwords, salt, iterations) =>
                Promise.all(passwords.map((password) => pbkdf2("SHA-256", 32)(password, salt, iterations))),
        },
        streams: {
            "sha256 in memory": () => {
                const held = [];
                return {
                    update: (bytes) => void held.push(bytes.slice()),
                    digest: () => crypto.subtle.digest("SHA-256", concatenated(held)),
                };
            },
        },
    }),
};
