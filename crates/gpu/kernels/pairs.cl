/* The levels of a binary tree: every node is the hash of its two children, which lie side by side. */

/* Word `at` of the padding of a message of two digests. */
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

/* W parents: their children begin at `children`, their digests at `parents`. */
#define PARENTS(AS)                                                                                                    \
    FN void JOIN(parents_, AS)(AS const uchar *children, U *digest) {                                              \
        V s[STATE], m[PAIR_BLOCKS * BLOCK_WORDS];                                                                      \
        JOIN(load_, AS)(m, children, 2 * DIGEST, PAIR_WORDS);                                                          \
        UNROLL for (int at = PAIR_WORDS; at < PAIR_BLOCKS * BLOCK_WORDS; at++) m[at] = SPLAT(PAD(at));                 \
        UNROLL for (int at = 0; at < STATE; at++) s[at] = SPLAT(START[at]);                                            \
        UNROLL for (int block = 0; block < PAIR_BLOCKS; block++) {                                                     \
            compress(s, m + block * BLOCK_WORDS, SPLAT(0), SPLAT(0), BLOCK, FLAGS);                                    \
        }                                                                                                              \
        digest_words(s, digest);                                                                                       \
    }
PARENTS(global)
PARENTS(local)

/* `height` levels above the `2 * count` nodes at `children`; `nodes` is in heap order: a level of n nodes begins at n.
 *
 * Each work-group computes `tile` parents and what stands on them; the levels between pass through `near`, so that global
 * memory sees a child once and a parent once. `tile >> (height - 1)` is a multiple of W.
 */
kernel void pairs(global const uchar *children, ulong children_at, global uchar *nodes, ulong count, uint tile,
                  uint height, local uchar *near) {
    ulong group = get_group_id(0);
    children += children_at + group * tile * 2 * DIGEST;
    local uchar *from = near, *to = near;
    for (uint level = 0; level < height; level++) {
        uint parents = tile >> level;
        global uchar *out = nodes + ((count >> level) + group * parents) * DIGEST;
        /* Children and parents take turns, the second behind the first. */
        from = to, to = level & 1 ? near + tile * DIGEST : near;
        for (uint at = get_local_id(0) * W; at < parents; at += get_local_size(0) * W) {
            U digest[STATE < 16 ? 16 : 50];
            if (level == 0) parents_global(children + at * 2 * DIGEST, digest);
            else parents_local(from + at * 2 * DIGEST, digest);
            store_global(digest, out + at * DIGEST);
            if (level + 1 < height) store_local(digest, to + at * DIGEST);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

/* The same hash again and again without memory between, to measure how fast that can be. */
kernel void rate(global uchar *nodes, uint times) {
    ulong at = get_global_id(0) * W;
    V s[STATE], m[PAIR_BLOCKS * BLOCK_WORDS], first = SPLAT(0);
    U digest[STATE < 16 ? 16 : 50];
    for (uint time = 0; time < times; time++) {
        UNROLL for (int word = 0; word < PAIR_BLOCKS * BLOCK_WORDS; word++) {
            m[word] = word < PAIR_WORDS ? first + SPLAT(word) : SPLAT(PAD(word));
        }
        UNROLL for (int word = 0; word < STATE; word++) s[word] = SPLAT(START[word]);
        UNROLL for (int block = 0; block < PAIR_BLOCKS; block++) {
            compress(s, m + block * BLOCK_WORDS, SPLAT(0), SPLAT(0), BLOCK, FLAGS);
        }
        first = s[0];
    }
    digest_words(s, digest);
    store_global(digest, nodes + at * DIGEST);
}
