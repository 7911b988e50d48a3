#include "merkle_sha256.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4, 4.2.2). */
static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static const uint32_t INITIAL[8] = {
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};

static uint32_t load32(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static void store32(uint8_t *bytes, uint32_t word) {
    bytes[0] = (uint8_t)(word >> 24);
    bytes[1] = (uint8_t)(word >> 16);
    bytes[2] = (uint8_t)(word >> 8);
    bytes[3] = (uint8_t)word;
}

/* ---- Portable C: the definition, word by word ---------------------------------------------------------------- */

static uint32_t rotate(uint32_t word, int right) {
    return word >> right | word << (32 - right);
}

static void compress_portable(uint32_t state[8], const uint8_t *blocks, size_t count) {
    for (; count > 0; count--, blocks += MERKLE_SHA256_BLOCK) {
        uint32_t w[64];
        for (int t = 0; t < 16; t++) {
            w[t] = load32(blocks + 4 * (size_t)t);
        }
        for (int t = 16; t < 64; t++) {
            uint32_t s0 = rotate(w[t - 15], 7) ^ rotate(w[t - 15], 18) ^ w[t - 15] >> 3;
            uint32_t s1 = rotate(w[t - 2], 17) ^ rotate(w[t - 2], 19) ^ w[t - 2] >> 10;
            w[t] = w[t - 16] + s0 + w[t - 7] + s1;
        }
        uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
        uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
        for (int t = 0; t < 64; t++) {
            uint32_t sum1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
            uint32_t choice = (e & f) ^ (~e & g);
            uint32_t temp1 = h + sum1 + choice + K[t] + w[t];
            uint32_t sum0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
            uint32_t majority = (a & b) ^ (a & c) ^ (b & c);
            h = g, g = f, f = e, e = d + temp1;
            d = c, c = b, b = a, a = temp1 + sum0 + majority;
        }
        state[0] += a, state[1] += b, state[2] += c, state[3] += d;
        state[4] += e, state[5] += f, state[6] += g, state[7] += h;
    }
}

static void compress_two_portable(uint32_t *const states[2], const uint8_t *const blocks[2], size_t count) {
    compress_portable(states[0], blocks[0], count);
    compress_portable(states[1], blocks[1], count);
}

static void many_portable(int prefix, const uint8_t *messages, size_t size, size_t count, uint8_t *digests) {
    for (size_t i = 0; i < count; i++) {
        merkle_sha256 hash;
        merkle_sha256_init(&hash);
        if (prefix != MERKLE_SHA256_NO_PREFIX) {
            merkle_sha256_update(&hash, &(uint8_t){(uint8_t)prefix}, 1);
        }
        merkle_sha256_update(&hash, messages + i * size, size);
        merkle_sha256_final(&hash, digests + i * MERKLE_SHA256_SIZE);
    }
}

/* ---- x86 SHA extensions -------------------------------------------------------------------------------------- */

#if (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__) && !defined(MERKLE_SHA256_PORTABLE)
#define HAVE_X86 1
#include <cpuid.h>
#include <immintrin.h>

#define X86_TARGET "sha,ssse3,sse4.1"
#define X86 __attribute__((target(X86_TARGET)))
#define X86_INLINE static inline __attribute__((always_inline, target(X86_TARGET)))

/* K[t] + w[t] of the block 80 00 … 00 02 00, which follows every message of exactly one block: a plain node, or a leaf
 * of 64 bytes. Nothing of its schedule depends on the message. */
static const uint32_t K_AFTER_64[64] = {
    0xc28a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf374,
    0x649b69c1, 0xf0fe4786, 0x0fe1edc6, 0x240cf254, 0x4fe9346f, 0x6cc984be, 0x61b9411e, 0x16f988fa,
    0xf2c65152, 0xa88e5a6d, 0xb019fc65, 0xb9d99ec7, 0x9a1231c3, 0xe70eeaa0, 0xfdb1232b, 0xc7353eb0,
    0x3069bad5, 0xcb976d5f, 0x5a0f118f, 0xdc1eeefd, 0x0a35b689, 0xde0b7a04, 0x58f4ca9d, 0xe15d5b16,
    0x007f3e86, 0x37088980, 0xa507ea32, 0x6fab9537, 0x17406110, 0x0d8cd6f1, 0xcdaa3b6d, 0xc0bbbe37,
    0x83613bda, 0xdb48a363, 0x0b02e931, 0x6fd15ca7, 0x521afaca, 0x31338431, 0x6ed41a95, 0x6d437890,
    0xc39c91f2, 0x9eccabbd, 0xb5c9a0e6, 0x532fb63c, 0xd2c741c6, 0x07237ea3, 0xa4954b68, 0x4c191d76,
};

/* The state as the instructions want it: words a, b, e, f in one register, c, d, g, h in the other. */
typedef struct x86_state {
    __m128i abef, cdgh;
} x86_state;

X86_INLINE x86_state x86_load(const uint32_t state[8]) {
    __m128i dcba = _mm_loadu_si128((const __m128i *)state);
    __m128i hgfe = _mm_loadu_si128((const __m128i *)(state + 4));
    __m128i badc = _mm_shuffle_epi32(dcba, 0xB1), efgh = _mm_shuffle_epi32(hgfe, 0x1B);
    return (x86_state){_mm_alignr_epi8(badc, efgh, 8), _mm_blend_epi16(efgh, badc, 0xF0)};
}

X86_INLINE void x86_words(x86_state state, __m128i *dcba, __m128i *hgfe) {
    __m128i feba = _mm_shuffle_epi32(state.abef, 0x1B), dchg = _mm_shuffle_epi32(state.cdgh, 0xB1);
    *dcba = _mm_blend_epi16(feba, dchg, 0xF0);
    *hgfe = _mm_alignr_epi8(dchg, feba, 8);
}

X86_INLINE __m128i x86_swap(__m128i words) {
    return _mm_shuffle_epi8(words, _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203));
}

