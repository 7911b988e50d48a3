// git-sha1 0.1: JavaScript. In Node it would delegate to node:crypto.
import sha1 from "git-sha1";

export default {
    name: "git-sha1",
    kind: "js",
    load: () => ({ hashes: { sha1: (bytes) => sha1(bytes) } }),
};
