// jshashes 1: JavaScript on byte strings, with hexadecimal output.
import Hashes from "jshashes";
import { binaryString } from "../bytes.mjs";

const digest = (name) => {
    const hasher = new Hashes[name]({ utf8: false });
    return (string) => hasher.hex(string);
};

export default {
    name: "jshashes",
    kind: "js",
    load: () => ({
        input: binaryString,
        hashes: {
            md5: digest("MD5"),
            sha1: digest("SHA1"),
            sha256: digest("SHA256"),
            sha512: digest("SHA512"),
            ripemd160: digest("RMD160"),
        },
    }),
};
