/* mksum_get.h - downloads that are verified while they come.
 *
 * Only a library that was built with FEATURES="--features get" has these functions.
 */
#ifndef MKSUM_GET_H
#define MKSUM_GET_H

#include <mksum.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Options of a download. Begin with MKSUM_GET_OPTIONS, and set those that are to differ; NULL in the place of a pointer to them is
 * MKSUM_GET_OPTIONS. Later versions will have more fields, which a program of today leaves as they are. */
typedef struct mksum_get_options {
    /* sizeof(mksum_get_options). */
    size_t size;
    /* The path or URL of the file's outboard, which need not be trusted; NULL for the one beside each mirror, URL.mkt. */
    const char *outboard;
    /* The requests that run at once, over all mirrors; 0 for 8. */
    unsigned connections;
    /* The bytes a second that are fetched at most; 0 for no limit. */
    uint64_t rate;
} mksum_get_options;

#define MKSUM_GET_OPTIONS {sizeof(mksum_get_options), NULL, 0, 0}

/* What became of a download, in bytes. */
typedef struct mksum_got {
    /* What came from the mirrors of the file, right and wrong. */
    uint64_t fetched;
    /* What an interrupted call had left, and was right. */
    uint64_t resumed;
    /* What was right in the file that was there before. */
    uint64_t reused;
    /* What came from mirrors, and was wrong: it was not written. */
    uint64_t wrong;
} mksum_got;

/* Fetches a file from `count` mirrors, 1 or more: URLs or paths of copies, which are not trusted. `root` is: a root or sum as `mksum`
 * prints or reads it, such as "rfc6962:sha256:64KiB:b218795c..." or "sha256:...".
 *
 * With an outboard, ranges are fetched from all mirrors at once, and each is compared with the root before it is written; one that is wrong
 * is fetched from another mirror. Without, the whole stream is hashed. The file has the name `path` when it is whole and on the disk. Until
 * then it is `path`.part, which the next call resumes; a wrong file at `path` is repaired, and if it is right, nothing is fetched.
 *
 * The progress of `options` counts bytes of the file that are right. `got`, which may be NULL, is written with MKSUM_OK and MKSUM_DAMAGED.
 *
 * MKSUM_DAMAGED if no mirror has the right bytes: mksum_error() has the reason for each, and what was right is kept. MKSUM_REFUSED if an
 * outboard is of another file, another process writes the file, or the disk has no room. MKSUM_BAD_ARGUMENT if `root` is none, and
 * MKSUM_BAD_FORMAT if it is that of a directory. */
mksum_status mksum_get(const char *const *urls, size_t count, const char *root, const char *path, const mksum_get_options *how,
                       mksum_got *got, const mksum_options *options);

#ifdef __cplusplus
}
#endif

#endif
