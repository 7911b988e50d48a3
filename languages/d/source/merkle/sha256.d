/// SHA-256 with the processor's SHA instructions where it has them, and the interface of `std.digest`.
module merkle.sha256;

import std.digest : isDigest;

/++
SHA-256 (FIPS 180-4), a drop-in for `std.digest.sha.SHA256`.

That one is plain D; on a processor with SHA instructions and compiled with LDC, this one is some five times as fast.
+/
struct SHA256
{
    private uint[8] state = initial;
    private ubyte[64] block; // the bytes that do not fill a block yet, at its beginning
    private ulong length; // of all bytes so far

    /// In bits, as `std.digest` has it.
    enum blockSize = 512;

    /// Begins a message.
    void start() @safe pure nothrow @nogc
    {
        state = initial;
        length = 0;
    }

    /// Adds bytes to the message.
    void put(scope const(ubyte)[] data...) @safe pure nothrow @nogc
    {
        const filled = cast(size_t)(length % 64);
        length += data.length;
        if (filled > 0)
        {
            const missing = 64 - filled;
            if (data.length < missing)
            {
                block[filled .. filled + data.length] = data[];
                return;
            }
            block[filled .. 64] = data[0 .. missing];
            compress(state, block[]);
            data = data[missing .. $];
        }
        const whole = data.length & ~size_t(63);
        if (whole > 0)
            compress(state, data[0 .. whole]);
        block[0 .. data.length - whole] = data[whole .. $];
    }

    /// The digest of the message. Begins a new one.
    ubyte[32] finish() @safe pure nothrow @nogc
    {
        auto filled = cast(size_t)(length % 64);
        block[filled++] = 0x80;
        if (filled > 56)
        {
            block[filled .. 64] = 0;
            compress(state, block[]);
            filled = 0;
        }
        block[filled .. 56] = 0;
        foreach (i; 0 .. 8)
            block[63 - i] = cast(ubyte)((length * 8) >> (8 * i));
        compress(state, block[]);

        ubyte[32] digest = void;
        foreach (i, word; state)
            foreach (k; 0 .. 4)
                digest[4 * i + k] = cast(ubyte)(word >> (24 - 8 * k));
        start();
        return digest;
    }
}

static assert(isDigest!SHA256);

