/* Vectors of W lanes, loaded from and stored to W messages at a constant stride. CUDA compiles the same text after cuda.cuh.
 *
 * W is 1 on a GPU, where a work-item is one lane, and the width of a vector register on a CPU. Shuffles within 16 bytes,
 * which every vector unit has, transpose rows (16 bytes of each message) to columns (a word of every message).
 */
#ifndef CUDA
#define FN static inline __attribute__((always_inline))
#define UINT4(a, b, c, d) (uint4)(a, b, c, d)
/* A kernel's last parameter, and its declaration in the body: memory that a work-group shares, aligned as what is loaded from it. */
#define LOCAL_PARAMETER(name) , __local uint4 *name##_words
#define LOCAL_MEMORY(name) __local uchar *name = (__local uchar *)name##_words;
/* Before loops over many rounds: compilers of OpenCL would take minutes to unroll them. */
#define UNROLL_MORE
#endif
#define UNROLL _Pragma("unroll")

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

#if W == 1
typedef uint U;
typedef ulong UL;
#else
typedef JOIN(uint, W) U;
typedef JOIN(ulong, W) UL;
#endif
#define U_OF JOIN(convert_uint, SUFFIX)
#define UL_OF JOIN(convert_ulong, SUFFIX)
#if W == 1
#define SUFFIX
#else
#define SUFFIX W
#endif

#if WORD == 32
typedef U V;
#define WORD_TYPE uint
#define ONE(x) ((uint)(x))
#else
typedef UL V;
#define WORD_TYPE ulong
#define ONE(x) ((ulong)(x))
#endif
/* The bytes of a word; the words of a block and of a pair of digests. */
#define BYTES (WORD / 8)
#define BLOCK_WORDS (BLOCK / BYTES)
#define PAIR_WORDS (2 * DIGEST / BYTES)

#define SPLAT(x) ((V)(ONE(x)))
#define ROTL(x, n) rotate((x), SPLAT(n))
#define ROTR(x, n) rotate((x), SPLAT(WORD - (n)))

/* Reverses the bytes of each word. */
#ifdef CUDA
#elif WORD == 32
FN U SWAP(U x) {
    return bitselect(rotate(x, (U)(24)), rotate(x, (U)(8)), (U)(0x00ff00ff));
}
#else
FN V SWAP(V x) {
    V even = SPLAT(0x00ff00ff00ff00ff), halves = SPLAT(0x0000ffff0000ffff);
    x = ((x >> 8) & even) | ((x & even) << 8);
    x = ((x >> 16) & halves) | ((x & halves) << 16);
    return rotate(x, SPLAT(32));
}
#endif

/* Converts words between host order and the hash's byte order. */
#ifdef BIG_ENDIAN
#define ORDER(x) SWAP(x)
#else
#define ORDER(x) (x)
#endif

/* Within each 16 bytes, interleaves the low (high) words, or pairs of words, of a and b. */
#if W == 16
#define LOW32(a, b) (U)(a.s0, b.s0, a.s1, b.s1, a.s4, b.s4, a.s5, b.s5, a.s8, b.s8, a.s9, b.s9, a.sc, b.sc, a.sd, b.sd)
#define HIGH32(a, b) (U)(a.s2, b.s2, a.s3, b.s3, a.s6, b.s6, a.s7, b.s7, a.sa, b.sa, a.sb, b.sb, a.se, b.se, a.sf, b.sf)
#define LOW64(a, b) (U)(a.s01, b.s01, a.s45, b.s45, a.s89, b.s89, a.scd, b.scd)
#define HIGH64(a, b) (U)(a.s23, b.s23, a.s67, b.s67, a.sab, b.sab, a.sef, b.sef)
#elif W == 8
#define LOW32(a, b) (U)(a.s0, b.s0, a.s1, b.s1, a.s4, b.s4, a.s5, b.s5)
#define HIGH32(a, b) (U)(a.s2, b.s2, a.s3, b.s3, a.s6, b.s6, a.s7, b.s7)
#define LOW64(a, b) (U)(a.s01, b.s01, a.s45, b.s45)
#define HIGH64(a, b) (U)(a.s23, b.s23, a.s67, b.s67)
#elif W == 4
#define LOW32(a, b) (U)(a.s0, b.s0, a.s1, b.s1)
#define HIGH32(a, b) (U)(a.s2, b.s2, a.s3, b.s3)
#define LOW64(a, b) (U)(a.s01, b.s01)
#define HIGH64(a, b) (U)(a.s23, b.s23)
#endif

