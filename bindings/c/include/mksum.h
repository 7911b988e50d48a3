/* libmksum: digests and plain sums, Merkle roots, node trees and catalogues of directories.
 *
 * Every function may be called from any thread. No function keeps a pointer after it returns, allocates memory for the caller
 * to free (but hashers and buffers on devices to free, and devices to close), or throws; a bug in the library ends the process
 * with a message on standard error. Strings are UTF-8 and end with a zero byte. Paths are bytes in the system's encoding.
 */
#ifndef MKSUM_H
#define MKSUM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header; mksum_version() is that of the library. */
#define MKSUM_VERSION "0.1.0"
#define MKSUM_VERSION_MAJOR 0
#define MKSUM_VERSION_MINOR 1
#define MKSUM_VERSION_PATCH 0

/* The result of a call. For any status other than MKSUM_OK, mksum_error() returns the reason. */
typedef enum mksum_status {
    MKSUM_OK = 0,
    /* A pointer is NULL, buffers overlap or are of another device, or a string is not UTF-8. */
    MKSUM_BAD_ARGUMENT = 1,
    /* The hash is not available for node trees. */
    MKSUM_BAD_HASH = 2,
    /* The leaves are not 2, 4, 8 ... digests, the nodes have another length, or bytes are beyond the end of a buffer on a device. */
    MKSUM_BAD_LENGTH = 3,
    /* There is no such device, or it cannot be used. */
    MKSUM_NO_DEVICE = 4,
    /* The device failed or has no memory for a buffer; the content of the nodes is undefined. */
    MKSUM_DEVICE_FAILED = 5,
    /* The format is unknown, does not allow its hash, leaf or salt, or cannot be hashed piece by piece. */
    MKSUM_BAD_FORMAT = 6,
    /* The format has no root for an input of this length. */
    MKSUM_NO_ROOT = 7,
    /* The file cannot be read, or changed while it was read. */
    MKSUM_READ_FAILED = 8,
    /* The buffer is too small for the digest, or for the text and its zero byte; nothing was written. */
    MKSUM_NO_ROOM = 9,
    /* There is no catalogue; or it is damaged, of another version, or cannot be read or written. */
    MKSUM_CATALOGUE_FAILED = 10,
    /* The hasher is finished. */
    MKSUM_FINISHED = 11
} mksum_status;

/* The size of a buffer for the text of any root, including its zero byte. */
#define MKSUM_TEXT_MAX 192

/* Returns the library's version, for example "0.1.0". Never NULL. */
const char *mksum_version(void);

/* Returns the reason why the last failed call on this thread failed, as one line without a newline; "" if no call failed.
 * Never NULL; valid until the next call on this thread. */
const char *mksum_error(void);

/* The size of a buffer for any digest, in bytes. */
#define MKSUM_DIGEST_MAX 64

/* Returns the size in bytes of the digests of a format, 4 to 64, or of a hash for node trees; 0 if `name` is NULL or neither.
 *
 * Formats are written as on the command line, `NAME[:HASH][:LEAF][:salt=HEX]`, and `mksum formats` lists them: "rfc6962:sha256:64KiB",
 * "blake3". Among them are the hashes md5 sha1 sha224 sha256 sha384 sha512 sha512-256 sha3-224 sha3-256 sha3-384 sha3-512 blake2b blake2s
 * sm3, and the CRCs crc32 crc32c crc64nvme. Hashes for node trees: blake3 sha1 sha224 sha256 sha384 sha512 sha512-224 sha512-256 sha3-224
 * sha3-256 sha3-384 sha3-512 keccak256. */
size_t mksum_digest_size(const char *name);

/* Writes the digest of `len` bytes in a format, mksum_digest_size(format) bytes, to `digest`, a buffer of `room` bytes, which may be
 * larger and must not overlap `bytes`. MKSUM_DIGEST_MAX bytes are always enough. A CRC has its most significant byte first. The number of
 * parts that `s3` shows is only in texts. `bytes` may be NULL if `len` is 0. */
