// crypto-js 4: JavaScript on its own WordArray.
import CryptoJS from "crypto-js";

const { lib, algo } = CryptoJS;

export default {
    name: "crypto-js",
    kind: "js",
    load: () => ({
        input: (bytes) => lib.WordArray.create(bytes),
        hex: (words) => words.toString(),
        hashes: {
            md5: (words) => CryptoJS.MD5(words),
            sha1: (words) => CryptoJS.SHA1(words),
            sha256: (words) => CryptoJS.SHA256(words),
            sha512: (words) => CryptoJS.SHA512(words),
            ripemd160: (words) => CryptoJS.RIPEMD160(words),
        },
        pbkdf2: {
            sha1: (password, salt, iterations) =>
                CryptoJS.PBKDF2(password, salt, { keySize: 5, iterations, hasher: algo.SHA1 }),
            sha256: (password, salt, iterations) =>
                CryptoJS.PBKDF2(password, salt, { keySize: 8, iterations, hasher: algo.SHA256 }),
        },
        streams: {
            sha256: () => {
                const state = algo.SHA256.create();
                return { update: (bytes) => state.update(lib.WordArray.create(bytes)), digest: () => state.finalize() };
            },
        },
    }),
};