#if W > 1
/* Transposes between rows and columns: q[j] holds four words each of rows j, j + 4 …, or word j of all W lanes. */
#define TRANSPOSE(q0, q1, q2, q3)                                                                                      \
    do {                                                                                                               \
        U t0 = LOW32(q0, q1), t1 = HIGH32(q0, q1), t2 = LOW32(q2, q3), t3 = HIGH32(q2, q3);                            \
        q0 = LOW64(t0, t2), q1 = HIGH64(t0, t2), q2 = LOW64(t1, t3), q3 = HIGH64(t1, t3);                              \
    } while (0)
#endif

/* Load and store 16 bytes at p. */
#if ALIGN == 1 && W == 1
/* Loads 16 bytes at once where they are aligned, else the aligned words around them, because a GPU would load single bytes. */
#define ROW_AS(AS, p) JOIN(unaligned_, AS)(p)
#define PUT_AS(AS, x, p) vstore4((x), 0, (__##AS uint *)(p))
#ifndef CUDA
#define UNALIGNED_ROW(AS)                                                                                              \
    FN uint4 JOIN(unaligned_, AS)(__##AS const uchar *p) {                                                             \
        if (((size_t)p & 15) == 0) return *(__##AS const uint4 *)p;                                                    \
        __##AS const uint *words = (__##AS const uint *)((size_t)p & ~(size_t)3);                                      \
        uint shift = 8 * (uint)((size_t)p & 3);                                                                        \
        uint4 low = vload4(0, words), high = shift ? vload4(0, words + 1) : low;                                       \
        return convert_uint4((convert_ulong4(high) << 32 | convert_ulong4(low)) >> (ulong4)(shift));                   \
    }
UNALIGNED_ROW(global)
UNALIGNED_ROW(local)
#endif
#elif ALIGN == 1
#define ROW_AS(AS, p) as_uint4(vload16(0, p))
#define PUT_AS(AS, x, p) vstore4((x), 0, (__##AS uint *)(p))
#elif ALIGN >= 16
#define ROW_AS(AS, p) (*(__##AS const uint4 *)(p))
#define PUT_AS(AS, x, p) (*(__##AS uint4 *)(p) = (x))
#else
#define ROW_AS(AS, p) vload4(0, (__##AS const uint *)(p))
#define PUT_AS(AS, x, p) vstore4((x), 0, (__##AS uint *)(p))
#endif

/* Load and store four words of W messages, for each address space of p. */
#if W == 1
#define ROWS(AS)                                                                                                       \
    FN void JOIN(load4_, AS)(U *m, __##AS const uchar *p, ulong stride) {                                              \
        uint4 row = ROW_AS(AS, p);                                                                                     \
        m[0] = row.s0, m[1] = row.s1, m[2] = row.s2, m[3] = row.s3;                                                    \
    }                                                                                                                  \
    FN void JOIN(store4_, AS)(const U *m, __##AS uchar *p, ulong stride) {                                             \
        PUT_AS(AS, UINT4(m[0], m[1], m[2], m[3]), p);                                                                  \
    }
#elif W == 4
#define GET(AS, j) ROW_AS(AS, p + (j) * stride)
#define PUT(AS, q, j) PUT_AS(AS, q, p + (j) * stride)
#elif W == 8
#define GET(AS, j) (U)(ROW_AS(AS, p + (j) * stride), ROW_AS(AS, p + (j + 4) * stride))
#define PUT(AS, q, j) PUT_AS(AS, q.lo, p + (j) * stride), PUT_AS(AS, q.hi, p + (j + 4) * stride)
#elif W == 16
#define GET(AS, j)                                                                                                     \
    (U)(ROW_AS(AS, p + (j) * stride), ROW_AS(AS, p + (j + 4) * stride), ROW_AS(AS, p + (j + 8) * stride),              \
        ROW_AS(AS, p + (j + 12) * stride))
#define PUT(AS, q, j)                                                                                                  \
    PUT_AS(AS, q.lo.lo, p + (j) * stride), PUT_AS(AS, q.lo.hi, p + (j + 4) * stride),                                  \
        PUT_AS(AS, q.hi.lo, p + (j + 8) * stride), PUT_AS(AS, q.hi.hi, p + (j + 12) * stride)
#endif
#if W > 1
#define ROWS(AS)                                                                                                       \
    FN void JOIN(load4_, AS)(U *m, __##AS const uchar *p, ulong stride) {                                              \
        U q0 = GET(AS, 0), q1 = GET(AS, 1), q2 = GET(AS, 2), q3 = GET(AS, 3);                                          \
        TRANSPOSE(q0, q1, q2, q3);                                                                                     \
        m[0] = q0, m[1] = q1, m[2] = q2, m[3] = q3;                                                                    \
    }                                                                                                                  \
    FN void JOIN(store4_, AS)(const U *m, __##AS uchar *p, ulong stride) {                                             \
        U q0 = m[0], q1 = m[1], q2 = m[2], q3 = m[3];                                                                  \
        TRANSPOSE(q0, q1, q2, q3);                                                                                     \
        PUT(AS, q0, 0), PUT(AS, q1, 1), PUT(AS, q2, 2), PUT(AS, q3, 3);                                                \
    }
#endif
ROWS(global)
ROWS(local)

/* Loads the first `words` words of W messages at p, a stride apart. The last load may overlap the one before. */
#if WORD == 32
#define LOAD(AS)                                                                                                       \
    FN void JOIN(load_, AS)(V *m, __##AS const uchar *p, ulong stride, int words) {                                    \
        UNROLL for (int at = 0; at < words; at += 4) {                                                                 \
            int from = min(at, words - 4);                                                                             \
            JOIN(load4_, AS)(m + from, p + 4 * from, stride);                                                          \
        }                                                                                                              \
        UNROLL for (int at = 0; at < words; at++) m[at] = ORDER(m[at]);                                                \
    }
#else
#define LOAD(AS)                                                                                                       \
    FN void JOIN(load_, AS)(V *m, __##AS const uchar *p, ulong stride, int words) {                                    \
        UNROLL for (int at = 0; at < words; at += 2) {                                                                 \
            int from = min(at, words - 2);                                                                             \
            U part[4];                                                                                                 \
            JOIN(load4_, AS)(part, p + 8 * from, stride);                                                              \
            m[from] = UL_OF(part[0]) | UL_OF(part[1]) << 32, m[from + 1] = UL_OF(part[2]) | UL_OF(part[3]) << 32;      \
        }                                                                                                              \
        UNROLL for (int at = 0; at < words; at++) m[at] = ORDER(m[at]);                                                \
    }
#endif
LOAD(global)
LOAD(local)

/* Stores W digests, a stride apart. */
#define STORE(AS)                                                                                                      \
    FN void JOIN(store_, AS)(const U *m, __##AS uchar *p, ulong stride) {                                              \
        UNROLL for (int at = 0; at < DIGEST / 4; at += 4) {                                                            \
            int from = min(at, DIGEST / 4 - 4);                                                                        \
            JOIN(store4_, AS)(m + from, p + 4 * from, stride);                                                         \
        }                                                                                                              \
    }
STORE(global)
STORE(local)

/* Converts a digest to 32-bit words in the order of its bytes. */
FN void digest_words(const V *s, U *words) {
#if WORD == 32
    UNROLL for (int at = 0; at < DIGEST / 4; at++) words[at] = ORDER(s[at]);
#else
    UNROLL for (int at = 0; at < (DIGEST + 7) / 8; at++) {
        V word = ORDER(s[at]);
        words[2 * at] = U_OF(word), words[2 * at + 1] = U_OF(word >> 32);
    }
#endif
}