///
@safe unittest
{
    import std.digest : digest, LetterCase, toHexString;

    assert(digest!SHA256("abc").toHexString!(LetterCase.lower)
            == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

private:

immutable uint[8] initial = [
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19
];

align(16) immutable uint[64] constants = [
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2
];

/// Compresses whole blocks.
void compress(ref uint[8] state, scope const(ubyte)[] blocks) @safe pure nothrow @nogc
{
    version (ShaInstructions)
    {
        if (shaInstructions)
            return compressWithInstructions(state, blocks);
    }
    compressPortably(state, blocks);
}

/// FIPS 180-4, section 6.2.2. The loops are unrolled: no index is checked, and the working variables change names
/// instead of places.
void compressPortably(ref uint[8] state, scope const(ubyte)[] blocks) @safe pure nothrow @nogc
{
    import core.bitop : ror;

    for (; blocks.length > 0; blocks = blocks[64 .. $])
    {
        uint[64] w = void;
        static foreach (t; 0 .. 16)
            w[t] = blocks[4 * t] << 24 | blocks[4 * t + 1] << 16 | blocks[4 * t + 2] << 8 | blocks[4 * t + 3];
        static foreach (t; 16 .. 64)
            w[t] = (ror(w[t - 2], 17) ^ ror(w[t - 2], 19) ^ (w[t - 2] >> 10)) + w[t - 7]
                + (ror(w[t - 15], 7) ^ ror(w[t - 15], 18) ^ (w[t - 15] >> 3)) + w[t - 16];
        uint a = state[0], b = state[1], c = state[2], d = state[3];
        uint e = state[4], f = state[5], g = state[6], h = state[7];
        static foreach (t; [0, 8, 16, 24, 32, 40, 48, 56])
        {
            round(a, b, c, d, e, f, g, h, constants[t] + w[t]);
            round(h, a, b, c, d, e, f, g, constants[t + 1] + w[t + 1]);
            round(g, h, a, b, c, d, e, f, constants[t + 2] + w[t + 2]);
            round(f, g, h, a, b, c, d, e, constants[t + 3] + w[t + 3]);
            round(e, f, g, h, a, b, c, d, constants[t + 4] + w[t + 4]);
            round(d, e, f, g, h, a, b, c, constants[t + 5] + w[t + 5]);
            round(c, d, e, f, g, h, a, b, constants[t + 6] + w[t + 6]);
            round(b, c, d, e, f, g, h, a, constants[t + 7] + w[t + 7]);
        }
        const uint[8] sum = [a, b, c, d, e, f, g, h];
        state[] += sum[];
    }
}

/// One round: d becomes the next e, and h the next a.
pragma(inline, true)
void round(uint a, uint b, uint c, ref uint d, uint e, uint f, uint g, ref uint h, uint kw) @safe pure nothrow @nogc
{
    import core.bitop : ror;

    const t1 = h + (ror(e, 6) ^ ror(e, 11) ^ ror(e, 25)) + (((f ^ g) & e) ^ g) + kw;
    const t2 = (ror(a, 2) ^ ror(a, 13) ^ ror(a, 22)) + ((a & b) ^ ((a ^ b) & c));
    d += t1;
    h = t1 + t2;
}

version (LDC) version (X86_64) version = ShaInstructions;

version (ShaInstructions)
{
    import core.simd : byte16, int4;
    import ldc.attributes : target;
    import ldc.gccbuiltins_x86 : __builtin_ia32_sha256msg1, __builtin_ia32_sha256msg2, __builtin_ia32_sha256rnds2;
    import ldc.simd : loadUnaligned, shufflevector;

    alias bigEndian = shufflevector!(byte16, 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12);

    immutable bool shaInstructions;

    shared static this()
    {
        import core.cpuid : hasSha, sse41, ssse3;

        shaInstructions = hasSha && ssse3 && sse41;
    }

    /++
    The same with the instructions of the processor. They keep the state in two registers, a b e f and c d g h from the
    highest word down, and do two rounds at a time.
    +/
    @target("sha,sse4.1,ssse3")
    void compressWithInstructions(ref uint[8] state, scope const(ubyte)[] blocks) @trusted pure nothrow @nogc
    {
        int4 abef, cdgh;
        abef.array = [state[5], state[4], state[1], state[0]];
        cdgh.array = [state[7], state[6], state[3], state[2]];

        for (; blocks.length > 0; blocks = blocks[64 .. $])
        {
            const int4 abefBefore = abef, cdghBefore = cdgh;
            int4[4] w = void; // the last sixteen words of the schedule
            static foreach (i; 0 .. 16)
            {
                {
                    static if (i < 4)
                    {
                        // Four words of the block, from big-endian.
                        const bytes = loadUnaligned!byte16(cast(const(byte)*)&blocks[16 * i]);
                        w[i] = cast(int4) bigEndian(bytes, bytes);
                    }
                    else
                    {
                        // W(t) = s1(W(t - 2)) + W(t - 7) + s0(W(t - 15)) + W(t - 16), for four t at a time.
                        const seven = shufflevector!(int4, 1, 2, 3, 4)(w[(i + 2) % 4], w[(i + 3) % 4]);
                        w[i % 4] = __builtin_ia32_sha256msg2(
                            __builtin_ia32_sha256msg1(w[i % 4], w[(i + 1) % 4]) + seven, w[(i + 3) % 4]);
                    }
                    const int4 kw = w[i % 4] + *cast(const(int4)*)&constants[4 * i];
                    cdgh = __builtin_ia32_sha256rnds2(cdgh, abef, kw);
                    abef = __builtin_ia32_sha256rnds2(abef, cdgh, shufflevector!(int4, 2, 3, 2, 3)(kw, kw));
                }
            }
            abef += abefBefore;
            cdgh += cdghBefore;
        }
        state = [
            abef.array[3], abef.array[2], cdgh.array[3], cdgh.array[2],
            abef.array[1], abef.array[0], cdgh.array[1], cdgh.array[0]
        ];
    }
}

// Against std.digest: every length up to five blocks, whole and in pieces, by both ways to compress.
unittest
{
    import std.digest.sha : Reference = SHA256;
    import std.digest : digest;

    ubyte[320] bytes;
    foreach (i, ref b; bytes)
        b = cast(ubyte)(i * 7 % 251);
    foreach (length; 0 .. bytes.length + 1)
    {
        const expected = digest!Reference(bytes[0 .. length]);
        assert(digest!SHA256(bytes[0 .. length]) == expected);
        foreach (piece; [1, 3, 55, 56, 63, 64, 65, 128])
        {
            SHA256 hash;
            hash.start();
            for (size_t at = 0; at < length; at += piece)
                hash.put(bytes[at .. at + piece < length ? at + piece : length]);
            assert(hash.finish() == expected);
        }
    }
    uint[8] one = initial, other = initial;
    compress(one, bytes[]);
    compressPortably(other, bytes[]);
    assert(one == other);
}
