#include "merkle.h"

#include <string.h>

/* A node hashes the digests of its two children, one after the other. */
static const size_t PAIR = 2 * (size_t)MERKLE_SIZE;

static int leaf_prefix(merkle_format format) {
    return format == MERKLE_RFC6962 ? 0x00 : SHA256_NO_PREFIX;
}

static int node_prefix(merkle_format format) {
    return format == MERKLE_RFC6962 ? 0x01 : SHA256_NO_PREFIX;
}

static void node(merkle_format format, const uint8_t *left, const uint8_t *right, uint8_t *digest) {
    uint8_t pair[2 * MERKLE_SIZE];
    memcpy(pair, left, MERKLE_SIZE);
    memcpy(pair + MERKLE_SIZE, right, MERKLE_SIZE);
    sha256_many(node_prefix(format), pair, sizeof pair, 1, digest);
}

static void leaf_begin(merkle_format format, sha256 *leaf) {
    sha256_init(leaf);
    if (leaf_prefix(format) != SHA256_NO_PREFIX) {
        sha256_update(leaf, &(uint8_t){(uint8_t)leaf_prefix(format)}, 1);
    }
}

bool merkle_init(merkle_tree *tree, merkle_format format, uint64_t segment) {
    if (segment == 0 || (format != MERKLE_PLAIN && format != MERKLE_RFC6962)) {
        return false;
    }
    tree->format = format;
    tree->segment = segment;
    tree->watched = false;
    tree->index = 0;
    merkle_reset(tree);
    return true;
}

bool merkle_init_watching(merkle_tree *tree, merkle_format format, uint64_t segment, uint64_t index) {
    if (!merkle_init(tree, format, segment)) {
        return false;
    }
    tree->watched = true;
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

/* A level of a tree is a row of nodes; node `n` of level k stands over the leaves n·2^k to (n + 1)·2^k. The watched
 * leaf is under node index >> k, whose sibling is the neighbour with the other last bit. Whoever computes nodes shows
 * them here: node `first` of the level and those after it. */
static void show(merkle_tree *tree, unsigned level, uint64_t first, const uint8_t *digests, size_t count) {
    if (!tree->watched) {
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
        show(tree, level, first >> level, digests[0], count);
        sha256_many(node_prefix(tree->format), digests[0], PAIR, count / 2, digests[0]);
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
        show(tree, level, (first >> level) - 1, tree->frontier[level], 1);
        show(tree, level, first >> level, digest, 1);
        node(tree->format, tree->frontier[level], digest, digest);
    }
    memcpy(tree->frontier[level], digest, MERKLE_SIZE);
    tree->joined += MERKLE_BATCH;
    tree->waiting = 0;
}

void merkle_update(merkle_tree *tree, const void *bytes, size_t size) {
    const uint8_t *from = bytes;
    while (size > 0) {
        size_t used = 0;
        if (tree->filled == 0 && size >= tree->segment) {
            /* Whole leaves are hashed where they lie, several at once. */
            size_t segment = (size_t)tree->segment, count = size / segment, room = MERKLE_BATCH - tree->waiting;
            count = count < room ? count : room;
            sha256_many(leaf_prefix(tree->format), from, segment, count, tree->batch[tree->waiting]);
            tree->waiting += count;
            used = count * segment;
        } else {
            if (tree->filled == 0) {
                leaf_begin(tree->format, &tree->leaf);
            }
            uint64_t rest = tree->segment - tree->filled;
            used = size < rest ? size : (size_t)rest;
            sha256_update(&tree->leaf, from, used);
            tree->filled += used;
            if (tree->filled == tree->segment) {
                sha256_final(&tree->leaf, tree->batch[tree->waiting++]);
                tree->filled = 0;
            }
        }
        if (tree->waiting == MERKLE_BATCH) {
            join_batch(tree);
        }
        from += used;
        size -= used;
    }
}

/* The root of `tree`, which is used up, except for its siblings. */
static void finish(merkle_tree *tree, uint8_t *root) {
    uint64_t first = tree->joined;
    bool edge = false; /* whether `root` holds the right edge so far */
    unsigned level = 0;
    if (tree->filled > 0) {
        sha256_final(&tree->leaf, tree->batch[tree->waiting++]); /* there is room: a full batch never waits */
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
            show(tree, level, (first >> level) - 1, left, 1);
            show(tree, level, first >> level, root, 1);
            node(tree->format, left, root, root);
        } else {
            memcpy(root, left, MERKLE_SIZE);
            edge = true;
        }
    }
    if (!edge) {
        sha256_many(SHA256_NO_PREFIX, tree->batch[0], 0, 1, root); /* no bytes: H of nothing, in both formats */
    }
}

void merkle_root(const merkle_tree *tree, uint8_t root[MERKLE_SIZE]) {
    merkle_tree copy = *tree;
    copy.watched = false;
    finish(&copy, root);
}

bool merkle_prove(const merkle_tree *tree, merkle_path *path) {
    uint64_t leaves = merkle_leaves(tree);
    if (!tree->watched || tree->index >= leaves) {
        return false;
    }
    uint8_t root[MERKLE_SIZE];
    merkle_tree copy = *tree;
    finish(&copy, root);
    path->index = tree->index;
    path->leaves = leaves;
    path->length = 0;
    for (unsigned level = 0; level < MERKLE_LEVELS; level++) {
        if ((copy.seen >> level & 1) == 1) {
            memcpy(path->digests[path->length++], copy.siblings[level], MERKLE_SIZE);
        }
    }
    return true;
}

bool merkle_verify(merkle_format format, const uint8_t root[MERKLE_SIZE], const merkle_path *path, const void *leaf,
                   size_t size) {
    if ((format != MERKLE_PLAIN && format != MERKLE_RFC6962) || path->index >= path->leaves ||
        path->length > MERKLE_LEVELS) {
        return false;
    }
    uint8_t digest[MERKLE_SIZE];
    sha256 hash;
    leaf_begin(format, &hash);
    sha256_update(&hash, leaf, size);
    sha256_final(&hash, digest);
    /* Up the levels: `at` is the node above the leaf, `last` the last node of the level. */
    size_t used = 0;
    for (uint64_t at = path->index, last = path->leaves - 1; last > 0; at /= 2, last /= 2) {
        if ((at ^ 1) > last) {
            continue; /* no neighbour: it moves up as it is */
        }
        if (used == path->length) {
            return false;
        }
        const uint8_t *sibling = path->digests[used++];
        if (at % 2 == 0) {
            node(format, digest, sibling, digest);
        } else {
            node(format, sibling, digest, digest);
        }
    }
    return used == path->length && memcmp(digest, root, MERKLE_SIZE) == 0;
}
