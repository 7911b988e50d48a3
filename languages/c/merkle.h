/* Merkle roots of byte streams over SHA-256, and inclusion proofs.
 *
 *     merkle_tree tree;
 *     merkle_init(&tree, MERKLE_PLAIN, 64);
 *     merkle_update(&tree, "some", 4);
 *     merkle_update(&tree, " bytes", 6);
 *     uint8_t root[MERKLE_SIZE];
 *     merkle_root(&tree, root);
 *
 * Nothing here allocates, blocks or keeps a pointer. A tree is a value of about 12 KiB, whatever the length of the
 * stream, and may be copied by assignment. spec/plain.md and spec/rfc6962.md define what is computed. */
#ifndef MERKLE_H
#define MERKLE_H

#include "merkle_sha256.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MERKLE_VERSION "0.1.0"

#define MERKLE_SIZE MERKLE_SHA256_SIZE         /* bytes in a digest */
#define MERKLE_LEVELS 64                       /* the most digests in a path */
#define MERKLE_BATCH 256                       /* the digests of so many leaves are joined together */
#define MERKLE_ROOM_MIN 128                    /* bytes in the smallest buffer of merkle_update_from */
#define MERKLE_NO_ROOM (-1)                    /* merkle_update_from: the buffer is smaller */
#define MERKLE_SEGMENT_MAX (UINT64_C(1) << 40) /* bytes in the largest leaf */

typedef enum merkle_format {
    MERKLE_PLAIN, /* leaf H(bytes), node H(left ‖ right): a proof is worth nothing without a trusted number of leaves */
    MERKLE_RFC6962, /* leaf H(00 ‖ bytes), node H(01 ‖ left ‖ right): RFC 6962, 2.1 */
} merkle_format;

/* An inclusion proof: the siblings of a leaf and of the nodes above it, the lowest first (RFC 9162, 2.1.3). */
typedef struct merkle_proof {
    uint64_t index;  /* of the leaf, counted from 0 */
    uint64_t leaves; /* in the whole tree */
    size_t length;   /* digests in `path` */
    uint8_t path[MERKLE_LEVELS][MERKLE_SIZE];
} merkle_proof;

/* The tree over the bytes so far. Its fields are not part of the interface. */
typedef struct merkle_tree {
    merkle_format format;
    uint64_t segment;
    uint64_t joined; /* leaves under `frontier`: a multiple of MERKLE_BATCH */
    size_t waiting;  /* digests in `batch`: below MERKLE_BATCH */
    uint64_t filled; /* bytes of the incomplete leaf, hashed in `leaf` */
    merkle_sha256 leaf;
    bool proving; /* whether `siblings` are kept, for the leaf `index` */
    uint64_t index;
    uint64_t seen;                                /* bit k: siblings[k] is set */
    uint8_t frontier[MERKLE_LEVELS][MERKLE_SIZE]; /* [k] is set where bit k of `joined` is: 2^k leaves */
    uint8_t batch[MERKLE_BATCH][MERKLE_SIZE];     /* digests of the leaves after the first `joined` */
    uint8_t siblings[MERKLE_LEVELS][MERKLE_SIZE]; /* [k]: the sibling of the node of 2^k leaves over leaf `index` */
} merkle_tree;

/* Makes an empty tree over leaves of `segment` bytes. Returns false, and makes no tree, if `segment` is not 1 to
 * MERKLE_SEGMENT_MAX or `format` is unknown. */
bool merkle_init(merkle_tree *tree, merkle_format format, uint64_t segment);

/* Like merkle_init, for a tree that also keeps what merkle_prove needs for the leaf `index`: a digest for each level.
 */
bool merkle_init_prover(merkle_tree *tree, merkle_format format, uint64_t segment, uint64_t index);

/* Removes all bytes from the tree. */
void merkle_reset(merkle_tree *tree);

/* Appends `size` bytes; `bytes` may be NULL when there are none. */
void merkle_update(merkle_tree *tree, const void *bytes, size_t size);

/* Reads `size` bytes at `offset` to `buffer`. Returns 0, or an error code of its own choice. */
typedef int merkle_read(void *context, uint64_t offset, void *buffer, size_t size);

/* Appends the `size` bytes at `offset` of a source that can be read at any offset, through a buffer of `room` bytes, at
 * least MERKLE_ROOM_MIN. Where two leaves do not fit into the buffer, two leaves are read and hashed side by side,
 * which takes less time than merkle_update on a processor with SHA instructions. Returns 0, MERKLE_NO_ROOM before
 * anything is read, or the first error of `read`, after which the tree is to be reset. */
int merkle_update_from(merkle_tree *tree, merkle_read *read, void *context, uint64_t offset, uint64_t size,
                       void *buffer, size_t room);

/* Writes the root of the bytes so far. The tree does not change: more bytes may follow. */
void merkle_root(const merkle_tree *tree, uint8_t root[MERKLE_SIZE]);

/* The number of leaves so far, including a short last one. */
uint64_t merkle_leaves(const merkle_tree *tree);

/* Writes the proof of the leaf that merkle_init_prover named, in the tree so far. Returns false if it named none or the
 * leaf has not begun. */
bool merkle_prove(const merkle_tree *tree, merkle_proof *proof);

/* Whether `proof` proves that these `size` bytes are leaf `proof->index` of the `proof->leaves` under `root`. The leaf
 * must have `segment` bytes; the last one may be shorter, but not empty.
 *
 * `proof->leaves` must come from the source of the root, not from whoever sent the proof. In MERKLE_PLAIN any other
 * number allows a forgery: the two digests below a root are the only leaf of a shorter stream with the same root. */
bool merkle_verify(merkle_format format, uint64_t segment, const uint8_t root[MERKLE_SIZE], const merkle_proof *proof,
                   const void *leaf, size_t size);

#ifdef __cplusplus
}
#endif

#endif
