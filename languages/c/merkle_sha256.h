/* SHA-256 (FIPS 180-4): one message in pieces, two such messages side by side, or many of equal length.
 *
 * The last two are what a Merkle tree needs. Its leaves are messages of equal length, and so are the pairs of digests
 * on each level; independent messages keep the processor's SHA unit busy where one alone waits for itself. */
#ifndef MERKLE_SHA256_H
#define MERKLE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MERKLE_SHA256_SIZE 32  /* bytes in a digest */
#define MERKLE_SHA256_BLOCK 64 /* bytes in a block */

/* The hash of one message that comes in pieces. */
typedef struct merkle_sha256 {
    uint32_t state[8];
    uint64_t length; /* bytes so far; the last `length % 64` of them wait in `block` */
    uint8_t block[MERKLE_SHA256_BLOCK];
} merkle_sha256;

void merkle_sha256_init(merkle_sha256 *hash);

/* Appends `size` bytes; `bytes` may be NULL when there are none. */
void merkle_sha256_update(merkle_sha256 *hash, const void *bytes, size_t size);

/* Appends `size` bytes to each of two messages that have the same length so far: the digests of both take less time
 * than one after the other. */
void merkle_sha256_update_two(merkle_sha256 hashes[2], const void *first, const void *second, size_t size);

/* Writes the digest; `hash` cannot be used until the next merkle_sha256_init. */
void merkle_sha256_final(merkle_sha256 *hash, uint8_t digest[MERKLE_SHA256_SIZE]);

/* In place of a prefix: none. */
#define MERKLE_SHA256_NO_PREFIX (-1)

/* Writes the digests of `count` messages of `size` bytes each, which lie one after another; each is hashed after the
 * byte `prefix`. `digests` may be `messages` itself when `size` is at least twice a digest: the k-th pair of messages
 * is read before the k-th pair of digests is written. */
void merkle_sha256_many(int prefix, const uint8_t *messages, size_t size, size_t count, uint8_t *digests);

/* The implementation in use: "x86 SHA extensions" or "portable C". */
const char *merkle_sha256_implementation(void);

#ifdef __cplusplus
}
#endif

#endif