mksum_status mksum_digest(const char *format, const uint8_t *bytes, size_t len, uint8_t *digest, size_t room);

/* Hashes bytes of unknown number in a format. A hasher holds back at most 256 KiB of them, and 16 KiB for a hash such as "sha256". One
 * thread at a time may use it; different hashers do not affect each other. */
typedef struct mksum_hasher mksum_hasher;

/* Makes a hasher of a format before the first byte, and writes it to `*hasher`, or NULL if it fails. Only mksum_hasher_free releases it.
 * Formats whose tree depends on the number of bytes, such as "mtsum", are MKSUM_BAD_FORMAT. */
mksum_status mksum_hasher_new(const char *format, mksum_hasher **hasher);

/* Makes a second hasher of the same bytes so far, for example to finish it while the first goes on. `*clone` is as in mksum_hasher_new.
 * The clone of a finished hasher is finished. */
mksum_status mksum_hasher_clone(const mksum_hasher *hasher, mksum_hasher **clone);

/* Appends `len` bytes. `bytes` may be NULL if `len` is 0. MKSUM_FINISHED if the hasher is finished. */
mksum_status mksum_hasher_update(mksum_hasher *hasher, const uint8_t *bytes, size_t len);

/* Finishes the hasher and writes the digest as mksum_digest does. From then on, all but mksum_hasher_reset, _clone and _free are
 * MKSUM_FINISHED. If it fails, nothing is written and the hasher is as it was: with MKSUM_NO_ROOT, the format has no root for so many
 * bytes, but may have one for more. */
mksum_status mksum_hasher_finish(mksum_hasher *hasher, uint8_t *digest, size_t room);

/* As mksum_hasher_finish, but writes text as mksum_root_of_bytes does. */
mksum_status mksum_hasher_finish_text(mksum_hasher *hasher, char *text, size_t room);

/* Takes the hasher, finished or not, back to before the first byte. It costs less than a new one: the format is not read again. */
mksum_status mksum_hasher_reset(mksum_hasher *hasher);

/* Frees a hasher, which no thread may use any more. Does nothing with NULL. */
void mksum_hasher_free(mksum_hasher *hasher);

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

/* An open device. It keeps its programs, queues and memory from tree to tree, which mksum_merklize_on makes anew in each call. */
typedef struct mksum_device mksum_device;

/* Opens a device, named and with `threads` as for mksum_merklize_on, and writes it to `*device`, or NULL if it fails. Only
 * mksum_device_close releases it. */
mksum_status mksum_device_open(const char *name, unsigned threads, mksum_device **device);

/* As mksum_merklize, on an open device. Several threads may use one device at the same time. After MKSUM_DEVICE_FAILED, close it. */
mksum_status mksum_device_merklize(mksum_device *device, const char *hash, const uint8_t *leaves, size_t leaves_len,
                                   uint8_t *nodes, size_t nodes_len);

/* Closes a device, which no thread may use any more. Does nothing with NULL. */
void mksum_device_close(mksum_device *device);

/* A device that OpenCL or CUDA has. Its texts are UTF-8, end with a zero byte, and are cut if they are longer. */
typedef struct mksum_device_info {
    char name[128];
    /* "OpenCL" or "CUDA". */
    char api[16];
    /* Its memory, in bytes. */
    uint64_t memory;
} mksum_device_info;

/* Lists the devices, as `mksum devices` does: mksum_device_open opens the first as "0", the second as "1". Writes the first `room` of
 * them to `devices`, and the number of all to `*count`: 0 if neither OpenCL nor CUDA is installed, or has a device. `devices` may be
 * NULL if `room` is 0. The CPU, "cpu", is not in the list. */
mksum_status mksum_devices(mksum_device_info *devices, size_t room, size_t *count);

/* Memory of an open device, so that leaves that are there already and nodes that are needed there do not cross to the host. Several
 * threads may read a buffer, and take leaves from it, at the same time, but not while another changes it. */
typedef struct mksum_device_buffer mksum_device_buffer;

