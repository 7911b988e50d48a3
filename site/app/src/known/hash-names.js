// The names of hashes in sum files and in the names of sum files: spec/sumfile.md, spec/sums.md.

/**
 * The plain sums: format, hex digits, and the words that name it in the name of a sum file. Of those with as many digits, the
 * most usual is first.
 *
 * @type {readonly (readonly [format: string, digits: number, words: readonly string[]])[]}
 */
const SUMS = [
    ["crc32", 8, ["crc32", "sfv"]],
    ["crc32c", 8, ["crc32c"]],
    ["crc64nvme", 16, ["crc64nvme"]],
    ["md5", 32, ["md5"]],
    ["sha1", 40, ["sha1"]],
    ["sha224", 56, ["sha224", "sha2"]],
    ["sha3-224", 56, ["sha3-224", "sha3_224", "sha3"]],
    ["sha256", 64, ["sha256", "sha2", "shasums256", "shasum256"]],
    ["blake3", 64, ["blake3", "b3"]],
    ["sha3-256", 64, ["sha3-256", "sha3_256", "sha3"]],
    ["blake2s", 64, ["blake2s", "blake2s256", "blake2"]],
    ["sm3", 64, ["sm3"]],
    ["sha512-256", 64, ["sha512-256", "sha512_256", "sha512256", "sha512t256"]],
    ["sha384", 96, ["sha384", "sha2"]],
    ["sha3-384", 96, ["sha3-384", "sha3_384", "sha3"]],
    ["sha512", 128, ["sha512", "sha2", "shasums512", "shasum512"]],
    ["blake2b", 128, ["blake2b", "blake2b512", "blake2", "b2"]],
    ["sha3-512", 128, ["sha3-512", "sha3_512", "sha3"]],
];

/**
 * Those for which nothing is taken that does not name them, unless the file has it.
 *
 * @type {typeof SUMS}
 */
const RARE = [
    ["ripemd160", 40, ["ripemd160", "rmd160"]],
    ["keccak256", 64, ["keccak256", "keccak-256", "keccak"]],
];

const ALL = [...SUMS, ...RARE];

/**
 * Returns the plain sums with so many hex digits, the most usual first.
 *
 * @param {number} digits
 */
export function fitting(digits) {
    return ALL.filter((row) => row[1] === digits).map(([format]) => format);
}

/**
 * Returns whether a word could be a plain sum in hex.
 *
 * @param {string} word
 */
export function isSum(word) {
    return /^[0-9a-f]+$/i.test(word) && fitting(word.length).length > 0;
}

/**
 * Returns the number of hex digits of a plain sum, or `undefined` if the format is no plain sum.
 *
 * @param {string} format
 */
export function digitsOf(format) {
    return ALL.find(([own]) => own === format)?.[1];
}

/** @param {string} name @param {string} word */
function hasWord(name, word) {
    for (let at = name.indexOf(word); at >= 0; at = name.indexOf(word, at + 1)) {
        const after = name.slice(at + word.length).replace(/^sums?/, "");
        if (!/[\p{L}\p{N}]$/u.test(name.slice(0, at)) && !/^[\p{L}\p{N}]/u.test(after)) return true;
    }
    return false;
}

/**
 * Returns the format of an untagged sum, and whether others fit as well. The name of the sum file decides, or else the most
 * usual one is taken.
 *
 * @param {number} digits
 * @param {string} name The name of the sum file, or an empty text.
 * @returns {{ format: string, guessed: boolean } | undefined}
 */
export function chosen(digits, name) {
    const all = ALL.filter((row) => row[1] === digits);
    const lower = name.toLowerCase();
    const named = all.filter(([, , words]) => words.some((word) => hasWord(lower, word)));
    const [first] = named.length > 0 ? named : all;
    return first && { format: first[0], guessed: named.length > 0 ? named.length > 1 : all.length > 1 };
}

/**
 * Returns the file that a sum file with this name is about: `x.iso` for `x.iso.sha256`.
 *
 * @param {string} name
 */
export function fileOf(name) {
    const at = name.lastIndexOf(".");
    const end = name.slice(at + 1).toLowerCase().replace(/sum$/, "");
    return at > 0 && ALL.some(([, , words]) => words.includes(end)) ? name.slice(0, at) : undefined;
}

/**
 * Returns the plain sum with so many hex digits that a word names: its own name, or that of a program such as `b3sum`.
 *
 * @param {string} word
 * @param {number} digits
 */
export function namedBy(word, digits) {
    const program = word.toLowerCase().replace(/sum$/, "");
    const own = tagged(word);
    const found = ALL.filter((row) => row[1] === digits && (row[0] === own || row[2].includes(program)));
    return found.length === 1 ? found[0]?.[0] : undefined;
}

/** @param {string} tag */
function plainTag(tag) {
    return tag.toLowerCase().replaceAll("sha2-", "sha").replaceAll("sha512t", "sha512").replace(/[-_/]/g, "");
}

/**
 * Returns the plain sum that other programs call so: `SHA512/256`, `SHA2-256`, `BLAKE2b-512`.
 *
 * @param {string} tag
 */
export function tagged(tag) {
    const own = plainTag(tag);
    const row = ALL.find(([format, digits]) => {
        const name = plainTag(format);
        return name === own || (name.startsWith("blake2") && `${name}${4 * digits}` === own);
    });
    return row?.[0];
}
