// js-sha1 0.7: JavaScript. In Node it would delegate to node:crypto.
import sha1 from "js-sha1";

export default {
    name: "js-sha1",
    kind: "js",
    load: () => ({ hashes: { sha1: (bytes) => sha1.arrayBuffer(bytes) } }),
};
