// The part sizes that a multipart upload may have had.

const MIB = 1 << 20;

/** The defaults of the AWS tools, of s3cmd, rclone and of the SDKs, in MiB. */
const COMMON = [8, 5, 16, 15, 64, 10, 32, 50, 100, 128];

/** The number of sizes that are tried, at most. */
const MOST = 16;

/**
 * Returns the part sizes that divide `len` bytes into `parts` parts, the likeliest first.
 *
 * @param {number} len
 * @param {number} parts
 * @returns {number[]}
 */
export function partSizes(len, parts) {
    if (parts < 1 || (parts > 1 && len < parts)) return [];
    const low = Math.max(1, Math.ceil(len / parts));
    const high = parts === 1 ? low : Math.floor((len - 1) / (parts - 1));
    const whole = { first: Math.ceil(low / MIB), last: Math.floor(high / MIB) };
    const mebibytes = Array.from({ length: Math.max(0, Math.min(MOST, whole.last - whole.first + 1)) }, (_, at) => whole.first + at);
    const candidates = [
        ...COMMON.filter((mib) => whole.first <= mib && mib <= whole.last).map((mib) => mib * MIB),
        ...Array.from({ length: 41 }, (_, power) => 2 ** power),
        ...mebibytes.map((mib) => mib * MIB),
        low,
    ];
    const fits = candidates.filter((size) => low <= size && size <= Math.max(low, high) && Math.max(1, Math.ceil(len / size)) === parts);
    return [...new Set(fits)].slice(0, MOST);
}
