import { kind } from "./bytes.js";
import { MksumError } from "./errors.js";

/** Every hash that the entry has: its name, and the engine's number, the digest's size and the block's size in bytes. */
const TABLE = {
    md5: [0, 16, 64],
    sha1: [1, 20, 64],
    sha224: [2, 28, 64],
    sha256: [3, 32, 64],
    sha384: [4, 48, 128],
    sha512: [5, 64, 128],
    "sha512-224": [6, 28, 128],
    "sha512-256": [7, 32, 128],
    blake2s: [8, 32, 64],
    blake2b: [9, 64, 128],
    blake3: [10, 32, 64],
    "sha3-224": [11, 28, 144],
    "sha3-256": [12, 32, 136],
    "sha3-384": [13, 48, 104],
    "sha3-512": [14, 64, 72],
    keccak256: [15, 32, 136],
    ripemd160: [16, 20, 64],
} as const;

/** The name of a hash. */
export type HashName = keyof typeof TABLE;

/** The names of all hashes. */
export const HASHES: readonly HashName[] = /* @__PURE__ */ Object.keys(TABLE) as HashName[];

/** A hash as the engine knows it. */
export interface Algorithm {
    readonly name: HashName;
    readonly number: number;
    /** The digest's size, in bytes. */
    readonly size: number;
    /** The block's size, in bytes. */
    readonly block: number;
}

/**
 * The hash with this name.
 *
 * @throws {MksumError} `argument` if there is none.
 */
export function algorithm(name: HashName): Algorithm {
    if (typeof name !== "string" || !Object.hasOwn(TABLE, name)) {
        const found = typeof name === "string" ? `'${name}'` : kind(name);
        throw new MksumError("argument", `unknown hash ${found}: expected one of ${HASHES.join(", ")}`);
    }
    const [number, size, block] = TABLE[name];
    return { name, number, size, block };
}
