/* libmksum: digests and plain sums, Merkle roots, proofs, outboards, verified reads, node trees, catalogues of directories, and logs.
 *
 * Every function may be called from any thread. No function keeps a pointer after it returns, allocates memory for the caller
 * to free (but hashers and buffers on devices to free, and devices and verified files to close), or throws; a bug in the library
 * ends the process with a message on standard error. Strings are UTF-8 and end with a zero byte. Paths are bytes in the system's
 * encoding, on Windows UTF-8.
 *
 * Libraries that were built without a feature lack its functions: README.md, Size.
 *
 * Functions of the caller are called on the thread of the call, and before it returns. They must not throw an exception or leave by
 * longjmp.
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
    /* The leaves are not 2, 4, 8 ... digests, the nodes have another length, bytes are beyond the end of a buffer on a device, or a range
     * is empty or beyond the end of an outboard's file. */
    MKSUM_BAD_LENGTH = 3,
    /* There is no such device, or it cannot be used. */
    MKSUM_NO_DEVICE = 4,
    /* The device failed or has no memory for a buffer; the content of the nodes is undefined. */
    MKSUM_DEVICE_FAILED = 5,
    /* The format is unknown, does not allow its hash, leaf or salt, or cannot be hashed piece by piece. */
    MKSUM_BAD_FORMAT = 6,
    /* The format has no root for an input of this length. */
    MKSUM_NO_ROOT = 7,
    /* The file, its outboard or the stream cannot be read, or the file changed while it was read. */
    MKSUM_READ_FAILED = 8,
    /* The buffer is too small for the digest, the proof, or the text and its zero byte; nothing was written. */
    MKSUM_NO_ROOM = 9,
    /* There is no catalogue; or it is damaged, of another version, or cannot be read or written. */
    MKSUM_CATALOGUE_FAILED = 10,
    /* The hasher is finished. */
    MKSUM_FINISHED = 11,
    /* The function that is told the progress cancelled the call. */
    MKSUM_CANCELLED = 12,
    /* The proof is not valid, or is about another format, length or root; or there is no such proof. */
    MKSUM_BAD_PROOF = 13,
    /* Bytes of the file differ from its outboard, or are missing, appended or unreadable. */
    MKSUM_DAMAGED = 14,
    /* It is no outboard, or an unfinished or damaged one. */
    MKSUM_BAD_OUTBOARD = 15,
    /* A file cannot be written. */
    MKSUM_WRITE_FAILED = 16,
    /* Nothing was done, because it makes no sense for this file or would lose something: mksum_error() says what. */
    MKSUM_REFUSED = 17
} mksum_status;

/* The size of a buffer for the text of any root, including its zero byte. */
#define MKSUM_TEXT_MAX 192

/* The size of a buffer for the text of any format, including its zero byte. */
#define MKSUM_FORMAT_MAX 640

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
 * sm3 ripemd160, and the checksums crc32 crc32c crc64nvme xxh32 xxh64 xxh3 xxh128 quickxor. Hashes for node trees: blake3 sha1 sha224
 * sha256 sha384 sha512 sha512-224 sha512-256 sha3-224 sha3-256 sha3-384 sha3-512 keccak256. */
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

/* Appends `len` bytes. `bytes` may be NULL if `len` is 0. MKSUM_FINISHED if the hasher is finished. A buffer that `read` fills should begin
 * at a multiple of 64 bytes (aligned_alloc), which malloc's long blocks do not: on a Zen 3, `read` of 128 KiB runs at 2.2 GB/s at 16 modulo
 * 32, and at 7.5 GB/s at multiples of 32. */
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

/* Receives how far a call is: the bytes that are done, and those that there are in all, or 0 if that is not known: of streams, directories
 * and catalogues. A repair learns of more bytes as it goes on. It is called before the first byte is read, then about 40 times a second,
 * also while nothing can be read, and once more when all is done. A result other than 0 cancels the call, which returns MKSUM_CANCELLED as
 * soon as the reads that it is in have ended; after the last call, the result does not matter. To cancel from another thread or a signal
 * handler, return a flag that it sets. */
typedef int mksum_progress(void *context, uint64_t done, uint64_t all);

/* Options of the functions that read files and streams. Begin with MKSUM_OPTIONS, and set those that are to differ; NULL in the place of
 * a pointer to them is MKSUM_OPTIONS. Later versions will have more fields, which a program of today leaves as they are. */
