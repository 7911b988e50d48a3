/* SHA-256 of many blocks of 64 bytes, as the library hashtree has it (github.com/OffchainLabs/hashtree): a program that calls
 * hashtree_hash can be linked with libmksum in its place. Do not link a program with both.
 *
 * Neither function checks anything, allocates memory, takes a lock or starts a thread, and each may be called from any thread. hashtree's
 * functions for single instruction sets are not here: the kernels that take the least time for so many blocks on this machine are chosen
 * in each call. The environment variable MKSUM_CPU restricts them, for example to "avx2", as in every program with mksum. */
#ifndef HASHTREE_H
#define HASHTREE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A function that does what hashtree_hash does. */
typedef void (*hashtree_hash_fcn)(unsigned char *out, const unsigned char *chunks, uint64_t count);

/* Has hashtree_hash call `function` from now on, or if it is NULL hash by itself, which it does from the start: so no program has to
 * call this. */
void hashtree_init(hashtree_hash_fcn function);

/* Writes the SHA-256 digests of `count` blocks of 64 bytes, for example pairs of nodes of an SSZ tree, which lie at `chunks` one after
 * another: 32 * count bytes, to `out`. Digests may overwrite blocks if `out` is `chunks` or less: in place, a level of a tree becomes the
 * next. Does nothing if `count` is 0; then the pointers may be NULL. */
void hashtree_hash(unsigned char *out, const unsigned char *chunks, uint64_t count);

#ifdef __cplusplus
}
#endif

#endif
