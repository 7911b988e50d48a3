// rusha 0.8: asm.js.
import Rusha from "rusha";

export default {
    name: "rusha",
    kind: "js",
    load: () => ({
        hashes: { sha1: (bytes) => Rusha.createHash().update(bytes).digest() },
    }),
};
