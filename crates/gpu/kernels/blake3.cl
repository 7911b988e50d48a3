/* BLAKE3 (the BLAKE3 paper, 2.2). */
__constant uint START[8] = {
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};
#define STATE 8

/* The quarter-round G on a column or a diagonal. */
#define QUARTER(a, b, c, d, x, y)                                                                                      \
    a += b + (x), d = ROTR(d ^ a, 16), c += d, b = ROTR(b ^ c, 12);                                                    \
    a += b + (y), d = ROTR(d ^ a, 8), c += d, b = ROTR(b ^ c, 7)

#define ROUND(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, ma, mb, mc, md, me, mf)                                          \
    QUARTER(v0, v4, v8, vc, m[m0], m[m1]);                                                                             \
    QUARTER(v1, v5, v9, vd, m[m2], m[m3]);                                                                             \
    QUARTER(v2, v6, va, ve, m[m4], m[m5]);                                                                             \
    QUARTER(v3, v7, vb, vf, m[m6], m[m7]);                                                                             \
    QUARTER(v0, v5, va, vf, m[m8], m[m9]);                                                                             \
    QUARTER(v1, v6, vb, vc, m[ma], m[mb]);                                                                             \
    QUARTER(v2, v7, v8, vd, m[mc], m[md]);                                                                             \
    QUARTER(v3, v4, v9, ve, m[me], m[mf])

FN void compress(V *s, V *m, V low, V high, uint len, uint flags) {
    V v0 = s[0], v1 = s[1], v2 = s[2], v3 = s[3], v4 = s[4], v5 = s[5], v6 = s[6], v7 = s[7];
    V v8 = SPLAT(START[0]), v9 = SPLAT(START[1]), va = SPLAT(START[2]), vb = SPLAT(START[3]);
    V vc = low, vd = high, ve = SPLAT(len), vf = SPLAT(flags);
    ROUND(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    ROUND(2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8);
    ROUND(3, 4, 10, 12, 13, 2, 7, 14, 6, 5, 9, 0, 11, 15, 8, 1);
    ROUND(10, 7, 12, 9, 14, 3, 13, 15, 4, 0, 11, 2, 5, 8, 1, 6);
    ROUND(12, 13, 9, 11, 15, 10, 14, 8, 7, 2, 5, 3, 0, 1, 6, 4);
    ROUND(9, 14, 11, 5, 8, 12, 15, 1, 13, 3, 0, 10, 2, 6, 4, 7);
    ROUND(11, 15, 5, 0, 1, 9, 8, 6, 14, 10, 2, 12, 3, 4, 7, 13);
    s[0] = v0 ^ v8, s[1] = v1 ^ v9, s[2] = v2 ^ va, s[3] = v3 ^ vb;
    s[4] = v4 ^ vc, s[5] = v5 ^ vd, s[6] = v6 ^ ve, s[7] = v7 ^ vf;
}
