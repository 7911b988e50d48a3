// Writes a sum file, as spec/sumfile.md defines it.

/** The names of plain sums on tagged lines: spec/sums.md. */
const TAGS = /** @type {Record<string, string>} */ ({
    md5: "MD5", sha1: "SHA1", sha224: "SHA224", sha256: "SHA256", sha384: "SHA384", sha512: "SHA512", "sha512-256": "SHA512/256",
    "sha3-224": "SHA3-224", "sha3-256": "SHA3-256", "sha3-384": "SHA3-384", "sha3-512": "SHA3-512", blake2b: "BLAKE2b", blake2s: "BLAKE2s",
    sm3: "SM3", ripemd160: "RIPEMD160", crc32: "CRC32", crc32c: "CRC32C", crc64nvme: "CRC64NVME",
});

/**
 * Returns a tagged line, which names its format.
 *
 * @param {string} format
 * @param {string} path
 * @param {string} root
 */
export function taggedLine(format, path, root) {
    const escaped = path.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll("\r", "\\r");
    return `${escaped === path ? "" : "\\"}${TAGS[format] ?? format} (${escaped}) = ${root}\n`;
}

/**
 * Returns the sum file of all files that have digests, and the number of the others.
 *
 * @param {Iterable<{ path: string, roots: ReadonlyMap<string, string>, error: string | undefined }>} files
 */
export function sumFile(files) {
    let [text, left] = ["", 0];
    for (const { path, roots, error } of files) {
        if (error || roots.size === 0) left++;
        // No program reads lines of Keccak-256.
        else for (const [format, root] of roots) if (format !== "keccak256") text += taggedLine(format, path, root);
    }
    return { text, left };
}
