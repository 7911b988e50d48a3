/// SHA-256 with the interface of `std.digest`, and for many messages at once, by the fastest instructions of the processor.
module merkle.sha256;

import std.digest : isDigest;

/++
SHA-256 (FIPS 180-4), a drop-in for `std.digest.sha.SHA256`.

That one is plain D; on a processor with SHA instructions and compiled with LDC, this one is some five times as fast, and for
many messages at once faster still.
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

    /// Appends to two messages that have the same length so far, side by side: with SHA instructions that takes less time than
    /// one after the other.
    static void putTwo(ref SHA256[2] pair, scope const(ubyte)[] first, scope const(ubyte)[] second) @safe pure nothrow @nogc
    in (pair[0].length == pair[1].length && first.length == second.length)
    {
        const filled = cast(size_t)(pair[0].length % 64);
        const missing = filled == 0 ? 0 : 64 - filled;
        if (first.length < missing || !shaInstructions)
        {
            pair[0].put(first);
            pair[1].put(second);
            return;
        }
        const whole = (first.length - missing) & ~size_t(63);
        version (ShaInstructions)
        {
            foreach (ref hash; pair)
                hash.length += first.length;
            pair[0].block[filled .. filled + missing] = first[0 .. missing];
            pair[1].block[filled .. filled + missing] = second[0 .. missing];
            if (missing > 0)
                compressTwo(pair, pair[0].block, pair[1].block);
            compressTwo(pair, first[missing .. missing + whole], second[missing .. missing + whole]);
        }
        const rest = first.length - missing - whole;
        pair[0].block[0 .. rest] = first[missing + whole .. $];
        pair[1].block[0 .. rest] = second[missing + whole .. $];
    }

    version (ShaInstructions)
        private static void compressTwo(ref SHA256[2] pair, scope const(ubyte)[] first, scope const(ubyte)[] second)
            @trusted pure nothrow @nogc
        {
            uint[8][2] states = [pair[0].state, pair[1].state];
            compressStreams(states, first.ptr, second.ptr, first.length / 64);
            pair[0].state = states[0];
            pair[1].state = states[1];
        }

    /++
    The digests of messages of so many bytes that lie one after another, each after the prefix, a byte, or -1 for none: two at a
    time. The digests may lie over the messages, from the first on, if a message is at least two digests long.
    +/
    static void many(int prefix, scope const(ubyte)[] messages, size_t length, scope ubyte[] digests) @trusted pure nothrow @nogc
    in (messages.length == digests.length / 32 * length && prefix >= -1 && prefix <= 255)
    {
        size_t done;
        version (ShaInstructions)
        {
            const count = digests.length / 32;
            if (lanes)
                done = manyWith!Lanes(prefix, messages.ptr, length, count, digests.ptr);
            if (shaInstructions)
                done += manyWith!(Streams!2)(prefix, messages.ptr + done * length, length, count - done, digests.ptr + done * 32);
        }
        foreach (i; done .. digests.length / 32)
        {
            SHA256 hash;
            if (prefix >= 0)
                hash.put(cast(ubyte) prefix);
            hash.put(messages[i * length .. (i + 1) * length]);
            digests[i * 32 .. (i + 1) * 32] = hash.finish();
        }
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

    /// The constants plus the schedule of the block 80 00 … 00 02 00, which ends every message of exactly 64 bytes.
    align(16) immutable uint[64] paddingAfter64 = () {
        uint[64] w;
        w[0] = 0x80000000;
        w[15] = 512;
        foreach (t; 16 .. 64)
            w[t] = (rotated(w[t - 2], 17) ^ rotated(w[t - 2], 19) ^ (w[t - 2] >> 10)) + w[t - 7]
                + (rotated(w[t - 15], 7) ^ rotated(w[t - 15], 18) ^ (w[t - 15] >> 3)) + w[t - 16];
        w[] += constants[];
        return w;
    }();

    uint rotated(uint word, uint right) @safe pure nothrow @nogc
    {
        return word >> right | word << (32 - right);
    }

    /++
    One or two streams at a time: the instruction for two rounds takes four cycles, and another may start after two, so that
    the rounds of one message run while those of the other wait. It keeps the state in two registers, a b e f and c d g h
    from the highest word down.
    +/
    struct Streams(size_t streamCount)
    {
        enum count = streamCount;
        enum instructions = "sha,ssse3,sse4.1";

        int4[count] abef, cdgh;

        pragma(inline, true) @target(instructions) void load(size_t s, ref const uint[8] state)
        {
            abef[s].array = [state[5], state[4], state[1], state[0]];
            cdgh[s].array = [state[7], state[6], state[3], state[2]];
        }

        pragma(inline, true) @target(instructions) uint[8] words(size_t s)
        {
            return [
                abef[s].array[3], abef[s].array[2], cdgh[s].array[3], cdgh[s].array[2],
                abef[s].array[1], abef[s].array[0], cdgh[s].array[1], cdgh[s].array[0]
            ];
        }

        pragma(inline, true) @target(instructions) void start()
        {
            static foreach (s; 0 .. count)
                load(s, initial);
        }

        /// Writes the digests.
        pragma(inline, true) @target(instructions) void finish(ubyte* to)
        {
            import core.bitop : bswap;

            static foreach (s; 0 .. count)
                foreach (i, word; words(s))
                    (cast(uint*) to)[8 * s + i] = bswap(word);
        }

        // Four rounds of a stream with the sums of their words and constants.
        pragma(inline, true) @target(instructions) void rounds(size_t s, int4 kw)
        {
            cdgh[s] = __builtin_ia32_sha256rnds2(cdgh[s], abef[s], kw);
            abef[s] = __builtin_ia32_sha256rnds2(abef[s], cdgh[s], shufflevector!(int4, 2, 3, 2, 3)(kw, kw));
        }

        pragma(inline, true) @target(instructions) void compress(const(ubyte)*[count] blocks, size_t blockCount)
        {
            for (; blockCount > 0; blockCount--)
            {
                const before = this;
                int4[4][count] w = void; // the last sixteen words of the schedules
                static foreach (i; 0 .. 16)
                {
                    static foreach (s; 0 .. count)
                    {
                        {
                            static if (i < 4)
                            {
                                // Four words of the block, from big-endian.
                                const bytes = loadUnaligned!byte16(cast(const(byte)*) blocks[s] + 16 * i);
                                w[s][i] = cast(int4) bigEndian(bytes, bytes);
                            }
                            else
                            {
                                // W(t) = s1(W(t - 2)) + W(t - 7) + s0(W(t - 15)) + W(t - 16), for four t at a time.
                                const seven = shufflevector!(int4, 1, 2, 3, 4)(w[s][(i + 2) % 4], w[s][(i + 3) % 4]);
                                w[s][i % 4] = __builtin_ia32_sha256msg2(
                                    __builtin_ia32_sha256msg1(w[s][i % 4], w[s][(i + 1) % 4]) + seven, w[s][(i + 3) % 4]);
                            }
                            rounds(s, w[s][i % 4] + *cast(const(int4)*)&constants[4 * i]);
                        }
                    }
                }
                static foreach (s; 0 .. count)
                {
                    abef[s] += before.abef[s];
                    cdgh[s] += before.cdgh[s];
                    blocks[s] += 64;
                }
            }
        }

        pragma(inline, true) @target(instructions) void compressPaddingAfter64()
        {
            const before = this;
            static foreach (i; 0 .. 16)
                static foreach (s; 0 .. count)
                    rounds(s, *cast(const(int4)*)&paddingAfter64[4 * i]);
            static foreach (s; 0 .. count)
            {
                abef[s] += before.abef[s];
                cdgh[s] += before.cdgh[s];
            }
        }
    }

    /// Compresses whole blocks with the instructions of the processor.
    @target(Streams!1.instructions)
    void compressWithInstructions(ref uint[8] state, scope const(ubyte)[] blocks) @trusted pure nothrow @nogc
    {
        Streams!1 one = void;
        one.load(0, state);
        one.compress([blocks.ptr], blocks.length / 64);
        state = one.words(0);
    }

    /// The same of two messages.
    @target(Streams!1.instructions)
    void compressStreams(ref uint[8][2] states, scope const(ubyte)* first, scope const(ubyte)* second, size_t count)
        @trusted pure nothrow @nogc
    {
        Streams!2 two = void;
        two.load(0, states[0]);
        two.load(1, states[1]);
        two.compress([first, second], count);
        states[0] = two.words(0);
        states[1] = two.words(1);
    }

    alias uint16 = __vector(uint[16]);

    /// Sixteen streams at a time in registers of 512 bits: word t of each of them in one register. Twice as fast as `Streams!2`.
    struct Lanes
    {
        enum count = 16;
        enum instructions = "avx512f,avx512bw";

        uint16[8] state;

    pragma(inline, true) @target(instructions) pure nothrow @nogc:

        void start()
        {
            static foreach (i; 0 .. 8)
                state[i] = initial[i];
        }

        void compress(const(ubyte)*[count] blocks, size_t blockCount)
        {
            for (; blockCount > 0; blockCount--)
            {
                uint16[16] w = void;
                static foreach (s; 0 .. 16)
                {
                    {
                        const bytes = loadUnaligned!byte64(cast(const(byte)*) blocks[s]);
                        w[s] = cast(uint16) swapped(bytes);
                    }
                    blocks[s] += 64;
                }
                transpose(w);
                uint16[8] v = state;
                static foreach (t; 0 .. 64)
                {
                    static if (t >= 16)
                        w[t % 16] += sigma!(17, 19, 10)(w[(t - 2) % 16]) + w[(t - 7) % 16] + sigma!(7, 18, 3)(w[(t - 15) % 16]);
                    round!(t, true)(v, constants[t], w[t % 16]);
                }
                static foreach (i; 0 .. 8)
                    state[i] += v[i];
            }
        }

        void compressPaddingAfter64()
        {
            uint16[8] v = state;
            static foreach (t; 0 .. 64)
                round!(t, false)(v, paddingAfter64[t], v[0]);
            static foreach (i; 0 .. 8)
                state[i] += v[i];
        }

        /// Writes the sixteen digests.
        void finish(ubyte* to)
        {
            uint16[16] rows = void;
            static foreach (i; 0 .. 8)
            {
                rows[i] = state[i];
                rows[i + 8] = state[i];
            }
            transpose(rows);
            static foreach (s; 0 .. 16)
            {
                {
                    const words = cast(byte64) rows[s];
                    const byte64 bytes = swapped(words);
                    to[32 * s .. 32 * (s + 1)] = (cast(const(ubyte)*)&bytes)[0 .. 32];
                }
            }
        }

    private static:

        template splat(uint n)
        {
            enum uint16 splat = n;
        }

        uint16 rotr(uint n)(ref const uint16 x)
        {
            return x >> splat!n | x << splat!(32 - n);
        }

        // What the schedule makes of a word.
        uint16 sigma(uint m, uint n, uint shift)(ref const uint16 x)
        {
            return rotr!m(x) ^ rotr!n(x) ^ (x >> splat!shift);
        }

        // Round t with a constant, and a word of the schedule if it is not in the constant. The working variables change their
        // places instead of their names: a is at 0, then at 7, 6 and so on.
        void round(size_t t, bool hasWord)(ref uint16[8] v, uint constant, ref const uint16 word)
        {
            enum at = (size_t i) => (i + 64 - t) % 8;
            uint16 t1 = constant;
            static if (hasWord)
                t1 += word;
            const e = v[at(4)], f = v[at(5)], g = v[at(6)];
            t1 += v[at(7)] + (rotr!6(e) ^ rotr!11(e) ^ rotr!25(e)) + ((e & f) ^ (~e & g));
            v[at(3)] += t1;
            const a = v[at(0)], b = v[at(1)], c = v[at(2)];
            v[at(7)] = t1 + (rotr!2(a) ^ rotr!13(a) ^ rotr!22(a)) + ((a & b) ^ (a & c) ^ (b & c));
        }

        alias byte64 = __vector(byte[64]);

        byte64 swapped(ref const byte64 words)
        {
            enum order = swapOrder();
            return mixin("shufflevector!(byte64, " ~ joined(order[]) ~ ")(words, words)");
        }

        // Rows become columns, in four steps: pairs of words, of pairs, of fours, of eights.
        void transpose(ref uint16[16] rows)
        {
            static foreach (step; [1, 2, 4, 8])
                static foreach (i; 0 .. 16)
                    static if ((i & step) == 0)
                    {
                        {
                            const low = rows[i], high = rows[i + step];
                            enum lower = exchange(step, 0), upper = exchange(step, 1);
                            rows[i] = mixin("shufflevector!(uint16, " ~ joined(lower[]) ~ ")(low, high)");
                            rows[i + step] = mixin("shufflevector!(uint16, " ~ joined(upper[]) ~ ")(low, high)");
                        }
                    }
        }
    }

    // Indices for `transpose`: takes the words whose bit `step` is `bit`, alternately from the first and the second row.
    int[16] exchange(int step, int bit) @safe pure nothrow
    {
        int[16] from;
        foreach (i, ref at; from)
            at = cast(int)(i & ~step | (bit ? step : 0)) + (i & step ? 16 : 0);
        return from;
    }

    // Indices that turn the bytes of each word of a 512-bit vector around.
    int[64] swapOrder() @safe pure nothrow
    {
        int[64] order;
        foreach (i, ref from; order)
            from = cast(int)(i ^ 3);
        return order;
    }

    // The numbers as arguments of a template.
    string joined(const int[] numbers) @safe pure
    {
        import std.algorithm : map;
        import std.array : join;
        import std.conv : to;

        return numbers.map!(to!string).join(", ");
    }

    immutable bool lanes;

    shared static this()
    {
        lanes = hasAvx512();
    }

    // Whether the processor has AVX-512F and BW and the system saves their registers. (core.cpuid knows neither.)
    bool hasAvx512() @trusted
    {
        import ldc.llvmasm : __asmtuple, __asm;

        // eax, ebx, ecx, edx
        static auto cpuid(uint leaf)
        {
            return __asmtuple!(uint, uint, uint, uint)("cpuid", "={eax},={ebx},={ecx},={edx},{eax},{ecx}", leaf, 0);
        }

        const first = cpuid(0), second = cpuid(1);
        if (first.v[0] < 7 || !(second.v[2] >> 27 & 1)) // OSXSAVE
            return false;
        const saved = __asm!uint("xgetbv", "={eax},{ecx},~{edx}", 0);
        const features = cpuid(7);
        return (saved & 0xe6) == 0xe6 && (features.v[1] >> 16 & 1) && (features.v[1] >> 30 & 1);
    }

    /// `SHA256.many` for the first messages, S.count at a time; returns how many those are.
    template manyWith(S)
    {
        @target(S.instructions)
        size_t manyWith(int prefix, scope const(ubyte)* messages, size_t length, size_t count, scope ubyte* digests)
            @trusted pure nothrow @nogc
        {
            // Where the bytes of a message stand in its blocks: `head` bytes after the prefix in the first one, then `whole`
            // bytes of blocks that lie as they are, then one or two blocks with the rest and the padding.
            const size_t before = prefix < 0 ? 0 : 1;
            const size_t head = before == 1 && length >= 63 ? 63 : 0;
            const size_t inLast = head > 0 ? 0 : before; // the prefix of a short message
            const size_t whole = inLast > 0 ? 0 : (length - head) & ~size_t(63);
            const size_t rest = length - head - whole;
            const size_t end = inLast + rest + 9 <= 64 ? 64 : 128;
            ubyte[64][S.count] heads = void;
            ubyte[128][S.count] ends = void;
            if (count >= S.count)
                foreach (s; 0 .. S.count)
                {
                    heads[s][0] = cast(ubyte) prefix;
                    ends[s] = 0;
                    if (inLast > 0)
                        ends[s][0] = cast(ubyte) prefix;
                    pad(ends[s], inLast + rest, end, ulong(length) + before);
                }
            size_t done;
            for (; count - done >= S.count; done += S.count)
            {
                const(ubyte)*[S.count] from = void, at = void;
                foreach (s; 0 .. S.count)
                    from[s] = messages + (done + s) * length;
                S streams = void;
                streams.start();
                if (head > 0)
                {
                    foreach (s; 0 .. S.count)
                    {
                        heads[s][1 .. 64] = from[s][0 .. 63];
                        from[s] += 63;
                        at[s] = heads[s].ptr;
                    }
                    streams.compress(at, 1);
                }
                streams.compress(from, whole / 64);
                if (length == 64 && before == 0)
                    streams.compressPaddingAfter64();
                else
                {
                    foreach (s; 0 .. S.count)
                    {
                        ends[s][inLast .. inLast + rest] = from[s][whole .. whole + rest];
                        at[s] = ends[s].ptr;
                    }
                    streams.compress(at, end / 64);
                }
                streams.finish(digests + done * 32);
            }
            return done;
        }
    }
}
else
    enum shaInstructions = false;