X86_INLINE void x86_digest(x86_state state, uint8_t *digest) {
    __m128i dcba, hgfe;
    x86_words(state, &dcba, &hgfe);
    _mm_storeu_si128((__m128i *)digest, x86_swap(dcba));
    _mm_storeu_si128((__m128i *)(digest + 16), x86_swap(hgfe));
}

/* Four rounds: each instruction does two and takes four cycles, but a second one can start after two. */
X86_INLINE void x86_rounds(x86_state *state, __m128i wk) {
    state->cdgh = _mm_sha256rnds2_epu32(state->cdgh, state->abef, wk);
    state->abef = _mm_sha256rnds2_epu32(state->abef, state->cdgh, _mm_shuffle_epi32(wk, 0x0E));
}

/* w[t..t + 4] from the sixteen words before. */
X86_INLINE __m128i x86_schedule(__m128i w16, __m128i w12, __m128i w8, __m128i w4) {
    __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(w16, w12), _mm_alignr_epi8(w4, w8, 4));
    return _mm_sha256msg2_epu32(sum, w4);
}

X86_INLINE __m128i x86_k(const uint32_t *k, int t) {
    return _mm_loadu_si128((const __m128i *)(k + t));
}

/* The SHA instructions take registers of 128 bits, and become a hundred times slower while the upper halves of the
 * 256-bit ones hold something. A compiler that may use AVX (-march=native) leaves something there when it copies, so
 * this stands between the last copy and the rounds. `make bench` measures it with gcc and clang. */
X86_INLINE void x86_clear_upper(void) {
#ifdef __AVX__
    __asm__ volatile("" ::: "memory"); /* copies are not moved behind this */
    _mm256_zeroupper();
#endif
}

/* Unrolled, or the messages would take turns through memory: at -O2 gcc keeps even a loop of two. */
#define EACH_STREAM(s) _Pragma("GCC unroll 2") for (int s = 0; s < streams; s++)

/* `count` blocks of each of `streams` messages, 1 or 2. The messages do not depend on each other, so that the rounds of
 * one run while those of the other wait for their result. */
