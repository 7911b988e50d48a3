// The names of formats as people write them.

/** Returns the name of a format as people write it. @param {string} format */
export function shown(format) {
    const names = /** @type {Record<string, string>} */ ({
        md5: "MD5", sha1: "SHA-1", sha224: "SHA-224", sha256: "SHA-256", sha384: "SHA-384", sha512: "SHA-512", "sha512-256": "SHA-512/256",
        "sha3-224": "SHA3-224", "sha3-256": "SHA3-256", "sha3-384": "SHA3-384", "sha3-512": "SHA3-512", blake2b: "BLAKE2b",
        blake2s: "BLAKE2s", sm3: "SM3", ripemd160: "RIPEMD160", crc32: "CRC32", crc32c: "CRC32C", crc64nvme: "CRC64NVME", xxh32: "XXH32",
        xxh64: "XXH64", xxh3: "XXH3", xxh128: "XXH128", quickxor: "QUICKXOR", blake3: "BLAKE3",
    });
    const etag = /^s3:md5:(.+)$/.exec(format);
    if (etag) return `S3 ETag with parts of ${etag[1]}`;
    const sum = /^s3:(\w+):(.+)$/.exec(format);
    if (sum?.[1]) return `S3 ${names[sum[1]] ?? sum[1]} checksum with parts of ${sum[2]}`;
    return names[format] ?? (format === "keccak256" ? "Keccak-256" : format);
}
