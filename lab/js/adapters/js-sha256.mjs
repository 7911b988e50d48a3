// js-sha256 1: JavaScript. In Node it would delegate to node:crypto.
import { sha256 } from "js-sha256";

export default {
    name: "js-sha256",
    kind: "js",
    load: () => ({
        hashes: { sha256: (bytes) => sha256.arrayBuffer(bytes) },
        streams: {
            sha256: () => {
                const state = sha256.create();
                return { update: (bytes) => state.update(bytes), digest: () => state.arrayBuffer() };
            },
        },
    }),
};
