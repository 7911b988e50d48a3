//! Tests of the tree. The shared rows are read by the program: see ../../contract.sh.

const std = @import("std");
const merkle = @import("merkle.zig");
const Format = merkle.Format;
const Tree = merkle.Tree(merkle.Sha256);
const expect = std.testing.expect;
const expectEqual = std.testing.expectEqual;

const formats = [_]Format{ .plain, .rfc6962 };

/// Bytes that do not repeat on a power of two.
const input = blk: {
    @setEvalBranchQuota(200_000);
    var bytes: [30_000]u8 = undefined;
    for (&bytes, 0..) |*byte, i| byte.* = @truncate(i * 131 + (i >> 8) * 17);
    break :blk bytes;
};

fn digestOf(comptime Hash: type, prefix: ?u8, parts: []const []const u8) [Hash.digest_length]u8 {
    var hasher: Hash = .init(.{});
    if (prefix) |byte| hasher.update(&.{byte});
    for (parts) |part| hasher.update(part);
    var digest: [Hash.digest_length]u8 = undefined;
    hasher.final(&digest);
    return digest;
}

/// The root as spec/rfc6962.md defines it: split at the largest power of two below the number of leaves.
fn definition(comptime Hash: type, format: Format, segment: u64, bytes: []const u8) [Hash.digest_length]u8 {
    const prefixed = format == .rfc6962;
    if (bytes.len == 0) return digestOf(Hash, null, &.{});
    if (bytes.len <= segment) return digestOf(Hash, if (prefixed) 0 else null, &.{bytes});
    var left: usize = @intCast(segment);
    while (2 * left < bytes.len) left *= 2;
    return digestOf(Hash, if (prefixed) 1 else null, &.{
        &definition(Hash, format, segment, bytes[0..left]),
        &definition(Hash, format, segment, bytes[left..]),
    });
}

fn rootOf(format: Format, segment: u64, bytes: []const u8) Tree.Digest {
    var root: Tree.Digest = undefined;
    Tree.hash(bytes, &root, .{ .format = format, .segment = segment });
    return root;
}

test "2^22 + 32 zero bytes" {
    var tree: Tree = .init(.{});
    const zeros: [4096]u8 = @splat(0);
    for (0..1024) |_| tree.update(&zeros);
    tree.update(zeros[0..32]);
    try std.testing.expectEqualStrings(
        "e9683665a90bd70aabd7705cba57c2be2a4e913a0ca1a14d765497112c178120",
        &std.fmt.bytesToHex(tree.peek(), .lower),
    );
}

test "no bytes" {
    for (formats) |format| {
        try expectEqual(digestOf(merkle.Sha256, null, &.{}), rootOf(format, 1, ""));
    }
}

test "any hash of std.crypto, by the definition" {
    var prng: std.Random.DefaultPrng = .init(1);
    const random = prng.random();
    const hash = std.crypto.hash;
    inline for (.{ merkle.Sha256, hash.sha2.Sha256, hash.Md5, hash.Blake3, hash.blake2.Blake2b512 }) |Hash| {
        for (formats) |format| {
            for (0..30) |i| {
                const segment = random.intRangeAtMost(u64, 1, 300);
                var size = random.uintLessThan(usize, input.len);
                if (i % 3 == 0) size -= size % @as(usize, @intCast(segment));
                var root: [Hash.digest_length]u8 = undefined;
                merkle.Tree(Hash).hash(input[0..size], &root, .{ .format = format, .segment = segment });
                try expectEqual(definition(Hash, format, segment, input[0..size]), root);
            }
        }
    }
}

test "pieces of any size; roots on the way disturb nothing; a reset is complete" {
    var prng: std.Random.DefaultPrng = .init(2);
    const random = prng.random();
    for (formats) |format| {
        for (0..40) |i| {
            const segment = random.intRangeAtMost(u64, 1, 100);
            const size = random.uintLessThan(usize, input.len);
            var tree: Tree = .init(.{ .format = format, .segment = segment });
            tree.update(input[0..random.uintLessThan(usize, input.len)]);
            tree.reset();
            try expectEqual(definition(merkle.Sha256, format, segment, ""), tree.peek());
            var at: usize = 0;
            while (at < size) {
                const piece = @min(random.uintAtMost(usize, 10 + 90 * i), size - at);
                tree.update(input[at..][0..piece]);
                at += piece;
                if (at == size or random.uintLessThan(usize, 100) == 0) {
                    try expectEqual(definition(merkle.Sha256, format, segment, input[0..at]), tree.peek());
                    try expectEqual(std.math.divCeil(u64, at, segment), tree.leaves());
                }
            }
        }
    }
}

/// `input`, whose read number `fails_at` fails.
const Source = struct {
    reads: u64 = 0,
    fails_at: u64 = 0,

    pub fn readAt(self: *Source, offset: u64, buffer: []u8) error{OnFire}!void {
        self.reads += 1;
        if (self.reads == self.fails_at) return error.OnFire;
        @memcpy(buffer, input[@intCast(offset)..][0..buffer.len]);
    }
};

