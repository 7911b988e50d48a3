//! SHA-256 (FIPS 180-4) with the interface of `std.crypto.hash`, and for many messages of equal length.
//!
//! `std.crypto.hash.sha2.Sha256` uses the SHA instructions of x86 only if the program is built for a processor that has
//! them. Here the processor is asked at run time, and two messages are hashed at once where there are two: each
//! `sha256rnds2` takes four cycles, and another one may start after two.

const std = @import("std");
const builtin = @import("builtin");
const Std = std.crypto.hash.sha2.Sha256;

/// The fastest SHA-256 here. It has `many` if there is anything to be gained by that.
pub const Sha256 = if (possible) Dispatching else Std;

/// Whether x86 code can be generated at all: the C backend takes no vectors in assembly.
const possible = builtin.cpu.arch == .x86_64 and builtin.zig_backend != .stage2_c;

/// One message that comes in pieces, by the processor's instructions if it has them.
const Dispatching = union(enum) {
    portable: Std,
    x86: X86,

    pub const digest_length = 32;
    pub const block_length = 64;
    pub const Options = struct {};

    pub fn init(_: Options) Dispatching {
        return if (hasX86()) .{ .x86 = .{} } else .{ .portable = .init(.{}) };
    }

    pub fn hash(bytes: []const u8, out: *[digest_length]u8, options: Options) void {
        var hasher: Dispatching = .init(options);
        hasher.update(bytes);
        hasher.final(out);
    }

    pub fn update(self: *Dispatching, bytes: []const u8) void {
        switch (self.*) {
            inline else => |*hasher| hasher.update(bytes),
        }
    }

    /// Appends to two messages that have the same length so far, side by side.
    pub fn updateTwo(pair: *[2]Dispatching, bytes: [2][]const u8) void {
        if (pair[0] == .x86)
            X86.updateTwo(.{ &pair[0].x86, &pair[1].x86 }, bytes)
        else for (pair, bytes) |*hasher, piece| hasher.update(piece);
    }

    pub fn final(self: *Dispatching, out: *[digest_length]u8) void {
        switch (self.*) {
            inline else => |*hasher| hasher.final(out),
        }
    }

    /// The digests of the messages of `size` bytes that lie one after another, each after the prefix, one for each of
    /// `digests`. Those may lie over the messages, from the first on, if a message is at least two digests long.
    pub fn many(prefix: ?u8, messages: []const u8, size: usize, digests: [][digest_length]u8) void {
        if (!hasX86()) return oneByOne(Std, prefix, messages, size, digests);
        var layout: Layout = .of(prefix, size);
        var i: usize = 0;
        while (digests.len - i >= 2) : (i += 2) {
            hashMessages(2, &layout, messages[i * size ..][0 .. 2 * size], digests[i..][0..2]);
        }
        if (i < digests.len) hashMessages(1, &layout, messages[i * size ..][0..size], digests[i..][0..1]);
    }
};

/// What `Sha256.many` is, by any hash with the interface of `std.crypto.hash`.
pub fn oneByOne(
    comptime Hash: type,
    prefix: ?u8,
    messages: []const u8,
    size: usize,
    digests: [][Hash.digest_length]u8,
) void {
    for (digests, 0..) |*digest, i| {
        var hasher: Hash = .init(.{});
        if (prefix) |byte| hasher.update(&.{byte});
        hasher.update(messages[i * size ..][0..size]);
        hasher.final(digest);
    }
}

// ---- Blocks by the SHA instructions of x86 ----

const Words = @Vector(4, u32);