typedef struct mksum_options {
    /* sizeof(mksum_options). */
    size_t size;
    /* The number of threads, 0 for one a core. */
    unsigned threads;
    /* NULL, or the function to be told the progress, with this context. */
    mksum_progress *progress;
    void *context;
} mksum_options;

#define MKSUM_OPTIONS {sizeof(mksum_options), 0, NULL, NULL}

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

/* As mksum_merklize, on an open device. Several threads may use one device at the same time. After MKSUM_DEVICE_FAILED, close it. A device
 * that shares the host's memory copies nothing if `leaves` and `nodes` both begin at a multiple of 4096 bytes (aligned_alloc). */
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

/* As mksum_root_of_bytes, on all cores of the CPU, or as many threads as the options say. A single leaf, such as a plain sum, takes one
 * thread. Up to 4 MiB take one too: a second would cost more than it saves. */
mksum_status mksum_root_of_memory(const char *format, const uint8_t *bytes, size_t len, const mksum_options *options, char *text,
                                  size_t room);

/* As mksum_root_of_bytes, for a file, read and hashed on all cores. With any status but MKSUM_OK, nothing is written to `text`. */
mksum_status mksum_root_of_file(const char *format, const char *path, const mksum_options *options, char *text, size_t room);

/* Writes up to `room` bytes, at least 1 unless the stream has ended, to `buffer`, and returns their number: 0 at the end of the stream,
 * less than 0 if it cannot be read. */
typedef ptrdiff_t mksum_read(void *context, uint8_t *buffer, size_t room);

/* As mksum_root_of_file, of the bytes that `read` has, in order, to their end: a pipe, a socket, an archive. `read` is called on the thread
 * of the call, and others hash. Formats whose tree depends on the number of bytes, such as "mtsum", are MKSUM_NO_ROOT. */
mksum_status mksum_root_of_stream(const char *format, mksum_read *read, void *context, const mksum_options *options, char *text,
                                  size_t room);

/* As mksum_root_of_file, of a directory, in a format of directories, for example "dir" or "dir+mode:sha256" (spec/directory.md):
 * over the names, types and contents of all that is in it. If something in it cannot be read, there is no root. */
mksum_status mksum_root_of_directory(const char *format, const char *path, const mksum_options *options, char *text, size_t room);

/* Receives the result of a file in a format; both are counted from 0. If `status` is MKSUM_OK, `text` is the root as `mksum`
 * prints it; otherwise it is the reason why there is none, as one line. The text is valid until the function returns. A result
 * other than 0 ends mksum_hash_files. */
typedef int mksum_each(void *context, size_t file, size_t format, mksum_status status, const char *text);

/* Hashes `paths_len` files in each of `formats_len` formats, all of which share one read of a file, and calls `each` for every file and
 * format, in their order. Files that are plain sums ("sha256") or single leaves are hashed side by side in the lanes of each thread. A
 * file that has no root is told to `each`, and the others go on: then the status is MKSUM_OK all the same. */
mksum_status mksum_hash_files(const char *const *formats, size_t formats_len, const char *const *paths, size_t paths_len,
                              const mksum_options *options, mksum_each *each, void *context);

/* A proof shows that bytes lie in an input whose root is known, or that an input begins with an older one (RFC 9162, 2.1.3 and 2.1.4), by
 * O(log n) digests. It has the bytes of `mksum prove` (spec/proofs.md), and `mksum check-proof` checks it too.
 *
 * The functions that make one write it to `proof`, a buffer of `room` bytes, and its length to `*proof_len`. With MKSUM_NO_ROOM, the buffer
 * is too small, `*proof_len` is the length that the proof will have, and nothing has been read or hashed yet: so call first with `proof`
 * NULL and `room` 0, allocate, and call again. With any other status, `*proof_len` does not matter. */

/* In the place of a length that is not known; in the place of the end of a range, the end of the file. */
#define MKSUM_UNKNOWN UINT64_MAX

/* Makes a proof that the bytes `start` to `end`, without the last, lie in the input of `len` bytes. All of it is hashed. MKSUM_BAD_PROOF if
 * the range is empty or not within it. */
mksum_status mksum_prove(const char *format, const uint8_t *bytes, size_t len, uint64_t start, uint64_t end, uint8_t *proof, size_t room,
                         size_t *proof_len);

/* Makes a proof that the input of `len` bytes begins with its first `old` bytes as they were before it grew. MKSUM_BAD_PROOF if `old` is 0
 * or more than `len`, or the format has no such proofs ("mtsum"). */