/* Allocates `len` bytes on a device and writes the buffer to `*buffer`, or NULL if it fails. Their values are not specified. The CPU's
 * buffers are memory of the host. Only mksum_device_buffer_free releases it, before or after its device is closed. */
mksum_status mksum_device_buffer_new(mksum_device *device, size_t len, mksum_device_buffer **buffer);

/* Writes `len` bytes to a buffer, from its byte `at` on, and returns when they are there. MKSUM_BAD_LENGTH if they do not fit, and then
 * nothing is written. `bytes` may be NULL if `len` is 0. */
mksum_status mksum_device_buffer_write(mksum_device_buffer *buffer, size_t at, const uint8_t *bytes, size_t len);

/* Reads `len` bytes from a buffer, from its byte `at` on. MKSUM_BAD_LENGTH if it has fewer, and then nothing is read. `bytes` may be
 * NULL if `len` is 0. */
mksum_status mksum_device_buffer_read(const mksum_device_buffer *buffer, size_t at, uint8_t *bytes, size_t len);

/* Computes all nodes over all of `leaves` into `nodes`, another buffer of the same length and device: in the order of mksum_merklize. */
mksum_status mksum_device_buffer_merklize(mksum_device *device, const char *hash, const mksum_device_buffer *leaves,
                                          mksum_device_buffer *nodes);

/* Frees a buffer, which no thread may use any more. Does nothing with NULL. */
void mksum_device_buffer_free(mksum_device_buffer *buffer);

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

/* A catalogue of a directory has the roots of all files in it, and the size, time and inode that each had (spec/catalogue.md). It is
 * the one of the commands `mksum keep -r`, `status`, `update`, `verify -r`, `repair -r` and `diff`. The functions below open it and
 * close it; `catalogue` is its path, or NULL for .mksum/catalogue in the directory. One process writes to it at a time, and others
 * wait for its end; calls on several threads do too. */

/* What was found about an entry. */
typedef enum mksum_state {
    /* It is in the directory and not in the catalogue. From keep and update: it was read, and is in the catalogue now. */
    MKSUM_ENTRY_NEW = 0,
    /* It has no root yet in some format of the catalogue: update reads it. */
    MKSUM_ENTRY_INCOMPLETE = 1,
    /* It has another size, time or inode, or from diff another content. From keep and update: it was read again. Verify and repair
     * leave it alone. */
    MKSUM_ENTRY_CHANGED = 2,
    /* It was read again, and has the content that it had. */
    MKSUM_ENTRY_TOUCHED = 3,
    /* It was at the path `from` before, and has the same content. */
    MKSUM_ENTRY_MOVED = 4,
    /* It is in the catalogue and not in the directory. From keep and update: it is not in the catalogue any more. */
    MKSUM_ENTRY_GONE = 5,
    /* Its content was read and has the roots that it had; in verify, `bytes` were verified in this call. */
    MKSUM_ENTRY_INTACT = 6,
    /* Its content differs although its size, time and inode show no change: in `ranges`, or somewhere if there are none. */
    MKSUM_ENTRY_DAMAGED = 7,
    /* Its kept tree is damaged or gone, and update makes it again. Another report tells how the file is. */
    MKSUM_ENTRY_DAMAGED_TREE = 8,
    /* It was changed while it was read; `reason` says how. */
    MKSUM_ENTRY_BUSY = 9,
    /* The file, or the directory with all in it, cannot be read, for this `reason`. */
    MKSUM_ENTRY_UNREADABLE = 10,
    /* `ranges` of it were written, of `bytes` that were fetched, and it is intact now. */
    MKSUM_ENTRY_REPAIRED = 11,
    /* It is still damaged, for this `reason`. */
    MKSUM_ENTRY_NOT_REPAIRED = 12,
    /* Only the right catalogue has it. */
    MKSUM_ENTRY_ADDED = 13,
    /* Only the left catalogue has it. */
    MKSUM_ENTRY_REMOVED = 14,
    /* Both catalogues have it, but no root of it in the same format. */
    MKSUM_ENTRY_INCOMPARABLE = 15
} mksum_state;

