/* The digests of equal messages by isa-l_crypto's multi-buffer managers. */
#include <md5_mb.h>
#include <sha1_mb.h>
#include <sha256_mb.h>
#include <sha512_mb.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096 };

#define DIGESTS(name, NAME, words, word)                                                                               \
    int peer_##name(const uint8_t *base, uint32_t len, size_t stride, size_t count, uint8_t *out)                     \
    {                                                                                                                  \
        static ISAL_##NAME##_HASH_CTX_MGR *mgr;                                                                        \
        static ISAL_##NAME##_HASH_CTX *ctx;                                                                            \
        if (count > MOST) return 1;                                                                                    \
        if (!mgr) {                                                                                                    \
            if (posix_memalign((void **) &mgr, 64, sizeof *mgr)) return 1;                                             \
            if (posix_memalign((void **) &ctx, 64, MOST * sizeof *ctx)) return 1;                                      \
        }                                                                                                              \
        if (isal_##name##_ctx_mgr_init(mgr)) return 1;                                                                 \
        ISAL_##NAME##_HASH_CTX *done;                                                                                  \
        for (size_t i = 0; i < count; i++) {                                                                           \
            isal_hash_ctx_init(&ctx[i]);                                                                               \
            if (isal_##name##_ctx_mgr_submit(mgr, &ctx[i], &done, base + i * stride, len, ISAL_HASH_ENTIRE)) return 1; \
        }                                                                                                              \
        do                                                                                                             \
            if (isal_##name##_ctx_mgr_flush(mgr, &done)) return 1;                                                     \
        while (done);                                                                                                  \
        for (size_t i = 0; i < count; i++)                                                                             \
            for (int w = 0; w < words; w++) {                                                                          \
                word v = ctx[i].job.result_digest[w];                                                                  \
                if (#name[0] == 's') v = sizeof v == 4 ? __builtin_bswap32(v) : __builtin_bswap64(v);                  \
                memcpy(out + (i * words + w) * sizeof v, &v, sizeof v);                                                \
            }                                                                                                          \
        return 0;                                                                                                      \
    }

DIGESTS(sha256, SHA256, 8, uint32_t)
DIGESTS(sha512, SHA512, 8, uint64_t)
DIGESTS(sha1, SHA1, 5, uint32_t)
DIGESTS(md5, MD5, 4, uint32_t)