mksum_status mksum_prove_consistency(const char *format, const uint8_t *bytes, size_t len, uint64_t old, uint8_t *proof, size_t room,
                                     size_t *proof_len);

/* As mksum_prove, about a file, all of which is read; mksum_outboard_prove reads some kilobytes. */
mksum_status mksum_prove_file(const char *format, const char *path, uint64_t start, uint64_t end, const mksum_options *options,
                              uint8_t *proof, size_t room, size_t *proof_len);

/* As mksum_prove_consistency, about a file, all of which is read. */
mksum_status mksum_prove_file_consistency(const char *format, const char *path, uint64_t old, const mksum_options *options,
                                          uint8_t *proof, size_t room, size_t *proof_len);

/* What a proof claims. */
typedef struct mksum_proof_info {
    char format[MKSUM_FORMAT_MAX];
    /* The length of the input, in bytes. */
    uint64_t length;
    /* The bytes that are claimed to lie in it, `start` to `end` without the last; in a consistency proof, those of the older input. */
    uint64_t start;
    uint64_t end;
    /* 1 for a proof of mksum_prove_consistency, 0 for one of mksum_prove. */
    int is_consistency;
} mksum_proof_info;

/* Reads what a proof claims, so that these bytes can be fetched. Nothing is checked: a proof may claim anything. MKSUM_BAD_PROOF if it is
 * none. */
mksum_status mksum_proof_read(const uint8_t *proof, size_t proof_len, mksum_proof_info *info);

/* Checks that `len` bytes lie in the input with the root `root`, a text as `mksum` prints it, in this format, and writes the offset of the
 * first of them to `*start`. Nothing in the proof is trusted: MKSUM_BAD_PROOF for anything but a proof of exactly these bytes.
 *
 * `length` is the length of the input, from where its root is known; or MKSUM_UNKNOWN, and then most formats prove less: that the bytes lie
 * somewhere in the input, and not where, nor how long it is. */
mksum_status mksum_check_proof(const uint8_t *proof, size_t proof_len, const char *format, const char *root, uint64_t length,
                               const uint8_t *bytes, size_t len, uint64_t *start);

/* Checks that the input with the root `new_root` begins with the one with the root `old_root`; lengths are as in mksum_check_proof. */
mksum_status mksum_check_consistency(const uint8_t *proof, size_t proof_len, const char *format, const char *old_root,
                                     uint64_t old_length, const char *new_root, uint64_t new_length);

/* An outboard holds the digests of a file's tree, so that damage is found to within a unit of it, repaired and proven (spec/outboard.md).
 * It is the one of the commands `mksum keep`, `verify`, `repair` and `prove`. The functions below open it and close it; `outboard` is its
 * path, or NULL for the path of the file with ".mkt" behind it. It proves as much as its root: compare that with one that you trust. */

/* What happens if a file has the size, mtime and inode that it had when its outboard was written, but other bytes. */
typedef enum mksum_changes {
    /* It is MKSUM_DAMAGED, and the outboard stays, since it is the evidence. */
    MKSUM_REFUSE_CHANGES = 0,
    /* The bytes were changed on purpose, and the outboard is replaced. */
    MKSUM_ACCEPT_CHANGES = 1
} mksum_changes;

/* Hashes a file and writes its outboard, which appears when all is done. A call that was cancelled, or a process that was killed, is
 * resumed by the next call. `format` may be NULL for "rfc6962". `unit` is the length of the longest subtrees whose digests are kept, in
 * bytes, rounded down to one that the format has; if it is 0, the outboard takes about 0.1 % of the file or less. MKSUM_REFUSED if a file
 * that is no outboard would be replaced. */
mksum_status mksum_outboard_keep(const char *path, const char *outboard, const char *format, uint64_t unit, mksum_changes changes,
                                 const mksum_options *options);

/* What an outboard says about its file. */
typedef struct mksum_outboard_info {
    /* The root of the file when the outboard was written, as `mksum` prints it. */
    char root[MKSUM_TEXT_MAX];
    char format[MKSUM_FORMAT_MAX];
    /* The length of the file when the outboard was written, and of a unit, in bytes. */
    uint64_t length;
    uint64_t unit;
    /* 1 if the file has the size, mtime and inode that it had then, otherwise 0. It was not read. */
    int is_unchanged;
} mksum_outboard_info;

/* Reads what an outboard says about the file at `path`, which need not be there. */
mksum_status mksum_outboard_read(const char *path, const char *outboard, mksum_outboard_info *info);

