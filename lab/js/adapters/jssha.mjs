// jssha 3: JavaScript.
import JsSha from "jssha";

const digest = (name) => (bytes) => new JsSha(name, "UINT8ARRAY").update(bytes).getHash("UINT8ARRAY");

export default {
    name: "jssha",
    kind: "js",
    load: () => ({
        hashes: { sha1: digest("SHA-1"), sha256: digest("SHA-256"), sha512: digest("SHA-512") },
        streams: {
            sha256: () => {
                const state = new JsSha("SHA-256", "UINT8ARRAY");
                return { update: (bytes) => state.update(bytes), digest: () => state.getHash("UINT8ARRAY") };
            },
        },
    }),
};
