// js-md5 0.9: JavaScript. In Node it would delegate to node:crypto.
import md5 from "js-md5";

export default {
    name: "js-md5",
    kind: "js",
    load: () => ({ hashes: { md5: (bytes) => md5.arrayBuffer(bytes) } }),
};
