// The points of the curves. The study of 2014 had 77 sizes from one byte to 10 MB and 70 iteration counts from 1 to 10,000, but
// did not list them. These are as many: every first digit of every decade, and points where the cost changes.

/** Returns every first digit of the decades from 10^from to 10^to, plus `half` a digit. */
const decades = (from, to, half = 0) =>
    Array.from({ length: to - from }, (_, decade) =>
        Array.from({ length: 9 }, (_, digit) => (digit + 1 + half) * 10 ** (from + decade)),
    ).flat();
const ascending = (numbers) => [...new Set(numbers)].toSorted((a, b) => a - b);

/** Input sizes in bytes. At 56 and 112 padding needs another block of 64 or 128 bytes; powers of two are common sizes. */
export const SIZES = ascending([
    ...decades(0, 7),
    1e7,
    16,
    32,
    55,
    56,
    64,
    111,
    112,
    128,
    1024,
    4096,
    16384,
    65536,
    1048576,
]);

/** Iterations of PBKDF2, with half digits from 10 on and some powers of two. */
export const ITERATIONS = ascending([...decades(0, 4), 1e4, ...decades(1, 4, 0.5), 16, 64, 256, 1024, 4096, 8192]);

/** Numbers of passwords whose keys are derived in one call. */
export const KEYS = [1, 2, 3, 4, 6, 8, 12, 16];

/** Numbers of files that arrive interleaved. */
export const STREAMS = [1, 4, 16, 64, 256, 1024];

/** Iterations for each of these keys. */
export const KEY_ITERATIONS = 1000;

/** The length of all interleaved files together, and of one chunk, in bytes. */
export const STREAMED = 1 << 22;
export const CHUNK = 1 << 12;

/** Lengths of files for Merkle roots, in bytes; leaves have 1 KiB. */
export const TREES = [1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22];
export const LEAF = 1 << 10;

/** Lengths of files that workers hash together, in bytes: 2^k times 4 MiB. */
export const FILES = [1 << 24, 1 << 26, 1 << 28];
