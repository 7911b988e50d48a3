/* The Merkle root of bytes that come as they may, with SHA-256, and proofs that a leaf is under a root.
 *
 *     merkle_tree tree;
 *     merkle_init(&tree, MERKLE_PLAIN, 64);
 *     merkle_update(&tree, "some", 4);
 *     merkle_update(&tree, " bytes", 6);
 *     uint8_t root[MERKLE_SIZE];
 *     merkle_root(&tree, root);
 *
 * Nothing here allocates, blocks or keeps a pointer: a tree is a value of about 12 KiB, whatever the input, and may be
 * copied by assignment. What is computed is written in spec/plain.md and spec/rfc6962.md. */
#ifndef MERKLE_H
#define MERKLE_H

#include "sha256.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MERKLE_SIZE SHA256_SIZE /* bytes in a digest */
#define MERKLE_LEVELS 64        /* a path has at most so many digests */
#define MERKLE_BATCH 256        /* leaves whose digests wait to be joined together */

typedef enum merkle_format {
    MERKLE_PLAIN, /* leaf H(bytes), node H(left ‖ right): a proof is worth nothing without a trusted number of leaves */
    MERKLE_RFC6962, /* leaf H(00 ‖ bytes), node H(01 ‖ left ‖ right): RFC 6962, 2.1 */
} merkle_format;

/* Digests that prove that a leaf is under a root: its siblings, from the leaf up (RFC 6962, 2.1.1). */
typedef struct merkle_path {
    uint64_t index;  /* of the leaf, from 0 */
    uint64_t leaves; /* in the whole tree */
    size_t length;   /* of `digests` */
    uint8_t digests[MERKLE_LEVELS][MERKLE_SIZE];
} merkle_path;

/* A tree so far. Its fields are no part of the interface. */
typedef struct merkle_tree {
    merkle_format format;
    uint64_t segment;
    uint64_t joined; /* leaves under `frontier`: a multiple of MERKLE_BATCH */
    size_t waiting;  /* digests in `batch`: below MERKLE_BATCH */
    uint64_t filled; /* bytes of the leaf that is not complete, in `leaf` */
    sha256 leaf;
    bool watched; /* whether `siblings` are kept, for the leaf `index` */
    uint64_t index;
    uint64_t seen;                                /* bit k: siblings[k] is set */
    uint8_t frontier[MERKLE_LEVELS][MERKLE_SIZE]; /* [k] is set where bit k of `joined` is: 2^k leaves */
    uint8_t batch[MERKLE_BATCH][MERKLE_SIZE];     /* digests of leaves `joined` and on */
    uint8_t siblings[MERKLE_LEVELS][MERKLE_SIZE]; /* [k]: the sibling of the node of 2^k leaves over leaf `index` */
} merkle_tree;

/* Makes an empty tree over leaves of `segment` bytes. False, and no tree, if `segment` is 0 or `format` unknown. */
bool merkle_init(merkle_tree *tree, merkle_format format, uint64_t segment);

/* As merkle_init, and keeps what merkle_prove needs for the leaf `index`: O(log n) more, known before the bytes come.
 */
bool merkle_init_watching(merkle_tree *tree, merkle_format format, uint64_t segment, uint64_t index);

/* Forgets all bytes. */
void merkle_reset(merkle_tree *tree);

/* Appends `size` bytes; `bytes` may be NULL when there are none. */
void merkle_update(merkle_tree *tree, const void *bytes, size_t size);

/* The root of the bytes so far. The tree stays as it is: more may follow. */
void merkle_root(const merkle_tree *tree, uint8_t root[MERKLE_SIZE]);

/* The number of leaves so far; a short last one counts. */
uint64_t merkle_leaves(const merkle_tree *tree);

/* The proof for the leaf that is watched, in the tree so far. False if none is, or it has not begun. */
bool merkle_prove(const merkle_tree *tree, merkle_path *path);

/* Whether `path` proves that these `size` bytes are leaf `path->index` of the `path->leaves` under `root`.
 *
 * `leaves` has to come from where the root comes from. In MERKLE_PLAIN anything else can be forged: two digests of a
 * tree are themselves the leaf of a shorter one with the same root. The size of the leaf is the caller's to check as
 * well. */
bool merkle_verify(merkle_format format, const uint8_t root[MERKLE_SIZE], const merkle_path *path, const void *leaf,
                   size_t size);

#ifdef __cplusplus
}
#endif

#endif
