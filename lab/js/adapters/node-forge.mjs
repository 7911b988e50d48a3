// node-forge 1: JavaScript on byte strings. Its own conversion fails at the engine's limit of arguments, so the study's is used.
// In Node it would delegate PBKDF2 to node:crypto.
import forge from "node-forge";
import { binaryString } from "../bytes.mjs";

const { md, pkcs5, util } = forge;
const digest = (name) => (string) => md[name].create().update(string).digest();
const pbkdf2 = (name, length) => (password, salt, iterations) =>
    pkcs5.pbkdf2(password, salt, iterations, length, md[name].create());

export default {
    name: "node-forge",
    kind: "js",
    load: () => {
        forge.options.usePureJavaScript = true;
        return {
            input: binaryString,
            hex: (output) => (typeof output === "string" ? util.bytesToHex(output) : output.toHex()),
            hashes: { md5: digest("md5"), sha1: digest("sha1"), sha256: digest("sha256"), sha512: digest("sha512") },
            pbkdf2: { sha1: pbkdf2("sha1", 20), sha256: pbkdf2("sha256", 32) },
            streams: {
                sha256: () => {
                    const state = md.sha256.create();
                    return { update: (bytes) => state.update(binaryString(bytes)), digest: () => state.digest() };
                },
            },
        };
    },
};