/* An entry of a directory: a file or a symbolic link. All pointers are valid until the function that received it returns. */
typedef struct mksum_entry {
    mksum_state state;
    /* The path below the directory, with a slash between names: any bytes but zero. `path_len` of them, and a zero byte. */
    const char *path;
    size_t path_len;
    /* The path before it was moved, like `path`; otherwise NULL and 0. */
    const char *from;
    size_t from_len;
    /* Why it is in this state, as one line of UTF-8; NULL where the state says all. */
    const char *reason;
    /* The bytes that were verified or fetched; otherwise 0. */
    uint64_t bytes;
    /* The damaged or repaired ranges, in ascending order: range i has the bytes from ranges[2 i] to ranges[2 i + 1], without the last.
     * NULL if `ranges_len`, their number, is 0. */
    const uint64_t *ranges;
    size_t ranges_len;
} mksum_entry;

/* Receives an entry. A result other than 0 ends the call, which returns MKSUM_OK; the function is not called again, and what was
 * written to the catalogue until then stays. It is called on the thread of the call. It must not throw an exception, leave by longjmp,
 * or use the same catalogue. */
typedef int mksum_each_entry(void *context, const mksum_entry *entry);

/* Makes the catalogue of a directory, or brings the one that is there up to date: files that are new or changed, or lack a root in
 * one of the formats, are read side by side in `threads` threads, 0 for one a core. `formats` are added to those of the catalogue; if
 * `formats_len` is 0, a new catalogue has "rfc6962". `each` receives what was new, changed, touched, moved or gone, and those whose
 * rows were left as they were: damaged, busy, unreadable. These are not failures: the status is MKSUM_OK. A call that was ended, or
 * a process that was killed, is resumed by the next call. */
mksum_status mksum_catalogue_keep(const char *directory, const char *catalogue, const char *const *formats, size_t formats_len,
                                  unsigned threads, mksum_each_entry *each, void *context);

/* Finds what differs between a directory and its catalogue, without reading files: new, incomplete, changed, moved, gone, unreadable.
 * `each` receives them by the bytes of their paths. */
mksum_status mksum_catalogue_status(const char *directory, const char *catalogue, mksum_each_entry *each, void *context);

/* As mksum_catalogue_keep, of a catalogue that is there, with its formats. */
mksum_status mksum_catalogue_update(const char *directory, const char *catalogue, unsigned threads, mksum_each_entry *each,
                                    void *context);

/* Compares the content of the files with the roots in the catalogue; what was not verified for longest comes first, and the catalogue
 * remembers what was found intact, and when. `seconds` ends it after that time, and `share` after that share of all bytes, 0.0 to 1.0;
 * the next call goes on from there. One of them must be 0; if both are, all is verified. `each` receives every file that was looked
 * at: intact, damaged, damaged tree, busy, unreadable; and what is not verified: changed, new, gone. */
mksum_status mksum_catalogue_verify(const char *directory, const char *catalogue, double seconds, double share, unsigned threads,
                                    mksum_each_entry *each, void *context);

/* Repairs the damaged files of a directory from the files at the same paths in the directory `copy`. Only damaged ranges are read of
 * the copies of files that have a kept tree, and all of others; nothing is written that does not have the roots in the catalogue. `each`
 * receives every file: intact, repaired, not repaired, changed, gone. */
mksum_status mksum_catalogue_repair(const char *directory, const char *catalogue, const char *copy, unsigned threads,
                                    mksum_each_entry *each, void *context);

/* Compares two catalogues: each of `left` and `right` is the path of a catalogue, or of a directory that has one in .mksum. Only what
 * differs is read of them, if they have the same formats. `each` receives what is changed or incomparable, by path, then what is added or
 * moved, then what is removed. Directories count as entries here. */
mksum_status mksum_catalogue_diff(const char *left, const char *right, mksum_each_entry *each, void *context);

#ifdef __cplusplus
}
#endif

#endif
