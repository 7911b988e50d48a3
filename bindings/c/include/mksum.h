/* libmksum: node trees and Merkle roots.
 *
 * Every function may be called from any thread. None keeps a pointer that it is given, allocates what a caller would have to
 * free, or returns through an exception; a defect in the library ends the process with a message on standard error.
 * Strings are UTF-8 and end with a zero byte, but for paths, whose bytes are the system's.
 */
#ifndef MKSUM_H
#define MKSUM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How a call ended. Whatever is not MKSUM_OK is explained by mksum_error(). */
typedef enum mksum_status {
    MKSUM_OK = 0,
    /* A pointer is NULL, or buffers overlap, or a string is no UTF-8. */
    MKSUM_BAD_ARGUMENT = 1,
    /* No node trees are made with this hash. */
    MKSUM_BAD_HASH = 2,
    /* The leaves are not 2, 4, 8 ... digests, or the nodes have another length. */
    MKSUM_BAD_LENGTH = 3,
    /* There is no such device, or it cannot be used. */
    MKSUM_NO_DEVICE = 4,
    /* The device failed; the nodes hold nothing to rely on. */
    MKSUM_DEVICE_FAILED = 5,
    /* The format is unknown, or cannot be had with its hash, leaf or salt. */
    MKSUM_BAD_FORMAT = 6,
    /* The format has no root for an input of this length. */
    MKSUM_NO_ROOT = 7,
    /* The file cannot be read, or changed while it was read. */
    MKSUM_READ_FAILED = 8,
    /* The text and its zero byte have no room; nothing was written. */
    MKSUM_NO_ROOM = 9
} mksum_status;

/* The room that the text of any root has in, with its zero byte. */
#define MKSUM_TEXT_MAX 192

/* The library's version, as in "0.1.0". Never NULL. */
const char *mksum_version(void);

/* Why the last call on this thread failed, in one line without an end; "" if none has. Never NULL; valid until the next call
 * on this thread. */
const char *mksum_error(void);

/* The size of a digest, in bytes: 20 to 64; 0 if no node trees are made with this hash, or it is NULL. Names: blake3 sha1
 * sha224 sha256 sha384 sha512 sha512-224 sha512-256 sha3-224 sha3-256 sha3-384 sha3-512 keccak256. */
size_t mksum_digest_size(const char *hash);

/* Computes all nodes over N = 2^k leaves, k >= 1, which are digests of `hash` that lie one after another: on the CPU, with
 * all of its cores.
 *
 * `leaves` has `leaves_len` = N digests; `nodes` has room for `nodes_len` = as many bytes, and must not overlap. Node i is at
 * nodes + i * mksum_digest_size(hash): node 0 is zero, node 1 the root, and the children of i are 2 i and 2 i + 1; those of
 * nodes N/2 to N - 1 are the leaves. A node is the hash of its two children's digests, without a prefix. */
mksum_status mksum_merklize(const char *hash, const uint8_t *leaves, size_t leaves_len, uint8_t *nodes,
                            size_t nodes_len);

/* The same on a device: "cpu"; the number or a part of the name of an OpenCL device, as `mksum devices` lists them; "auto",
 * the first GPU, else the CPU, which does too what the GPU fails at; NULL is "cpu". `threads` is how many the CPU uses, 0 for one a core; devices ignore it. */
mksum_status mksum_merklize_on(const char *device, unsigned threads, const char *hash, const uint8_t *leaves,
                               size_t leaves_len, uint8_t *nodes, size_t nodes_len);

/* Writes the root of `len` bytes in a format, as in "rfc6962:sha256:64KiB", to `text`, which has room for `room` bytes: as
 * `mksum` prints it, with a zero byte at the end. MKSUM_TEXT_MAX bytes are always enough. `bytes` may be NULL if `len` is 0. */
mksum_status mksum_root_of_bytes(const char *format, const uint8_t *bytes, size_t len, char *text, size_t room);

/* The same for a file, read by all cores. */
mksum_status mksum_root_of_file(const char *format, const char *path, char *text, size_t room);

#ifdef __cplusplus
}
#endif

#endif
