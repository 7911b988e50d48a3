// ripemd160 2: JavaScript.
import Ripemd160 from "ripemd160";

export default {
    name: "ripemd160",
    kind: "js",
    load: () => ({ hashes: { ripemd160: (bytes) => new Ripemd160().update(bytes).digest() } }),
};