/* What was found about a range of a file. */
typedef enum mksum_range {
    /* Its bytes differ from the outboard. */
    MKSUM_RANGE_DAMAGED = 0,
    /* It is missing at the end of the file. */
    MKSUM_RANGE_MISSING = 1,
    /* It was appended to the file. */
    MKSUM_RANGE_GROWN = 2,
    /* The disk cannot read some of its bytes. */
    MKSUM_RANGE_UNREADABLE = 3,
    /* The outboard's digest over it is damaged. This says nothing about its bytes. */
    MKSUM_RANGE_OUTBOARD = 4,
    /* It has other bytes than before. */
    MKSUM_RANGE_CHANGED = 5,
    /* It was damaged, and is repaired. */
    MKSUM_RANGE_REPAIRED = 6,
    /* It is still damaged. */
    MKSUM_RANGE_NOT_REPAIRED = 7
} mksum_range;

/* Receives a range of a file: the bytes `start` to `end`, without the last. A result other than 0 ends the call, and the function is not
 * called again. */
typedef int mksum_each_range(void *context, mksum_range range, uint64_t start, uint64_t end);

/* Compares the bytes `start` to `end` of a file with its outboard: 0 and MKSUM_UNKNOWN are all. Only units that have one of them are read.
 * `each`, which may be NULL, receives what differs, left to right: damaged, missing, grown, unreadable, outboard. MKSUM_OK if nothing
 * does; MKSUM_DAMAGED if bytes of the file do; MKSUM_BAD_OUTBOARD if only digests of the outboard do. Grown is only told for all. */
mksum_status mksum_outboard_verify(const char *path, const char *outboard, uint64_t start, uint64_t end, const mksum_options *options,
                                   mksum_each_range *each, void *context);

/* Options of mksum_outboard_update. Begin with MKSUM_UPDATE_OPTIONS, and set those that are to differ; NULL in the place of a pointer to
 * them is MKSUM_UPDATE_OPTIONS. Later versions will have more fields, which a program of today leaves as they are. */
typedef struct mksum_update_options {
    /* sizeof(mksum_update_options). */
    size_t size;
    /* The path of the outboard; NULL for the path of the file with ".mkt" behind it. */
    const char *outboard;
    /* The ranges that were written to, and their number: range i is from ranges[2 i] to ranges[2 i + 1]. Without any, the change
     * was at the end of the file. */
    const uint64_t *ranges;
    size_t ranges_len;
    mksum_changes changes;
    /* NULL, or the function that receives the changed units, with this context. */
    mksum_each_range *each;
    void *context;
} mksum_update_options;

#define MKSUM_UPDATE_OPTIONS {sizeof(mksum_update_options), NULL, NULL, 0, MKSUM_REFUSE_CHANGES, NULL, NULL}

/* Brings an outboard up to date after a change of its file, and reads only what changed: the ranges in `how`, or if there are none, the
 * bytes that were appended or removed at the end. All other bytes must be as they were, which is not checked: after any other change, call
 * mksum_outboard_keep. */
mksum_status mksum_outboard_update(const char *path, const mksum_update_options *how, const mksum_options *options);

/* Repairs a file: reads the ranges that its outboard finds damaged from `copy`, another file, and nothing else of that. Each unit is
 * checked before it is written, so no byte gets worse, even if the process is killed; at the end the file is read again. `each`, which
 * may be NULL, receives what was repaired and what was not. MKSUM_OK if the file has the root of its outboard now; MKSUM_DAMAGED if not. */
mksum_status mksum_outboard_repair(const char *path, const char *outboard, const char *copy, const mksum_options *options,
                                   mksum_each_range *each, void *context);

/* As mksum_prove, about a file, from its outboard: reads O(log n) digests and the leaves at the edges of the range. MKSUM_READ_FAILED if
 * the file has another size, mtime or inode than when the outboard was written. */
mksum_status mksum_outboard_prove(const char *path, const char *outboard, uint64_t start, uint64_t end, uint8_t *proof, size_t room,
                                  size_t *proof_len);

/* As mksum_outboard_prove, that the file begins with its first `old` bytes as they were before it grew. */
mksum_status mksum_outboard_prove_consistency(const char *path, const char *outboard, uint64_t old, uint8_t *proof, size_t room,
                                              size_t *proof_len);

/* Finds the ranges in which the files of two outboards, `left` and `right`, in the same format, differ, and reads neither file. `each`
 * receives them as changed. */
mksum_status mksum_outboard_diff(const char *left, const char *right, mksum_each_range *each, void *context);