X86_INLINE void x86_compress(int streams, x86_state state[], const uint8_t *const blocks[], size_t count) {
    for (size_t at = 0; at < count * MERKLE_SHA256_BLOCK; at += MERKLE_SHA256_BLOCK) {
        x86_state next[2];
        __m128i w[2][4];
        EACH_STREAM (s) {
            next[s] = state[s];
        }
        x86_clear_upper();
#pragma GCC unroll 16
        for (int t = 0; t < 16; t++) {
            EACH_STREAM (s) {
                __m128i *now = &w[s][t % 4];
                if (t < 4) {
                    *now = x86_swap(_mm_loadu_si128((const __m128i *)(blocks[s] + at + 16 * (size_t)t)));
                } else {
                    *now = x86_schedule(*now, w[s][(t + 1) % 4], w[s][(t + 2) % 4], w[s][(t + 3) % 4]);
                }
                x86_rounds(&next[s], _mm_add_epi32(*now, x86_k(K, 4 * t)));
            }
        }
        EACH_STREAM (s) {
            state[s].abef = _mm_add_epi32(state[s].abef, next[s].abef);
            state[s].cdgh = _mm_add_epi32(state[s].cdgh, next[s].cdgh);
        }
    }
}

X86_INLINE void x86_compress_after_64(int streams, x86_state state[]) {
    x86_state next[2];
    EACH_STREAM (s) {
        next[s] = state[s];
    }
    x86_clear_upper();
#pragma GCC unroll 16
    for (int t = 0; t < 16; t++) {
        EACH_STREAM (s) {
            x86_rounds(&next[s], x86_k(K_AFTER_64, 4 * t));
        }
    }
    EACH_STREAM (s) {
        state[s].abef = _mm_add_epi32(state[s].abef, next[s].abef);
        state[s].cdgh = _mm_add_epi32(state[s].cdgh, next[s].cdgh);
    }
}

X86_INLINE void x86_store(x86_state from, uint32_t state[8]) {
    __m128i dcba, hgfe;
    x86_words(from, &dcba, &hgfe);
    _mm_storeu_si128((__m128i *)state, dcba);
    _mm_storeu_si128((__m128i *)(state + 4), hgfe);
}

X86 static void compress_x86(uint32_t state[8], const uint8_t *blocks, size_t count) {
    x86_state now = x86_load(state);
    x86_compress(1, &now, &blocks, count);
    x86_store(now, state);
}

X86 static void compress_two_x86(uint32_t *const states[2], const uint8_t *const blocks[2], size_t count) {
    x86_state now[2] = {x86_load(states[0]), x86_load(states[1])};
    x86_compress(2, now, blocks, count);
    x86_store(now[0], states[0]);
    x86_store(now[1], states[1]);
}

/* Where the bytes of a message stand in its blocks: the first block when there is a prefix to go before it, then blocks
 * straight from the message, then one or two blocks with the rest and the padding. */
typedef struct x86_layout {
    size_t head;   /* bytes of the message in the first block, after the prefix; 0 if the message lies as it is */
    size_t blocks; /* whole blocks after those */
    size_t prefix; /* bytes of prefix in the last block: a short message's */
    size_t rest;   /* bytes of the message after that */
    size_t last;   /* blocks of rest and padding: 1 or 2, 0 for the padding that is always the same */
} x86_layout;

typedef struct x86_buffers {
    uint8_t head[2][MERKLE_SHA256_BLOCK], last[2][2 * MERKLE_SHA256_BLOCK];
} x86_buffers;

