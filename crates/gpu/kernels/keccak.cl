/* SHA-3 (FIPS 202) and the older Keccak-256, which differ in one byte of padding. */
__constant ulong START[25] = {0};
#define STATE 25

__constant ulong IOTA[24] = {
    0x0000000000000001, 0x0000000000008082, 0x800000000000808a, 0x8000000080008000,
    0x000000000000808b, 0x0000000080000001, 0x8000000080008081, 0x8000000000008009,
    0x000000000000008a, 0x0000000000000088, 0x0000000080008009, 0x000000008000000a,
    0x000000008000808b, 0x800000000000008b, 0x8000000000008089, 0x8000000000008003,
    0x8000000000008002, 0x8000000000000080, 0x000000000000800a, 0x800000008000000a,
    0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008,
};

/* The cycle of lanes under pi, with the rotation by rho on each step (FIPS 202, 3.2.2 and 3.2.3). */
#define WALK(STEP)                                                                                                     \
    STEP(10, 1) STEP(7, 3) STEP(11, 6) STEP(17, 10) STEP(18, 15) STEP(3, 21) STEP(5, 28) STEP(16, 36)                  \
    STEP(8, 45) STEP(21, 55) STEP(24, 2) STEP(4, 14) STEP(15, 27) STEP(23, 41) STEP(19, 56) STEP(13, 8)                \
    STEP(12, 25) STEP(2, 43) STEP(20, 62) STEP(14, 18) STEP(22, 39) STEP(9, 61) STEP(6, 20) STEP(1, 44)

FN void compress(V *s, V *m, V low, V high, uint len, uint flags) {
    UNROLL for (int at = 0; at < BLOCK_WORDS; at++) s[at] ^= m[at];
    for (int round = 0; round < 24; round++) {
        V c[5], d[5], moved, next;
        UNROLL for (int x = 0; x < 5; x++) c[x] = s[x] ^ s[x + 5] ^ s[x + 10] ^ s[x + 15] ^ s[x + 20];
        UNROLL for (int x = 0; x < 5; x++) d[x] = c[(x + 4) % 5] ^ ROTL(c[(x + 1) % 5], 1);
        UNROLL for (int at = 0; at < 25; at++) s[at] ^= d[at % 5];
        moved = s[1];
#define STEP(to, turn) next = s[to], s[to] = ROTL(moved, turn), moved = next;
        WALK(STEP)
#undef STEP
        UNROLL for (int y = 0; y < 25; y += 5) {
            UNROLL for (int x = 0; x < 5; x++) c[x] = s[y + x];
            UNROLL for (int x = 0; x < 5; x++) s[y + x] = bitselect(c[(x + 2) % 5], SPLAT(0), c[(x + 1) % 5]) ^ c[x];
        }
        s[0] ^= SPLAT(IOTA[round]);
    }
}
