/* The levels of a binary tree: every node is the hash of its two children, which are adjacent in memory. */

/* Word `at` of the padded message of two digests, for words after the digests. */
#if SPONGE
#define PAIR_BLOCKS (2 * DIGEST / BLOCK + 1)
#define PAD(at)                                                                                                        \
    (((at) == PAIR_WORDS ? (ulong)SPONGE : 0) | ((at) == PAIR_BLOCKS * BLOCK_WORDS - 1 ? 0x8000000000000000ul : 0))
#elif defined(BIG_ENDIAN)
#define PAIR_BLOCKS ((2 * DIGEST + 2 * BYTES) / BLOCK + 1)
#define PAD(at)                                                                                                        \
    ((at) == PAIR_WORDS ? ONE(1) << (WORD - 1) : (at) == PAIR_BLOCKS * BLOCK_WORDS - 1 ? ONE(16 * DIGEST) : ONE(0))
#else
#define PAIR_BLOCKS 1
#define PAD(at) ONE(0)
#endif

/* Computes the digests of W pairs, whose words are `pair`. */
FN void hash_pairs(const V *pair, U *digest) {
    V s[STATE], m[BLOCK_WORDS];
    UNROLL for (int at = 0; at < STATE; at++) s[at] = SPLAT(START[at]);
    UNROLL for (int at = 0; at < BLOCK_WORDS; at++) m[at] = at < PAIR_WORDS ? pair[at] : SPLAT(PAD(at));
    UNROLL_MORE for (int block = 1; block <= PAIR_BLOCKS; block++) {
        compress(s, m, SPLAT(0), SPLAT(0), BLOCK, FLAGS);
        if (block == PAIR_BLOCKS) break;
        UNROLL for (int at = 0; at < BLOCK_WORDS; at++) {
            int word = BLOCK_WORDS + at;
            m[at] = word < PAIR_WORDS ? pair[word] : SPLAT(PAD(word));
        }
    }
    digest_words(s, digest);
}

/* Computes `height` levels above the `2 * count` nodes at `children`. `nodes` is in heap order: a level of n nodes begins at
 * slot n.
 *
 * Each work-group computes `tile` parents and the levels above them. It passes levels through `near`, so that each child is
 * read from global memory once and each parent is written once. `tile >> (height - 1)` is a multiple of W.
 */
__kernel void pairs(__global const uchar *children, ulong children_at, __global uchar *nodes, ulong count, uint tile,
                    uint height LOCAL_PARAMETER(near)) {
    LOCAL_MEMORY(near)
    ulong group = get_group_id(0);
    children += children_at + group * tile * 2 * DIGEST;
    __local uchar *from = near, *to = near;
    for (uint level = 0; level < height; level++) {
        uint parents = tile >> level;
        __global uchar *out = nodes + ((count >> level) + group * parents) * DIGEST;
        /* Alternates between two buffers: odd levels are stored behind even ones. */
        from = to, to = level & 1 ? near + tile * DIGEST : near;
        for (uint at = get_local_id(0) * W; at < parents; at += get_local_size(0) * W) {
            V pair[PAIR_WORDS];
            U digest[STATE < 16 ? 16 : 50];
            if (level == 0) load_global(pair, children + at * 2 * DIGEST, 2 * DIGEST, PAIR_WORDS);
            else load_local(pair, from + at * 2 * DIGEST, 2 * DIGEST, PAIR_WORDS);
            hash_pairs(pair, digest);
            store_global(digest, out + at * DIGEST, DIGEST);
            if (level + 1 < height) store_local(digest, to + at * DIGEST, DIGEST);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