/* A file that is open, and of which only verified bytes are read. */
typedef struct mksum_verified mksum_verified;

/* Options of mksum_verified_open. Begin with MKSUM_VERIFIED_OPTIONS, and set those that are to differ; NULL in the place of a pointer to
 * them is MKSUM_VERIFIED_OPTIONS. Later versions will have more fields, which a program of today leaves as they are. */
typedef struct mksum_verified_options {
    /* sizeof(mksum_verified_options). */
    size_t size;
    /* The path of the outboard, which need not be trusted; NULL for the path of the file with ".mkt" behind it, of a URL for the last part of
     * it in the current directory. */
    const char *outboard;
    /* The length of the file in bytes, if it is trusted too, or MKSUM_UNKNOWN. The roots of "glacier" and "btv2" do not tell it, so that it
     * is needed there. */
    uint64_t length;
    /* Copies, which need not be trusted, and their number. They are asked in this order for what is damaged or cannot be read. */
    const char *const *replicas;
    size_t replicas_len;
} mksum_verified_options;

#define MKSUM_VERIFIED_OPTIONS {sizeof(mksum_verified_options), NULL, MKSUM_UNKNOWN, NULL, 0}

/* Opens a file and its outboard, and writes the open file to `*verified`, or NULL if it fails. Only mksum_verified_close releases it.
 * `root` is trusted: a root as `mksum` prints or reads it, such as "rfc6962:sha256:64KiB:b218795c...". Of `options`, the reads that follow
 * have the threads. In a library that was built with FEATURES="--features get", each place may also be a URL.
 *
 * MKSUM_REFUSED if the outboard has another root, or the file another length. MKSUM_BAD_ARGUMENT if `root` is none. */
mksum_status mksum_verified_open(const char *path, const char *root, const mksum_verified_options *how, const mksum_options *options,
                                 mksum_verified **verified);

/* Returns the length of an open file in bytes; 0 of NULL. */
uint64_t mksum_verified_length(const mksum_verified *verified);

/* Reads the bytes from `offset` on into `buffer`, as many as the `room` bytes that it has, fewer only at the end of the file, and writes
 * their number to `*len`: 0 behind the end. The bytes are the ones that were hashed; they are not read again after that. Each unit of the
 * outboard that has one of them is read and hashed as a whole, or taken from the up to 32 MiB of verified units that are kept in memory;
 * long reads are hashed on all cores. Any number of threads may read one file at once, each into a buffer that no other thread uses before
 * the call returns: bytes are verified where they lie.
 *
 * MKSUM_DAMAGED if a unit is damaged and no replica has it: mksum_error() has the path, the range, and the digests that were expected and
 * found. MKSUM_BAD_OUTBOARD if its digests do not lead up to the root. MKSUM_READ_FAILED if the file cannot be read, or has another length
 * or another file in its place since it was opened, and no replica helps. With any status but MKSUM_OK, `*len` is 0, and nothing in
 * `buffer` is meant to be used. */
mksum_status mksum_verified_read(const mksum_verified *verified, uint64_t offset, uint8_t *buffer, size_t room, size_t *len);

/* Closes a file, which no thread may use any more. Does nothing with NULL. */
void mksum_verified_close(mksum_verified *verified);

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
 * written to the catalogue until then stays. It must not use the same catalogue. */
typedef int mksum_each_entry(void *context, const mksum_entry *entry);

/* Makes the catalogue of a directory, or brings the one that is there up to date: files that are new or changed, or lack a root in
 * one of the formats, are read side by side. `formats` are added to those of the catalogue; if
 * `formats_len` is 0, a new catalogue has "rfc6962". `each` receives what was new, changed, touched, moved or gone, and those whose
 * rows were left as they were: damaged, busy, unreadable. These are not failures: the status is MKSUM_OK. A call that was ended, or
 * a process that was killed, is resumed by the next call. */
mksum_status mksum_catalogue_keep(const char *directory, const char *catalogue, const char *const *formats, size_t formats_len,
                                  const mksum_options *options, mksum_each_entry *each, void *context);

/* Finds what differs between a directory and its catalogue, without reading files: new, incomplete, changed, moved, gone, unreadable.
 * `each` receives them by the bytes of their paths. */
mksum_status mksum_catalogue_status(const char *directory, const char *catalogue, mksum_each_entry *each, void *context);

/* As mksum_catalogue_keep, of a catalogue that is there, with its formats. */
mksum_status mksum_catalogue_update(const char *directory, const char *catalogue, const mksum_options *options,
                                    mksum_each_entry *each, void *context);

