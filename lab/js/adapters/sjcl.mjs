// sjcl 1: JavaScript on arrays of 32-bit words. The build on npm lacks sha1, sha512 and ripemd160, which the package's sources
// contain.
import sjcl from "../build/sjcl.cjs";

const { hash, misc, codec } = sjcl;
/** The pseudorandom function that sjcl's PBKDF2 constructs for a key. */
function HmacSha1(key) {
    const hmac = new misc.hmac(key, hash.sha1);
    this.encrypt = (data) => hmac.encrypt(data);
}

export default {
    name: "sjcl",
    kind: "js",
    load: () => ({
        input: (bytes) => codec.bytes.toBits(bytes),
        hex: (words) => codec.hex.fromBits(words),
        hashes: {
            sha1: (words) => hash.sha1.hash(words),
            sha256: (words) => hash.sha256.hash(words),
            sha512: (words) => hash.sha512.hash(words),
            ripemd160: (words) => hash.ripemd160.hash(words),
        },
        pbkdf2: {
            sha1: (password, salt, iterations) => misc.pbkdf2(password, salt, iterations, 160, HmacSha1),
            sha256: (password, salt, iterations) => misc.pbkdf2(password, salt, iterations, 256),
        },
        streams: {
            sha256: () => {
                const state = new hash.sha256();
                return { update: (bytes) => state.update(codec.bytes.toBits(bytes)), digest: () => state.finalize() };
            },
        },
    }),
};