/// The state in the order that the instructions want: words f, e, b, a in one register, h, g, d, c in the other.
const State = struct {
    abef: Words = .{ 0x9b05688c, 0x510e527f, 0xbb67ae85, 0x6a09e667 },
    cdgh: Words = .{ 0x5be0cd19, 0x1f83d9ab, 0xa54ff53a, 0x3c6ef372 },

    fn add(self: *State, other: State) void {
        self.abef +%= other.abef;
        self.cdgh +%= other.cdgh;
    }

    fn digest(self: State, out: *[32]u8) void {
        const abcd = @shuffle(u32, self.abef, self.cdgh, [4]i32{ 3, 2, ~@as(i32, 3), ~@as(i32, 2) });
        const efgh = @shuffle(u32, self.abef, self.cdgh, [4]i32{ 1, 0, ~@as(i32, 1), ~@as(i32, 0) });
        wordsAt(out[0..16]).* = bigEndian(abcd);
        wordsAt(out[16..32]).* = bigEndian(efgh);
    }

    /// Four rounds; `wk` is their words and constants.
    inline fn rounds(self: *State, wk: Words) void {
        self.cdgh = asm ("sha256rnds2 %[from], %[to]"
            : [to] "=x" (-> Words),
            : [_] "0" (self.cdgh),
              [from] "x" (self.abef),
              [_] "{xmm0}" (wk),
        );
        self.abef = asm ("sha256rnds2 %[from], %[to]"
            : [to] "=x" (-> Words),
            : [_] "0" (self.abef),
              [from] "x" (self.cdgh),
              [_] "{xmm0}" (@shuffle(u32, wk, undefined, [4]i32{ 2, 3, 2, 3 })),
        );
    }
};

/// One load or store. (`@bitCast` of the bytes becomes sixteen.)
inline fn wordsAt(bytes: anytype) if (@TypeOf(bytes) == *[16]u8) *align(1) Words else *align(1) const Words {
    return @ptrCast(bytes);
}

/// `@byteSwap`, which without `-mcpu` becomes a dozen instructions.
inline fn bigEndian(words: Words) Words {
    return asm ("pshufb %[order], %[words]"
        : [words] "=x" (-> Words),
        : [_] "0" (words),
          [order] "x" (@as(Words, .{ 0x00010203, 0x04050607, 0x08090a0b, 0x0c0d0e0f })),
    );
}

/// The next four words, from the sixteen before.
inline fn schedule(w16: Words, w12: Words, w8: Words, w4: Words) Words {
    const first = asm ("sha256msg1 %[next], %[sum]"
        : [sum] "=x" (-> Words),
        : [_] "0" (w16),
          [next] "x" (w12),
    );
    const sum = first +% @shuffle(u32, w8, w4, [4]i32{ 1, 2, 3, ~@as(i32, 0) });
    return asm ("sha256msg2 %[last], %[sum]"
        : [sum] "=x" (-> Words),
        : [_] "0" (sum),
          [last] "x" (w4),
    );
}

/// Hashes the next blocks of each message: as many as the first has.
fn compress(comptime streams: usize, states: *[streams]State, messages: [streams][]const u8) void {
    var at: usize = 0;
    while (at < messages[0].len) : (at += 64) {
        var next = states.*;
        var w: [streams][4]Words = undefined;
        inline for (0..16) |t| {
            inline for (0..streams) |s| {
                const now = &w[s][t % 4];
                now.* = if (t < 4)
                    bigEndian(wordsAt(messages[s][at + 16 * t ..][0..16]).*)
                else
                    schedule(now.*, w[s][(t + 1) % 4], w[s][(t + 2) % 4], w[s][(t + 3) % 4]);
                next[s].rounds(now.* +% @as(Words, constants[4 * t ..][0..4].*));
            }
        }
        inline for (states, next) |*state, sum| state.add(sum);
    }
}

/// Hashes the block that follows every message of exactly 64 bytes: nothing of its schedule is left to compute.
fn compressAfter64(comptime streams: usize, states: *[streams]State) void {
    var next = states.*;
    inline for (0..16) |t| {
        inline for (0..streams) |s| next[s].rounds(padding_after_64[4 * t ..][0..4].*);
    }
    inline for (states, next) |*state, sum| state.add(sum);
}