test "a source that is read at any offset" {
    var prng: std.Random.DefaultPrng = .init(4);
    const random = prng.random();
    var buffer: [1024]u8 = undefined;
    for (formats) |format| {
        for (0..100) |i| {
            const segment = random.intRangeAtMost(u64, 1, if (i % 3 == 0) 200 else 2000);
            const size = random.uintLessThan(usize, if (i % 5 == 0) input.len else 9000);
            const before = if (i % 2 == 0) 0 else random.uintAtMost(usize, size);
            const room = buffer[0..random.intRangeAtMost(usize, 128, buffer.len)];
            var tree: Tree = .init(.{ .format = format, .segment = segment });
            tree.update(input[0..before]);
            var source: Source = .{};
            try tree.updateFrom(&source, before, size - before, room);
            try expectEqual(definition(merkle.Sha256, format, segment, input[0..size]), tree.peek());
            if (source.reads == 0) continue;
            var failing: Source = .{ .fails_at = 1 + random.uintLessThan(u64, source.reads) };
            tree.reset();
            tree.update(input[0..before]);
            try std.testing.expectError(error.OnFire, tree.updateFrom(&failing, before, size - before, room));
            try std.testing.expectError(error.BufferTooSmall, tree.updateFrom(&failing, 0, size, room[0..127]));
        }
    }
}

/// The root of 2^level leaves of one zero byte.
fn perfect(format: Format, level: usize) Tree.Digest {
    var digest = definition(merkle.Sha256, format, 1, "\x00");
    for (0..level) |_| digest = digestOf(merkle.Sha256, if (format == .rfc6962) 1 else null, &.{ &digest, &digest });
    return digest;
}

test "past 2^32 leaves" {
    const zeros: [256]u8 = @splat(0);
    for (formats) |format| {
        var tree: Tree = .init(.{ .format = format, .segment = 1, .index = 1 << 32 });
        // A tree just below 2^32 equal leaves, put together by hand.
        tree.joined = (1 << 32) - 256;
        for (8..32) |level| tree.frontier[level] = perfect(format, level);
        tree.update(&zeros);
        try expectEqual(perfect(format, 32), tree.peek());
        try expect(tree.prove() == null);
        tree.update(zeros[0..1]);
        const root = digestOf(merkle.Sha256, if (format == .rfc6962) 1 else null, &.{ &perfect(format, 32), &perfect(format, 0) });
        try expectEqual(root, tree.peek());
        const proof = tree.prove().?;
        try expectEqual((1 << 32) + 1, proof.leaves);
        try expectEqual(1, proof.length);
        try expect(Tree.verify(format, 1, root, &proof, zeros[0..1]));
    }
}

fn prove(format: Format, segment: u64, index: u64, bytes: []const u8) Tree.Proof {
    var tree: Tree = .init(.{ .format = format, .segment = segment, .index = index });
    tree.update(bytes);
    tree.reset();
    tree.update(bytes[0 .. bytes.len / 3]);
    _ = tree.prove(); // on the way: disturbs nothing
    tree.update(bytes[bytes.len / 3 ..]);
    return tree.prove().?;
}

fn leafAt(bytes: []const u8, segment: u64, index: u64) []const u8 {
    return bytes[@intCast(index * segment)..@min(bytes.len, @as(usize, @intCast((index + 1) * segment)))];
}

test "every proof, and no other" {
    const segment = 3;
    for (formats) |format| {
        for (1..20) |leaves| {
            const bytes = input[0 .. leaves * segment - 1];
            const root = definition(merkle.Sha256, format, segment, bytes);
            for (0..leaves) |index| {
                const leaf = leafAt(bytes, segment, index);
                const proof = prove(format, segment, index, bytes);
                try expect(Tree.verify(format, segment, root, &proof, leaf));
                try expect(!Tree.verify(format, segment, root, &proof, leaf[1..]));
                try expect(!Tree.verify(format, segment, root, &proof, ""));
                try expect(!Tree.verify(format, leaf.len - 1, root, &proof, leaf));
                for (0..proof.length) |level| {
                    var changed = proof;
                    changed.digests[level][level % 32] ^= 1;
                    try expect(!Tree.verify(format, segment, root, &changed, leaf));
                }
                var other = proof;
                other.length += 1;
                try expect(!Tree.verify(format, segment, root, &other, leaf));
                if (proof.length > 0) {
                    other.length = proof.length - 1;
                    try expect(!Tree.verify(format, segment, root, &other, leaf));
                }
                other = proof;
                for (0..leaves + 1) |elsewhere| {
                    other.index = elsewhere;
                    try expectEqual(elsewhere == index, Tree.verify(format, segment, root, &other, leaf));
                }
            }
        }
    }
}

test "proofs of large trees" {
    var prng: std.Random.DefaultPrng = .init(3);
    const random = prng.random();
    for (formats) |format| {
        for (0..40) |_| {
            const segment = random.intRangeAtMost(u64, 1, 30);
            const size = random.intRangeLessThan(usize, 1, input.len);
            const index = random.uintLessThan(u64, try std.math.divCeil(u64, size, segment));
            const proof = prove(format, segment, index, input[0..size]);
            const root = definition(merkle.Sha256, format, segment, input[0..size]);
            try expect(Tree.verify(format, segment, root, &proof, leafAt(input[0..size], segment, index)));
        }
    }
}

// What spec/plain.md warns of: the two digests below a root are a leaf of a tree of one leaf with the same root.
test "a forgery, in plain only" {
    for (formats) |format| {
        const root = rootOf(format, 64, input[0..128]);
        const digests = rootOf(format, 64, input[0..64]) ++ rootOf(format, 64, input[64..128]);
        const proof: Tree.Proof = .{ .index = 0, .leaves = 1, .length = 0, .digests = undefined };
        try expectEqual(format == .plain, Tree.verify(format, 64, root, &proof, &digests));
    }
}
