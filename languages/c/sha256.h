/* SHA-256 (FIPS 180-4), one message at a time or many of equal length.
 *
 * The second form is what a Merkle tree needs: its leaves are messages of equal length that lie one after another, and
 * so are the pairs of digests on each level. Independent messages keep two instances of the processor's SHA unit busy.
 */
#ifndef MERKLE_SHA256_H
#define MERKLE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_SIZE 32
#define SHA256_BLOCK 64

/* One message that comes in pieces. */
typedef struct sha256 {
    uint32_t state[8];
    uint64_t length; /* bytes so far; `length % 64` of them wait in `block` */
    uint8_t block[SHA256_BLOCK];
} sha256;

void sha256_init(sha256 *hash);
void sha256_update(sha256 *hash, const void *bytes, size_t size);
/* Leaves `hash` unusable until the next sha256_init. */
void sha256_final(sha256 *hash, uint8_t digest[SHA256_SIZE]);

/* The byte that goes before a message, or none. */
#define SHA256_NO_PREFIX (-1)

/* The digests of `count` messages of `size` bytes that lie one after another, each after the byte `prefix`.
 * `digests` may be `messages` itself when `size` is at least twice a digest: the k-th pair of messages is read before
 * the k-th pair of digests is written. */
void sha256_many(int prefix, const uint8_t *messages, size_t size, size_t count, uint8_t *digests);

/* The code that runs here: "x86 SHA extensions" or "portable C". */
const char *sha256_implementation(void);

#endif
