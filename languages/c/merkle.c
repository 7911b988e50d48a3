#include "merkle.h"

#include <string.h>

/* A node hashes the digests of its two children, one after the other. */
static const size_t PAIR = 2 * (size_t)MERKLE_SIZE;

static int leaf_prefix(merkle_format format) {
    return format == MERKLE_RFC6962 ? 0x00 : MERKLE_SHA256_NO_PREFIX;
}

static int node_prefix(merkle_format format) {
    return format == MERKLE_RFC6962 ? 0x01 : MERKLE_SHA256_NO_PREFIX;
}

static void node(merkle_format format, const uint8_t *left, const uint8_t *right, uint8_t *digest) {
    uint8_t pair[2 * MERKLE_SIZE];
    memcpy(pair, left, MERKLE_SIZE);
    memcpy(pair + MERKLE_SIZE, right, MERKLE_SIZE);
    merkle_sha256_many(node_prefix(format), pair, sizeof pair, 1, digest);
}

static void leaf_begin(merkle_format format, merkle_sha256 *leaf) {
    merkle_sha256_init(leaf);
    if (leaf_prefix(format) != MERKLE_SHA256_NO_PREFIX) {
        merkle_sha256_update(leaf, &(uint8_t){(uint8_t)leaf_prefix(format)}, 1);
    }
}

static bool is_shape(merkle_format format, uint64_t segment) {
    return segment > 0 && segment <= MERKLE_SEGMENT_MAX && (format == MERKLE_PLAIN || format == MERKLE_RFC6962);
}

bool merkle_init(merkle_tree *tree, merkle_format format, uint64_t segment) {
    if (!is_shape(format, segment)) {
        return false;
    }
    tree->format = format;
    tree->segment = segment;
    tree->proving = false;
    tree->index = 0;
    merkle_reset(tree);
    return true;
}

bool merkle_init_prover(merkle_tree *tree, merkle_format format, uint64_t segment, uint64_t index) {
    if (!merkle_init(tree, format, segment)) {
        return false;
    }
    tree->proving = true;
    tree->index = index;
    return true;
}

void merkle_reset(merkle_tree *tree) {
    tree->joined = 0;
    tree->waiting = 0;
    tree->filled = 0;
    tree->seen = 0;
}

uint64_t merkle_leaves(const merkle_tree *tree) {
    return tree->joined + tree->waiting + (tree->filled > 0 ? 1 : 0);
}

/* Keeps the proven leaf's sibling on this level if it is among `count` nodes, of which `first` is the first. Every node
 * that is computed is passed to this function once.
 *
 * Node n of level k is over the leaves n·2^k to (n + 1)·2^k. The leaf is under node index >> k, and that node's sibling
 * is the one whose number differs in the last bit. */
static void keep_sibling(merkle_tree *tree, unsigned level, uint64_t first, const uint8_t *digests, size_t count) {
    if (!tree->proving) {
        return;
    }
    uint64_t sibling = tree->index >> level ^ 1;
    if (sibling >= first && sibling - first < count) {
        memcpy(tree->siblings[level], digests + (size_t)(sibling - first) * MERKLE_SIZE, MERKLE_SIZE);
        tree->seen |= UINT64_C(1) << level;
    }
}

/* Joins `count` digests, leaves `first` and on, into one: level by level, and a last node without a neighbour moves up
 * as it is. `first` is a multiple of MERKLE_BATCH, so that the levels above see a whole node or the right edge. */
static void join(merkle_tree *tree, uint64_t first, uint8_t (*digests)[MERKLE_SIZE], size_t count) {
    for (unsigned level = 0; count > 1; level++) {
        keep_sibling(tree, level, first >> level, digests[0], count);
        merkle_sha256_many(node_prefix(tree->format), digests[0], PAIR, count / 2, digests[0]);
        if (count % 2 == 1) {
            memmove(digests[count / 2], digests[count - 1], MERKLE_SIZE);
        }
        count = count / 2 + count % 2;
    }
}

enum { BATCH_LEVEL = 8 };

_Static_assert(MERKLE_BATCH == 1 << BATCH_LEVEL, "a full batch is a perfect subtree");

