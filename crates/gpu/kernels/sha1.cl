/* SHA-1 (FIPS 180-4, 6.1). */
__constant uint START[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
#define STATE 5

FN void compress(V *s, V *m, V low, V high, uint len, uint flags) {
    V a = s[0], b = s[1], c = s[2], d = s[3], e = s[4];
    UNROLL for (int t = 0; t < 80; t++) {
        if (t >= 16) {
            m[t & 15] = ROTL(m[(t + 13) & 15] ^ m[(t + 8) & 15] ^ m[(t + 2) & 15] ^ m[t & 15], 1);
        }
        V f = t < 20 ? bitselect(d, c, b) : t < 40 || t >= 60 ? b ^ c ^ d : bitselect(b, c, d ^ b);
        uint k = t < 20 ? 0x5a827999 : t < 40 ? 0x6ed9eba1 : t < 60 ? 0x8f1bbcdc : 0xca62c1d6;
        V next = ROTL(a, 5) + f + e + (m[t & 15] + SPLAT(k));
        e = d, d = c, c = ROTL(b, 30), b = a, a = next;
    }
    s[0] += a, s[1] += b, s[2] += c, s[3] += d, s[4] += e;
}