static x86_layout x86_lay(int prefix, size_t size, x86_buffers *buffers) {
    x86_layout lay = {0};
    size_t before = prefix == MERKLE_SHA256_NO_PREFIX ? 0 : 1;
    memset(buffers, 0, sizeof *buffers);
    if (before == 1 && size >= MERKLE_SHA256_BLOCK - 1) {
        lay.head = MERKLE_SHA256_BLOCK - 1;
    }
    lay.prefix = lay.head > 0 ? 0 : before;
    lay.blocks = lay.prefix > 0 ? 0 : (size - lay.head) / MERKLE_SHA256_BLOCK;
    lay.rest = size - lay.head - lay.blocks * MERKLE_SHA256_BLOCK;
    size_t end = lay.prefix + lay.rest;
    lay.last = end + 1 + 8 <= MERKLE_SHA256_BLOCK ? 1 : 2;
    uint64_t bits = 8 * ((uint64_t)size + before);
    for (int s = 0; s < 2; s++) {
        if (before == 1) {
            buffers->head[s][0] = buffers->last[s][0] = (uint8_t)prefix;
        }
        buffers->last[s][end] = 0x80;
        uint8_t *length = buffers->last[s] + lay.last * MERKLE_SHA256_BLOCK - 8;
        store32(length, (uint32_t)(bits >> 32));
        store32(length + 4, (uint32_t)bits);
    }
    if (size == MERKLE_SHA256_BLOCK && before == 0) {
        lay.last = 0;
    }
    return lay;
}

X86_INLINE void x86_messages(int streams, const x86_layout *lay, x86_buffers *buffers, const uint8_t *messages,
                             size_t size, uint8_t *digests) {
    x86_state state[2];
    const uint8_t *at[2], *head[2], *last[2];
    EACH_STREAM (s) {
        state[s] = x86_load(INITIAL);
        at[s] = messages + (size_t)s * size;
        head[s] = buffers->head[s];
        last[s] = buffers->last[s];
    }
    if (lay->head > 0) {
        EACH_STREAM (s) {
            memcpy(buffers->head[s] + 1, at[s], MERKLE_SHA256_BLOCK - 1);
            at[s] += MERKLE_SHA256_BLOCK - 1;
        }
        x86_compress(streams, state, head, 1);
    }
    x86_compress(streams, state, at, lay->blocks);
    if (lay->last == 0) {
        x86_compress_after_64(streams, state);
    } else {
        EACH_STREAM (s) {
            memcpy(buffers->last[s] + lay->prefix, at[s] + lay->blocks * MERKLE_SHA256_BLOCK, lay->rest);
        }
        x86_compress(streams, state, last, lay->last);
    }
    EACH_STREAM (s) {
        x86_digest(state[s], digests + (size_t)s * MERKLE_SHA256_SIZE);
    }
}

X86 static void many_x86(int prefix, const uint8_t *messages, size_t size, size_t count, uint8_t *digests) {
    x86_buffers buffers;
    x86_layout lay = x86_lay(prefix, size, &buffers);
    size_t i = 0;
    for (; count - i >= 2; i += 2) {
        x86_messages(2, &lay, &buffers, messages + i * size, size, digests + i * MERKLE_SHA256_SIZE);
    }
    if (i < count) {
        x86_messages(1, &lay, &buffers, messages + i * size, size, digests + i * MERKLE_SHA256_SIZE);
    }
}

static int x86_supported(void) {
    unsigned a, b, c, d;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_SSE4_1) == 0 || (c & bit_SSSE3) == 0) {
        return 0;
    }
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & bit_SHA) != 0;
}
#endif

/* ---- Which of the two ---------------------------------------------------------------------------------------- */

typedef struct implementation {
    const char *name;
    void (*compress)(uint32_t state[8], const uint8_t *blocks, size_t count);
    void (*compress_two)(uint32_t *const states[2], const uint8_t *const blocks[2], size_t count);
    void (*many)(int prefix, const uint8_t *messages, size_t size, size_t count, uint8_t *digests);
} implementation;

static const implementation PORTABLE = {"portable C", compress_portable, compress_two_portable, many_portable};
#ifdef HAVE_X86
static const implementation X86_SHA = {"x86 SHA extensions", compress_x86, compress_two_x86, many_x86};
#endif

/* Asked once: under a hypervisor one cpuid takes as long as hashing a kilobyte. Threads that ask at the same time get
 * the same answer. */