/* Turns a full batch into one digest of the frontier, and with it every pair of perfect subtrees into one. */
static void join_batch(merkle_tree *tree) {
    uint64_t first = tree->joined;
    join(tree, first, tree->batch, MERKLE_BATCH);
    uint8_t *digest = tree->batch[0];
    unsigned level = BATCH_LEVEL;
    for (; (first >> level & 1) == 1; level++) {
        keep_sibling(tree, level, (first >> level) - 1, tree->frontier[level], 1);
        keep_sibling(tree, level, first >> level, digest, 1);
        node(tree->format, tree->frontier[level], digest, digest);
    }
    memcpy(tree->frontier[level], digest, MERKLE_SIZE);
    tree->joined += MERKLE_BATCH;
    tree->waiting = 0;
}

/* Appends the digest of a complete leaf. */
static void push(merkle_tree *tree, const uint8_t *digest) {
    memmove(tree->batch[tree->waiting++], digest, MERKLE_SIZE);
    if (tree->waiting == MERKLE_BATCH) {
        join_batch(tree);
    }
}

/* Hashes whole leaves where they lie, several at once and no more than the batch has room for; returns their bytes. */
static size_t update_leaves(merkle_tree *tree, const uint8_t *bytes, size_t size) {
    size_t segment = (size_t)tree->segment, count = size / segment, room = MERKLE_BATCH - tree->waiting;
    count = count < room ? count : room;
    merkle_sha256_many(leaf_prefix(tree->format), bytes, segment, count, tree->batch[tree->waiting]);
    tree->waiting += count;
    if (tree->waiting == MERKLE_BATCH) {
        join_batch(tree);
    }
    return count * segment;
}

/* Hashes a part of a leaf, up to its end; returns the bytes of that part. */
static size_t update_part(merkle_tree *tree, const uint8_t *bytes, size_t size) {
    if (tree->filled == 0) {
        leaf_begin(tree->format, &tree->leaf);
    }
    uint64_t rest = tree->segment - tree->filled;
    size_t used = size < rest ? size : (size_t)rest;
    merkle_sha256_update(&tree->leaf, bytes, used);
    tree->filled += used;
    if (tree->filled == tree->segment) {
        uint8_t digest[MERKLE_SIZE];
        merkle_sha256_final(&tree->leaf, digest);
        tree->filled = 0;
        push(tree, digest);
    }
    return used;
}

void merkle_update(merkle_tree *tree, const void *bytes, size_t size) {
    const uint8_t *from = bytes;
    while (size > 0) {
        bool whole = tree->filled == 0 && size >= tree->segment;
        size_t used = whole ? update_leaves(tree, from, size) : update_part(tree, from, size);
        from += used;
        size -= used;
    }
}

/* Reads two leaves from `offset` on, each into its half of the buffer, and hashes them side by side. */
static int update_two(merkle_tree *tree, merkle_read *read, void *context, uint64_t offset, uint8_t *buffer,
                      size_t half) {
    merkle_sha256 leaves[2];
    leaf_begin(tree->format, &leaves[0]);
    leaf_begin(tree->format, &leaves[1]);
    for (uint64_t at = 0; at < tree->segment;) {
        size_t size = tree->segment - at < half ? (size_t)(tree->segment - at) : half;
        int error = read(context, offset + at, buffer, size);
        if (error == 0) {
            error = read(context, offset + tree->segment + at, buffer + half, size);
        }
        if (error != 0) {
            return error;
        }
        merkle_sha256_update_two(leaves, buffer, buffer + half, size);
        at += size;
    }
    for (int i = 0; i < 2; i++) {
        uint8_t digest[MERKLE_SIZE];
        merkle_sha256_final(&leaves[i], digest);
        push(tree, digest);
    }
    return 0;
}

