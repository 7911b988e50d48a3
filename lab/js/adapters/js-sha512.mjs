// js-sha512 0.9: JavaScript.
import { sha512 } from "js-sha512";

export default {
    name: "js-sha512",
    kind: "js",
    load: () => ({ hashes: { sha512: (bytes) => sha512.arrayBuffer(bytes) } }),
};
