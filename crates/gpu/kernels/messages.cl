/* Messages of equal length after a prefix, each in blocks; of BLAKE3, in chunks that become a tree of their own. */

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

/* Message i begins `i * stride` bytes after the first, the first block of which begins at byte `first`: before the
 * message, by the length of the prefix. Its blocks are `lead` that hold prefix, whole ones, and `trail` that hold padding.
 * `edges` has for each of lead and trail the words of a mask, which are the message's, and then the words between.
 *
 * Dimension 1 is the chunk. Chunk c of message i has the number `number + step * i + c`, and its digest, which has
 * `flags` more than an inner chunk, is the one after `chunks * i + c` others at byte `at`. W divides `number`, or `step`
 * is 0.
 */
kernel void messages(global const uchar *bytes, ulong first, ulong stride, global uchar *digests, ulong at, uint blocks,
                     uint lead, uint trail, global const WORD_TYPE *edges, uint last, ulong number, uint step,
                     uint flags) {
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
            global const WORD_TYPE *mask = edges + 2 * BLOCK_WORDS * (before ? block : lead + block - (blocks - trail));
            UNROLL for (int word = 0; word < BLOCK_WORDS; word++) {
                m[word] = (m[word] & SPLAT(mask[word])) | SPLAT(mask[BLOCK_WORDS + word]);
            }
        }
        /* CHUNK_START, CHUNK_END; what other hashes have no use for. */
        uint place = (block == from ? 1 : 0) | (block + 1 == end ? 2 | flags : 0);
        compress(s, m, low, high, block + 1 == blocks ? last : BLOCK, place);
    }
    U digest[STATE < 16 ? 16 : 50];
    digest_words(s, digest);
    store_global(digest, digests + at + (message * chunks + chunk) * DIGEST, (ulong)chunks * DIGEST);
}

#ifdef CHUNK
/* A level of the tree in each message, from byte `at` of both: parent j over nodes 2j and 2j + 1 of the `count` nodes that
 * each message has; a lone node moves up. With two nodes, the parent is the root. */
kernel void rows(global const uchar *below, global uchar *above, ulong at, uint count) {
    ulong message = get_global_id(0) * W;
    uint parent = get_global_id(1), parents = get_global_size(1);
    global const uchar *children = below + at + (message * count + 2 * parent) * DIGEST;
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
