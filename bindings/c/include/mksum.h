/* libmksum: node trees, Merkle roots and plain sums.
 *
 * Every function may be called from any thread. No function keeps a pointer after it returns, allocates memory for the caller
 * to free, or throws; a bug in the library ends the process with a message on standard error. Strings are UTF-8 and end with
 * a zero byte. Paths are bytes in the system's encoding.
 */
#ifndef MKSUM_H
#define MKSUM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The result of a call. For any status other than MKSUM_OK, mksum_error() returns the reason. */
typedef enum mksum_status {
    MKSUM_OK = 0,
    /* A pointer is NULL, buffers overlap, or a string is not UTF-8. */
    MKSUM_BAD_ARGUMENT = 1,
    /* The hash is not available for node trees. */
    MKSUM_BAD_HASH = 2,
    /* The leaves are not 2, 4, 8 ... digests, or the nodes have another length. */
    MKSUM_BAD_LENGTH = 3,
    /* There is no such device, or it cannot be used. */
    MKSUM_NO_DEVICE = 4,
    /* The device failed; the content of the nodes is undefined. */
    MKSUM_DEVICE_FAILED = 5,
    /* The format is unknown, or does not allow its hash, leaf or salt. */
    MKSUM_BAD_FORMAT = 6,
    /* The format has no root for an input of this length. */
    MKSUM_NO_ROOT = 7,
    /* The file cannot be read, or changed while it was read. */
    MKSUM_READ_FAILED = 8,
    /* The buffer is too small for the text and its zero byte; nothing was written. */
    MKSUM_NO_ROOM = 9
} mksum_status;

/* The size of a buffer for the text of any root, including its zero byte. */
#define MKSUM_TEXT_MAX 192

/* Returns the library's version, for example "0.1.0". Never NULL. */
const char *mksum_version(void);

/* Returns the reason why the last failed call on this thread failed, as one line without a newline; "" if no call failed.
 * Never NULL; valid until the next call on this thread. */
const char *mksum_error(void);

/* Returns the size of a digest in bytes, 20 to 64; 0 if the hash is NULL or not available for node trees. Names: blake3 sha1
 * sha224 sha256 sha384 sha512 sha512-224 sha512-256 sha3-224 sha3-256 sha3-384 sha3-512 keccak256. */
size_t mksum_digest_size(const char *hash);

/* Computes all nodes over N = 2^k leaves, k >= 1, which are contiguous digests of `hash`, on all cores of the CPU.
 *
 * `leaves` holds N digests in `leaves_len` bytes. `nodes` has the same length, `nodes_len` bytes, and must not overlap
 * `leaves`. Node i is at nodes + i * mksum_digest_size(hash): node 0 is zero, node 1 is the root, and the children of node i
 * are nodes 2 i and 2 i + 1. The children of nodes N/2 to N - 1 are the leaves. A node is the hash of its two children's
 * digests, without a prefix. */
mksum_status mksum_merklize(const char *hash, const uint8_t *leaves, size_t leaves_len, uint8_t *nodes,
                            size_t nodes_len);

/* As mksum_merklize, on a device: "cpu" or NULL; the number or part of the name of a device listed by
 * `mksum devices`; or "auto", the first GPU, else the CPU. If the device chosen by "auto" fails, the CPU takes over.
 * `threads` is the number of CPU threads, 0 for one a core; other devices ignore it. */
mksum_status mksum_merklize_on(const char *device, unsigned threads, const char *hash, const uint8_t *leaves,
                               size_t leaves_len, uint8_t *nodes, size_t nodes_len);

/* Writes the root of `len` bytes in a format, for example "rfc6962:sha256:64KiB", to `text`, a buffer of `room` bytes, as
 * `mksum` prints it and with a zero byte at the end. MKSUM_TEXT_MAX bytes are always enough. `bytes` may be NULL if `len` is
 * 0. */
mksum_status mksum_root_of_bytes(const char *format, const uint8_t *bytes, size_t len, char *text, size_t room);

/* As mksum_root_of_bytes, for a file, read on all cores. */
mksum_status mksum_root_of_file(const char *format, const char *path, char *text, size_t room);

/* As mksum_root_of_file, of a directory, in a format of directories, for example "dir" or "dir+mode:sha256" (spec/directory.md):
 * over the names, types and contents of all that is in it. If something in it cannot be read, there is no root. */
mksum_status mksum_root_of_directory(const char *format, const char *path, char *text, size_t room);

/* Receives the result of a file in a format; both are counted from 0. If `status` is MKSUM_OK, `text` is the root as `mksum`
 * prints it; otherwise it is the reason why there is none, as one line. The text is valid until the function returns. A result
 * other than 0 ends mksum_hash_files. It must not throw an exception or leave by longjmp. */
typedef int mksum_each(void *context, size_t file, size_t format, mksum_status status, const char *text);

/* Hashes `paths_len` files in each of `formats_len` formats, all of which share one read of a file, and calls `each` on this
 * thread for every file and format, in their order. Files that are plain sums ("sha256") or single leaves are hashed side by
 * side in the lanes of each thread. `threads` is the number of threads, 0 for one a core. A file that has no root is told to
 * `each`, and the others go on: then the status is MKSUM_OK all the same. */
mksum_status mksum_hash_files(const char *const *formats, size_t formats_len, const char *const *paths, size_t paths_len,
                              unsigned threads, mksum_each *each, void *context);

#ifdef __cplusplus
}
#endif

#endif