/// One message that comes in pieces.
const X86 = struct {
    state: [1]State = .{.{}},
    buffer: [64]u8 = undefined,
    /// Whether `fill` has completed the buffer.
    complete: bool = false,
    length: u64 = 0,

    fn update(self: *X86, bytes: []const u8) void {
        const rest = self.fill(bytes);
        if (self.complete) compress(1, &self.state, .{&self.buffer});
        compress(1, &self.state, .{rest[0 .. rest.len - rest.len % 64]});
        self.keep(rest);
    }

    /// `update` of two messages that have the same length so far.
    fn updateTwo(pair: [2]*X86, bytes: [2][]const u8) void {
        var states: [2]State = .{ pair[0].state[0], pair[1].state[0] };
        const rest = [2][]const u8{ pair[0].fill(bytes[0]), pair[1].fill(bytes[1]) };
        if (pair[0].complete) compress(2, &states, .{ &pair[0].buffer, &pair[1].buffer });
        const whole = rest[0].len - rest[0].len % 64;
        compress(2, &states, .{ rest[0][0..whole], rest[1][0..whole] });
        for (pair, states, rest) |self, state, end| {
            self.state[0] = state;
            self.keep(end);
        }
    }

    /// Moves the first bytes to the block that waits, which may become complete; returns the others.
    fn fill(self: *X86, bytes: []const u8) []const u8 {
        const waiting: usize = @intCast(self.length % 64);
        self.length += bytes.len;
        const used = if (waiting == 0) 0 else @min(64 - waiting, bytes.len);
        @memcpy(self.buffer[waiting..][0..used], bytes[0..used]);
        self.complete = waiting > 0 and waiting + used == 64;
        return bytes[used..];
    }

    /// Keeps the bytes after the last whole block.
    fn keep(self: *X86, rest: []const u8) void {
        const end = rest[rest.len - rest.len % 64 ..];
        @memcpy(self.buffer[0..end.len], end);
    }

    fn final(self: *X86, out: *[32]u8) void {
        const waiting: usize = @intCast(self.length % 64);
        var last: [128]u8 = @splat(0);
        @memcpy(last[0..waiting], self.buffer[0..waiting]);
        const end = pad(&last, waiting, self.length);
        compress(1, &self.state, .{last[0..end]});
        self.state[0].digest(out);
    }
};

/// Ends a message of `length` bytes, of which the last `at` are in these blocks. Returns the end of the last block.
fn pad(blocks: *[128]u8, at: usize, length: u64) usize {
    const end: usize = if (at + 9 <= 64) 64 else 128;
    blocks[at] = 0x80;
    std.mem.writeInt(u64, blocks[end - 8 ..][0..8], length * 8, .big);
    return end;
}

/// Where the bytes of a message stand in its blocks: a first block if a prefix goes before it, blocks that lie as they are,
/// and one or two with the rest and the padding.
const Layout = struct {
    /// Bytes of the message in the first block.
    head: usize,
    /// Bytes of the message in whole blocks after that.
    whole: usize,
    /// The prefix and the message's bytes go into the last blocks from here on.
    rest: usize,
    /// The end of the last block; 0 for the padding that is always the same.
    end: usize,
    heads: [2][64]u8,
    lasts: [2][128]u8,

    fn of(prefix: ?u8, size: usize) Layout {
        const before: usize = if (prefix == null) 0 else 1;
        const head: usize = if (before == 1 and size >= 63) 63 else 0;
        const short = before == 1 and head == 0;
        const whole = if (short) 0 else (size - head) / 64 * 64;
        const rest: usize = @intFromBool(short);
        var self: Layout = .{
            .head = head,
            .whole = whole,
            .rest = rest,
            .end = undefined,
            .heads = @splat(@splat(prefix orelse 0)),
            .lasts = @splat(@splat(0)),
        };
        for (&self.lasts) |*last| {
            if (short) last[0] = prefix.?;
            self.end = pad(last, rest + size - head - whole, size + before);
        }
        if (before == 0 and size == 64) self.end = 0;
        return self;
    }
};