/* Compares the content of the files with the roots in the catalogue; what was not verified for longest comes first, and the catalogue
 * remembers what was found intact, and when. `seconds` ends it after that time, and `share` after that share of all bytes, 0.0 to 1.0;
 * the next call goes on from there. One of them must be 0; if both are, all is verified. `each` receives every file that was looked
 * at: intact, damaged, damaged tree, busy, unreadable; and what is not verified: changed, new, gone. It fails if there was no file to
 * verify. */
mksum_status mksum_catalogue_verify(const char *directory, const char *catalogue, double seconds, double share,
                                    const mksum_options *options, mksum_each_entry *each, void *context);

/* Repairs the damaged files of a directory from the files at the same paths in the directory `copy`. Only damaged ranges are read of
 * the copies of files that have a kept tree, and all of others; nothing is written that does not have the roots in the catalogue. `each`
 * receives every file: intact, repaired, not repaired, changed, gone. */
mksum_status mksum_catalogue_repair(const char *directory, const char *catalogue, const char *copy,
                                    const mksum_options *options, mksum_each_entry *each, void *context);

/* Compares two catalogues: each of `left` and `right` is the path of a catalogue, or of a directory that has one in .mksum. Only what
 * differs is read of them, if they have the same formats. `each` receives what is changed or incomparable, by path, then what is added or
 * moved, then what is removed. Directories count as entries here. */
mksum_status mksum_catalogue_diff(const char *left, const char *right, mksum_each_entry *each, void *context);

/* A log is a folder of files to which entries are appended, each of at most 65,535 bytes, and which proves them to others (spec/log.md).
 * `mksum log` writes and reads the same folders, and any web server can serve one: .mksum, with the secret key, is not for others.
 *
 * A proof is text: a .tlog-proof file, or what `mksum log prove --from` prints. The functions that make one write it to `proof`, a buffer of
 * `room` bytes, and its length to `*proof_len`. With MKSUM_NO_ROOM, the buffer is too small: allocate `*proof_len` bytes and call again, once
 * more if the log has grown meanwhile.
 *
 * `trusted` says who must have signed: the public key of the log, NAME+ID+KEY as mksum_log_create writes it, or the text of a policy with
 * logs and witnesses (C2SP tlog-policy). */

/* Makes an empty log in a new or empty folder, and writes its public key to `key`, a buffer of `room` bytes. `origin` names the log: mostly
 * the URL where it will be served, without https://. The key has 55 bytes more than the origin, with its zero byte. MKSUM_REFUSED if the
 * folder has files, or the origin has spaces or a plus sign. */
mksum_status mksum_log_create(const char *directory, const char *origin, char *key, size_t room);

/* Appends `count` entries, and signs and publishes a checkpoint of them: with MKSUM_OK they are on the disk and in the log for good, from
 * the index `*first` on. Otherwise none of them is. MKSUM_REFUSED if an entry is too long, another process writes to the log, or the folder
 * is not as it was when it was last signed, as after it was restored from a backup. */
mksum_status mksum_log_append(const char *directory, const uint8_t *const *entries, const size_t *lens, size_t count, uint64_t *first);

/* Makes a proof that the entry at `index` is in the log. MKSUM_REFUSED if there is none. */
mksum_status mksum_log_prove(const char *directory, uint64_t index, uint8_t *proof, size_t room, size_t *proof_len);

/* Makes a proof that the log has only grown since it had `old` entries. MKSUM_REFUSED if it has fewer. */
mksum_status mksum_log_prove_consistency(const char *directory, uint64_t old, uint8_t *proof, size_t room, size_t *proof_len);

/* Checks that an entry is in a log that is signed as `trusted` asks for, and writes its index to `*index`. Nothing in the proof is trusted:
 * MKSUM_BAD_PROOF for anything but a proof of this entry. */
mksum_status mksum_log_check(const uint8_t *proof, size_t proof_len, const char *trusted, const uint8_t *entry, size_t entry_len,
                             uint64_t *index);

/* Checks that a log has only grown since the checkpoint `old`, the bytes of its file `checkpoint` then, and writes the number of its
 * entries to `*size`. Both checkpoints must be signed as `trusted` asks for. */
mksum_status mksum_log_check_consistency(const uint8_t *proof, size_t proof_len, const char *trusted, const uint8_t *old, size_t old_len,
                                         uint64_t *size);

#ifdef __cplusplus
}
#endif

#endif
