/* Hashes messages of equal length after a prefix. A BLAKE3 message is hashed in chunks that form its own tree. */

#ifdef CHUNK
#define CHUNK_BLOCKS (CHUNK / BLOCK)
#else
#define CHUNK_BLOCKS 0xffffffffu
#endif

#if W == 16
#define LANE (U)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#elif W == 8
#define LANE (U)(0, 1, 2, 3, 4, 5, 6, 7)
#elif W == 4
#define LANE (U)(0, 1, 2, 3)
#else
#define LANE 0
#endif

/* Message i begins `i * stride` bytes after the first. The first block of the first message begins at byte `first`, which
 * is before the message by the length of the prefix. A message has `lead` blocks with part of the prefix, blocks of message
 * bytes only, and `trail` blocks with padding. For each lead and trail block, `edges` holds the words of a mask of message
 * bytes, and then the other words.
 *
 * Dimension 1 is the chunk. Chunk c of message i has the counter `number + step * i + c` and, in its last block, the extra
 * flags `flags`. Its digest is number `chunks * i + c` from byte `at` on. W divides `number`, or `step` is 0.
 */
__kernel void messages(__global const uchar *bytes, ulong first, ulong stride, __global uchar *digests, ulong at,
                       uint blocks, uint lead, uint trail, __global const WORD_TYPE *edges, uint last, ulong number,
                       uint step, uint flags) {
    ulong message = get_global_id(0) * W;
    uint chunk = get_global_id(1), chunks = get_global_size(1);
    uint from = chunks > 1 ? chunk * CHUNK_BLOCKS : 0;
    uint end = chunks > 1 && blocks - from > CHUNK_BLOCKS ? from + CHUNK_BLOCKS : blocks;
    bytes += first + message * stride;
    ulong base = number + step * message + chunk;
#if WORD == 32
    V low = SPLAT(base) + LANE * SPLAT(step), high = SPLAT(base >> 32);
#else
    V low = SPLAT(0), high = SPLAT(0);
#endif
    V s[STATE];
    UNROLL for (int word = 0; word < STATE; word++) s[word] = SPLAT(START[word]);
    for (uint block = from; block < end; block++) {
        V m[BLOCK_WORDS];
        load_global(m, bytes + (ulong)block * BLOCK, stride, BLOCK_WORDS);
        bool before = block < lead;
        if (before || block >= blocks - trail) {
            uint edge = before ? block : lead + block - (blocks - trail);
            __global const WORD_TYPE *mask = edges + 2 * BLOCK_WORDS * edge;
            UNROLL for (int word = 0; word < BLOCK_WORDS; word++) {
                m[word] = (m[word] & SPLAT(mask[word])) | SPLAT(mask[BLOCK_WORDS + word]);
            }
        }
        /* Other hashes ignore the flags. */
        uint place = (block == from ? CHUNK_START : 0) | (block + 1 == end ? CHUNK_END | flags : 0);
        compress(s, m, low, high, block + 1 == blocks ? last : BLOCK, place);
    }
    U digest[STATE < 16 ? 16 : 50];
    digest_words(s, digest);
    store_global(digest, digests + at + (message * chunks + chunk) * DIGEST, (ulong)chunks * DIGEST);
}

#ifdef CHUNK
/* Computes one level of each message's tree, from byte `at` of both buffers. Each message has `count` nodes below; parent j
 * is over nodes 2j and 2j + 1, and a last single node is copied up. If there are two nodes, their parent is the root. */
__kernel void chunk_parents(__global const uchar *below, __global uchar *above, ulong at, uint count) {
    ulong message = get_global_id(0) * W;
    uint parent = get_global_id(1), parents = get_global_size(1);
    __global const uchar *children = below + at + (message * count + 2 * parent) * DIGEST;
    U digest[16];
    if (2 * parent + 1 < count) {
        V s[STATE], m[BLOCK_WORDS];
        load_global(m, children, (ulong)count * DIGEST, PAIR_WORDS);
        UNROLL for (int word = 0; word < STATE; word++) s[word] = SPLAT(START[word]);
        compress(s, m, SPLAT(0), SPLAT(0), BLOCK, 4 | (count == 2 ? 8 : 0));
        digest_words(s, digest);
    } else {
        load_global(digest, children, (ulong)count * DIGEST, DIGEST / BYTES);
    }
    store_global(digest, above + at + (message * parents + parent) * DIGEST, (ulong)parents * DIGEST);
}
#endif