inline fn hashMessages(
    comptime streams: usize,
    layout: *Layout,
    messages: []const u8,
    digests: *[streams][32]u8,
) void {
    const size = messages.len / streams;
    var states: [streams]State = @splat(.{});
    var rest: [streams][]const u8 = undefined;
    var blocks: [streams][]const u8 = undefined;
    inline for (0..streams) |s| rest[s] = messages[s * size ..][0..size];
    if (layout.head > 0) {
        inline for (0..streams) |s| {
            @memcpy(layout.heads[s][1..], rest[s][0..63]);
            rest[s] = rest[s][63..];
            blocks[s] = &layout.heads[s];
        }
        compress(streams, &states, blocks);
    }
    inline for (0..streams) |s| blocks[s] = rest[s][0..layout.whole];
    compress(streams, &states, blocks);
    if (layout.end == 0) {
        compressAfter64(streams, &states);
    } else {
        inline for (0..streams) |s| {
            const last = rest[s][layout.whole..];
            @memcpy(layout.lasts[s][layout.rest..][0..last.len], last);
            blocks[s] = layout.lasts[s][0..layout.end];
        }
        compress(streams, &states, blocks);
    }
    inline for (states, digests) |state, *digest| state.digest(digest);
}

// ---- Which processor ----

/// Whether this one has SHA, SSSE3 and SSE4.1.
fn hasX86() bool {
    const Answer = enum(u8) { unknown, no, yes };
    const asked = struct {
        // A cpuid takes a microsecond under a hypervisor: it is asked once. Threads that ask together agree.
        var answer: std.atomic.Value(Answer) = .init(.unknown);
    };
    switch (asked.answer.load(.monotonic)) {
        .unknown => {
            const needed = 1 << 19 | 1 << 9;
            const yes = cpuid(0).eax >= 7 and cpuid(1).ecx & needed == needed and cpuid(7).ebx >> 29 & 1 == 1;
            asked.answer.store(if (yes) .yes else .no, .monotonic);
            return yes;
        },
        .no => return false,
        .yes => return true,
    }
}

const Leaf = struct { eax: u32, ebx: u32, ecx: u32 };

fn cpuid(leaf: u32) Leaf {
    var eax: u32 = undefined;
    var ebx: u32 = undefined;
    var ecx: u32 = undefined;
    var edx: u32 = undefined;
    asm volatile ("cpuid"
        : [_] "={eax}" (eax),
          [_] "={ebx}" (ebx),
          [_] "={ecx}" (ecx),
          [_] "={edx}" (edx),
        : [_] "{eax}" (leaf),
          [_] "{ecx}" (@as(u32, 0)),
    );
    return .{ .eax = eax, .ebx = ebx, .ecx = ecx };
}