/// Writes the padding of a message of so many bytes after the first `at` bytes of the blocks that end it.
void pad(ref ubyte[128] blocks, size_t at, size_t end, ulong length) @safe pure nothrow @nogc
{
    blocks[at] = 0x80;
    foreach (i; 0 .. 8)
        blocks[end - 1 - i] = cast(ubyte)(length * 8 >> 8 * i);
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

// Many and two at once as one by one, against std.digest, by each implementation that this processor has.
unittest
{
    import std.digest.sha : Reference = SHA256;
    import std.digest : digest;

    auto bytes = new ubyte[40 * 300];
    foreach (i, ref b; bytes)
        b = cast(ubyte)(i * 131 + (i >> 8) * 17);
    foreach (prefix; [-1, 0, 1, 255])
        foreach (length; 0 .. 280)
        {
            enum most = 35;
            ubyte[32][most] expected;
            foreach (i, ref digest_; expected)
            {
                Reference hash;
                if (prefix >= 0)
                    hash.put(cast(ubyte) prefix);
                hash.put(bytes[1 + i * length .. 1 + (i + 1) * length]);
                digest_ = hash.finish();
            }
            void check(size_t count, size_t done, ref const ubyte[(most + 1) * 32] digests)
            {
                foreach (i; 0 .. done)
                    assert(digests[i * 32 .. (i + 1) * 32] == expected[i]);
                assert(digests[done * 32] == 0xAA);
            }

            foreach (count; [0, 1, 2, 3, 15, 16, 17, 18, 32, 35])
            {
                ubyte[(most + 1) * 32] digests = 0xAA;
                SHA256.many(prefix, bytes[1 .. 1 + count * length], length, digests[0 .. count * 32]);
                check(count, count, digests);
                version (ShaInstructions)
                {
                    if (lanes)
                    {
                        digests = 0xAA;
                        check(count, manyWith!Lanes(prefix, bytes.ptr + 1, length, count, digests.ptr), digests);
                    }
                    if (shaInstructions)
                    {
                        digests = 0xAA;
                        check(count, manyWith!(Streams!2)(prefix, bytes.ptr + 1, length, count, digests.ptr), digests);
                    }
                }
            }
        }
    // In place, as a tree does it.
    foreach (count; [2, 3, 16, 17, 33])
    {
        auto pairs = bytes[0 .. count * 64].dup;
        SHA256.many(-1, pairs, 64, pairs[0 .. count * 32]);
        foreach (i; 0 .. count)
            assert(pairs[i * 32 .. (i + 1) * 32] == digest!Reference(bytes[i * 64 .. (i + 1) * 64]));
    }
    foreach (length; 0 .. 260)
        foreach (cut; [0, length / 3, length])
        {
            SHA256[2] pair;
            SHA256.putTwo(pair, bytes[0 .. cut], bytes[300 .. 300 + cut]);
            SHA256.putTwo(pair, bytes[cut .. length], bytes[300 + cut .. 300 + length]);
            assert(pair[0].finish() == digest!Reference(bytes[0 .. length]));
            assert(pair[1].finish() == digest!Reference(bytes[300 .. 300 + length]));
        }
}

// A message of 0x5c0000043 bytes, of which only the last three are hashed: more than 2^32 bits. The digest is that of a SHA-256
// in Python that takes the length as an argument.
unittest
{
    import std.digest : LetterCase, toHexString;

    SHA256 hash;
    hash.length = 0x5c0000040;
    hash.put('a', 'b', 'c');
    assert(hash.finish().toHexString!(LetterCase.lower) == "6f4b2092600157b7435334d871afe0d90babaf5074a983495c504ad38b11e869");
    ubyte[128] blocks;
    pad(blocks, 3, 64, 0x5c0000043);
    assert(blocks[56 .. 64] == [0, 0, 0, 0x2e, 0, 0, 0x02, 0x18] && blocks[3] == 0x80);
}