int merkle_update_from(merkle_tree *tree, merkle_read *read, void *context, uint64_t offset, uint64_t size,
                       void *buffer, size_t room) {
    if (room < MERKLE_ROOM_MIN) {
        return MERKLE_NO_ROOM;
    }
    size_t half = room / 2 - room / 2 % MERKLE_SHA256_BLOCK;
    while (size > 0) {
        uint64_t used = 0;
        int error = 0;
        if (tree->filled == 0 && tree->segment > half && size / 2 >= tree->segment) {
            used = 2 * tree->segment;
            error = update_two(tree, read, context, offset, buffer, half);
        } else {
            /* Up to the end of a leaf that has begun; else whole leaves, so that none is put together from two reads.
             */
            uint64_t most = tree->filled > 0 ? tree->segment - tree->filled : room;
            if (tree->filled == 0 && tree->segment < room) {
                most -= room % tree->segment;
            }
            most = most < room ? most : room;
            used = size < most ? size : most;
            error = read(context, offset, buffer, (size_t)used);
            if (error == 0) {
                merkle_update(tree, buffer, (size_t)used);
            }
        }
        if (error != 0) {
            return error;
        }
        offset += used;
        size -= used;
    }
    return 0;
}

/* The root of `tree`, which is used up, except for its siblings. */
static void finish(merkle_tree *tree, uint8_t *root) {
    uint64_t first = tree->joined;
    bool edge = false; /* whether `root` holds the right edge so far */
    unsigned level = 0;
    if (tree->filled > 0) {
        merkle_sha256_final(&tree->leaf, tree->batch[tree->waiting++]); /* there is room: a full batch never waits */
    }
    if (tree->waiting > 0) {
        join(tree, first, tree->batch, tree->waiting);
        memcpy(root, tree->batch[0], MERKLE_SIZE);
        edge = true;
    }
    /* Every subtree of the frontier is larger than all to its right: those are its right sibling. */
    for (level = BATCH_LEVEL; level < MERKLE_LEVELS; level++) {
        if ((first >> level & 1) == 0) {
            continue;
        }
        const uint8_t *left = tree->frontier[level];
        if (edge) {
            keep_sibling(tree, level, (first >> level) - 1, left, 1);
            keep_sibling(tree, level, first >> level, root, 1);
            node(tree->format, left, root, root);
        } else {
            memcpy(root, left, MERKLE_SIZE);
            edge = true;
        }
    }
    if (!edge) {
        merkle_sha256_many(MERKLE_SHA256_NO_PREFIX, tree->batch[0], 0, 1,
                           root); /* no bytes: H of nothing, in both formats */
    }
}

void merkle_root(const merkle_tree *tree, uint8_t root[MERKLE_SIZE]) {
    merkle_tree copy = *tree;
    copy.proving = false;
    finish(&copy, root);
}

bool merkle_prove(const merkle_tree *tree, merkle_proof *proof) {
    uint64_t leaves = merkle_leaves(tree);
    if (!tree->proving || tree->index >= leaves) {
        return false;
    }
    uint8_t root[MERKLE_SIZE];
    merkle_tree copy = *tree;
    finish(&copy, root);
    proof->index = tree->index;
    proof->leaves = leaves;
    proof->length = 0;
    for (unsigned level = 0; level < MERKLE_LEVELS; level++) {
        if ((copy.seen >> level & 1) == 1) {
            memcpy(proof->path[proof->length++], copy.siblings[level], MERKLE_SIZE);
        }
    }
    return true;
}

bool merkle_verify(merkle_format format, uint64_t segment, const uint8_t root[MERKLE_SIZE], const merkle_proof *proof,
                   const void *leaf, size_t size) {
    if (!is_shape(format, segment) || proof->index >= proof->leaves || proof->length > MERKLE_LEVELS) {
        return false;
    }
    bool last_leaf = proof->index == proof->leaves - 1;
    if (size == 0 || size > segment || (size < segment && !last_leaf)) {
        return false;
    }
    uint8_t digest[MERKLE_SIZE];
    merkle_sha256 hash;
    leaf_begin(format, &hash);
    merkle_sha256_update(&hash, leaf, size);
    merkle_sha256_final(&hash, digest);
    /* Up the levels: `at` is the node above the leaf, `last` the last node of the level. */
    size_t used = 0;
    for (uint64_t at = proof->index, last = proof->leaves - 1; last > 0; at /= 2, last /= 2) {
        if ((at ^ 1) > last) {
            continue; /* a last node without a sibling is on the next level as it is */
        }
        if (used == proof->length) {
            return false;
        }
        const uint8_t *sibling = proof->path[used++];
        if (at % 2 == 0) {
            node(format, digest, sibling, digest);
        } else {
            node(format, sibling, digest, digest);
        }
    }
    return used == proof->length && memcmp(digest, root, MERKLE_SIZE) == 0;
}