/// FIPS 180-4, 4.2.2.
const constants = [64]u32{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

/// The same plus the words of the block 80 00 … 00 02 00.
const padding_after_64 = [64]u32{
    0xc28a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf374,
    0x649b69c1, 0xf0fe4786, 0x0fe1edc6, 0x240cf254, 0x4fe9346f, 0x6cc984be, 0x61b9411e, 0x16f988fa,
    0xf2c65152, 0xa88e5a6d, 0xb019fc65, 0xb9d99ec7, 0x9a1231c3, 0xe70eeaa0, 0xfdb1232b, 0xc7353eb0,
    0x3069bad5, 0xcb976d5f, 0x5a0f118f, 0xdc1eeefd, 0x0a35b689, 0xde0b7a04, 0x58f4ca9d, 0xe15d5b16,
    0x007f3e86, 0x37088980, 0xa507ea32, 0x6fab9537, 0x17406110, 0x0d8cd6f1, 0xcdaa3b6d, 0xc0bbbe37,
    0x83613bda, 0xdb48a363, 0x0b02e931, 0x6fd15ca7, 0x521afaca, 0x31338431, 0x6ed41a95, 0x6d437890,
    0xc39c91f2, 0x9eccabbd, 0xb5c9a0e6, 0x532fb63c, 0xd2c741c6, 0x07237ea3, 0xa4954b68, 0x4c191d76,
};

test "the examples of FIPS 180-4" {
    var digest: [32]u8 = undefined;
    Sha256.hash("abc", &digest, .{});
    try std.testing.expectEqualStrings(
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        &std.fmt.bytesToHex(digest, .lower),
    );
}

// The length in bits of a message of more than 2^29 bytes; the digest is that of a SHA-256 in Python that takes the length as
// an argument.
test "more than 2^32 bits" {
    if (!possible or !hasX86()) return error.SkipZigTest;
    var hasher: X86 = .{ .length = 0x5c0000040 };
    hasher.update("abc");
    var digest: [32]u8 = undefined;
    hasher.final(&digest);
    try std.testing.expectEqualStrings(
        "6f4b2092600157b7435334d871afe0d90babaf5074a983495c504ad38b11e869",
        &std.fmt.bytesToHex(digest, .lower),
    );
    const layout: Layout = .of(null, 0x5c0000043);
    for (layout.lasts) |last| try std.testing.expectEqual(0x5c0000043 * 8, std.mem.readInt(u64, last[56..64], .big));
}

test "two messages side by side as one by one" {
    var bytes: [600]u8 = undefined;
    for (&bytes, 0..) |*byte, i| byte.* = @truncate(i * 131 + (i >> 8) * 17);
    if (!@hasDecl(Sha256, "updateTwo")) return error.SkipZigTest;
    for (0..260) |length| {
        for ([_]usize{ 0, length / 3, length }) |cut| {
            var pair: [2]Sha256 = @splat(.init(.{}));
            Sha256.updateTwo(&pair, .{ bytes[0..cut], bytes[300..][0..cut] });
            Sha256.updateTwo(&pair, .{ bytes[cut..length], bytes[300 + cut .. 300 + length] });
            for (&pair, [_]usize{ 0, 300 }) |*hasher, at| {
                var digest: [32]u8 = undefined;
                var expected: [32]u8 = undefined;
                hasher.final(&digest);
                Std.hash(bytes[at..][0..length], &expected, .{});
                try std.testing.expectEqual(expected, digest);
            }
        }
    }
}

test "pieces of any size as std.crypto has them" {
    var bytes: [300]u8 = undefined;
    for (&bytes, 0..) |*byte, i| byte.* = @truncate(i * 131);
    for (0..bytes.len) |length| {
        for ([_]usize{ 0, length / 3, length }) |cut| {
            var pieces: Sha256 = .init(.{});
            pieces.update(bytes[0..cut]);
            pieces.update(bytes[cut..length]);
            var digest: [32]u8 = undefined;
            pieces.final(&digest);
            var expected: [32]u8 = undefined;
            Std.hash(bytes[0..length], &expected, .{});
            try std.testing.expectEqual(expected, digest);
        }
    }
}

test "many messages as one by one" {
    if (!possible) return error.SkipZigTest;
    var bytes: [5 * 300]u8 = undefined;
    for (&bytes, 0..) |*byte, i| byte.* = @truncate(i * 131 + (i >> 8) * 17);
    for ([_]?u8{ null, 0, 1, 255 }) |prefix| {
        for (0..300) |size| {
            for (0..6) |count| {
                var expected: [5][32]u8 = undefined;
                var digests: [5][32]u8 = undefined;
                oneByOne(Std, prefix, &bytes, size, expected[0..count]);
                Dispatching.many(prefix, &bytes, size, digests[0..count]);
                try std.testing.expectEqualSlices([32]u8, expected[0..count], digests[0..count]);
            }
        }
    }
}