static const implementation *chosen(void) {
    static const implementation *_Atomic cached;
    const implementation *now = atomic_load_explicit(&cached, memory_order_relaxed);
    if (now == NULL) {
        now = &PORTABLE;
#ifdef HAVE_X86
        if (x86_supported()) {
            now = &X86_SHA;
        }
#endif
        atomic_store_explicit(&cached, now, memory_order_relaxed);
    }
    return now;
}

const char *merkle_sha256_implementation(void) {
    return chosen()->name;
}

void merkle_sha256_many(int prefix, const uint8_t *messages, size_t size, size_t count, uint8_t *digests) {
    chosen()->many(prefix, messages, size, count, digests);
}

void merkle_sha256_init(merkle_sha256 *hash) {
    memcpy(hash->state, INITIAL, sizeof INITIAL);
    hash->length = 0;
}

/* Moves the first bytes of a piece to the block that waits; returns how many. `full` says whether that block is
 * complete. */
static size_t fill_block(merkle_sha256 *hash, const uint8_t *bytes, size_t size, bool *full) {
    size_t waiting = (size_t)(hash->length % MERKLE_SHA256_BLOCK);
    size_t room = MERKLE_SHA256_BLOCK - waiting, used = room < size ? room : size;
    *full = waiting > 0 && used == room;
    if (waiting == 0 && used == room) {
        return 0; /* whole blocks are compressed where they lie */
    }
    memcpy(hash->block + waiting, bytes, used);
    hash->length += used;
    return used;
}

void merkle_sha256_update(merkle_sha256 *hash, const void *bytes, size_t size) {
    if (size == 0) {
        return; /* `bytes` may be NULL, which memcpy does not allow */
    }
    bool full = false;
    size_t used = fill_block(hash, bytes, size, &full);
    const uint8_t *rest = (const uint8_t *)bytes + used;
    size -= used;
    if (full) {
        chosen()->compress(hash->state, hash->block, 1);
    }
    size_t whole = size - size % MERKLE_SHA256_BLOCK;
    if (whole > 0) {
        chosen()->compress(hash->state, rest, whole / MERKLE_SHA256_BLOCK);
    }
    memcpy(hash->block, rest + whole, size - whole);
    hash->length += size;
}

void merkle_sha256_update_two(merkle_sha256 hashes[2], const void *first, const void *second, size_t size) {
    if (size == 0) {
        return;
    }
    bool full = false;
    size_t used = fill_block(&hashes[0], first, size, &full);
    (void)fill_block(&hashes[1], second, size, &full);
    const uint8_t *rest[2] = {(const uint8_t *)first + used, (const uint8_t *)second + used};
    uint32_t *const states[2] = {hashes[0].state, hashes[1].state};
    size -= used;
    if (full) {
        const uint8_t *const blocks[2] = {hashes[0].block, hashes[1].block};
        chosen()->compress_two(states, blocks, 1);
    }
    size_t whole = size - size % MERKLE_SHA256_BLOCK;
    if (whole > 0) {
        chosen()->compress_two(states, rest, whole / MERKLE_SHA256_BLOCK);
    }
    for (int s = 0; s < 2; s++) {
        memcpy(hashes[s].block, rest[s] + whole, size - whole);
        hashes[s].length += size;
    }
}

void merkle_sha256_final(merkle_sha256 *hash, uint8_t digest[MERKLE_SHA256_SIZE]) {
    size_t waiting = (size_t)(hash->length % MERKLE_SHA256_BLOCK);
    uint8_t last[2 * MERKLE_SHA256_BLOCK] = {0};
    size_t blocks = waiting + 1 + 8 <= MERKLE_SHA256_BLOCK ? 1 : 2;
    memcpy(last, hash->block, waiting);
    last[waiting] = 0x80;
    store32(last + blocks * MERKLE_SHA256_BLOCK - 8, (uint32_t)(hash->length >> 29));
    store32(last + blocks * MERKLE_SHA256_BLOCK - 4, (uint32_t)(hash->length << 3));
    chosen()->compress(hash->state, last, blocks);
    for (size_t i = 0; i < 8; i++) {
        store32(digest + 4 * i, hash->state[i]);
    }
}
