// The points of the curves: few, because each is measured in fifteen trials, of which every five are in a process of their own.

/** Input sizes in bytes. */
export const SIZES = [1, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 1e7];

/** Input sizes at which `beside.mjs` compares two libraries. */
export const BESIDE = [1 << 10, 1 << 20, 1 << 26];

/** Iterations of PBKDF2. */
export const ITERATIONS = [1, 3, 10, 30, 100, 300, 1000, 3000, 10000];

/** Numbers of passwords whose keys are derived in one call. */
export const KEYS = [1, 4, 16];

/** Numbers of files that arrive interleaved. */
export const STREAMS = [1, 64, 1024];

/** Numbers of open streams whose memory is measured. */
export const OPEN = [64, 1024];

/** Iterations for each of these keys. */
export const KEY_ITERATIONS = 1000;

/** The length of all interleaved files together, and of one chunk, in bytes. */
export const STREAMED = 1 << 22;
export const CHUNK = 1 << 12;

/** Lengths of files for Merkle roots, in bytes; leaves have 1 KiB. */
export const TREES = [1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22];
export const LEAF = 1 << 10;

/** Lengths of files that workers hash together, in bytes: 2^k times 4 MiB. */
export const FILES = [1 << 24, 1 << 27];
