//! The Merkle root of bytes that come as they may, and proofs that a leaf is under a root.
//!
//! `Tree(Hash)` is a hasher in the style of `std.crypto.hash`, over any hash of that style; `Sha256` here is the fastest.
//! What is computed is written down in spec/plain.md and spec/rfc6962.md.

const std = @import("std");
const sha256 = @import("sha256.zig");

pub const Sha256 = sha256.Sha256;

/// What is hashed for a leaf and for a node.
pub const Format = enum {
    /// Leaf H(bytes), node H(left ‖ right): a proof is worth nothing without a trusted number of leaves.
    plain,
    /// Leaf H(00 ‖ bytes), node H(01 ‖ left ‖ right): RFC 6962, 2.1.
    rfc6962,

    fn leafPrefix(format: Format) ?u8 {
        return if (format == .rfc6962) 0 else null;
    }

    fn nodePrefix(format: Format) ?u8 {
        return if (format == .rfc6962) 1 else null;
    }
};

/// A tree has at most so many levels: leaves are counted in 64 bits.
pub const levels = 64;

pub fn Tree(comptime Hash: type) type {
    return struct {
        const Self = @This();

        pub const digest_length = Hash.digest_length;
        pub const Digest = [digest_length]u8;

        pub const Options = struct {
            format: Format = .plain,
            /// Bytes in a leaf, at least 1.
            segment: u64 = 64,
            /// The leaf that `prove` will be asked for, the first being 0.
            watched: ?u64 = null,
        };

        /// Says that a leaf is under a root: its siblings from the leaf up (RFC 6962, 2.1.1).
        pub const Proof = struct {
            index: u64,
            /// In the whole tree.
            leaves: u64,
            length: usize,
            digests: [levels]Digest,

            pub fn path(self: *const Proof) []const Digest {
                return self.digests[0..self.length];
            }
        };

        const batch_level = 8;
        const batch_size = 1 << batch_level;

        options: Options,
        /// Leaves under `frontier`: a multiple of `batch_size`.
        joined: u64,
        /// [k] is the digest of 2^k leaves, where bit k of `joined` is set.
        frontier: [levels]Digest,
        /// The digests of the leaves `joined` and on.
        batch: [batch_size]Digest,
        /// How many: below `batch_size`.
        waiting: usize,
        /// The hash of a leaf that is not complete, and the bytes in it.
        leaf: Hash,
        filled: u64,
        /// [k] is the sibling of the node over 2^k leaves on the path of the watched leaf.
        siblings: [levels]?Digest,

        pub fn init(options: Options) Self {
            std.debug.assert(options.segment > 0);
            return .{
                .options = options,
                .joined = 0,
                .frontier = undefined,
                .batch = undefined,
                .waiting = 0,
                .leaf = .init(.{}),
                .filled = 0,
                .siblings = @splat(null),
            };
        }

        /// The root of bytes in memory.
        pub fn hash(bytes: []const u8, out: *Digest, options: Options) void {
            var tree: Self = .init(options);
            tree.update(bytes);
            tree.final(out);
        }

        /// Forgets all bytes.
        pub fn reset(self: *Self) void {
            self.joined = 0;
            self.waiting = 0;
            self.filled = 0;
            self.siblings = @splat(null);
        }

        /// The number of leaves so far; a short last one counts.
        pub fn leaves(self: *const Self) u64 {
            return self.joined + self.waiting + @intFromBool(self.filled > 0);
        }

        /// Appends bytes.
        pub fn update(self: *Self, bytes: []const u8) void {
            var rest = bytes;
            while (rest.len > 0) {
                const used = if (self.filled == 0 and rest.len >= self.options.segment)
                    self.updateLeaves(rest)
                else
                    self.updatePiece(rest);
                rest = rest[used..];
                if (self.waiting == batch_size) self.joinBatch();
            }
        }

        /// Hashes whole leaves where they lie, as many as the batch has room for.
        fn updateLeaves(self: *Self, bytes: []const u8) usize {
            const segment: usize = @intCast(self.options.segment);
            const count = @min(bytes.len / segment, batch_size - self.waiting);
            many(self.options.format.leafPrefix(), bytes, segment, self.batch[self.waiting..][0..count]);
            self.waiting += count;
            return count * segment;
        }

        fn updatePiece(self: *Self, bytes: []const u8) usize {
            if (self.filled == 0) self.leaf = beginLeaf(self.options.format);
            const used: usize = @intCast(@min(bytes.len, self.options.segment - self.filled));
            self.leaf.update(bytes[0..used]);
            self.filled += used;
            if (self.filled == self.options.segment) {
                self.leaf.final(&self.batch[self.waiting]);
                self.waiting += 1;
                self.filled = 0;
            }
            return used;
        }

        fn beginLeaf(format: Format) Hash {
            var leaf: Hash = .init(.{});
            if (format.leafPrefix()) |prefix| leaf.update(&.{prefix});
            return leaf;
        }

        fn many(prefix: ?u8, messages: []const u8, size: usize, digests: []Digest) void {
            if (@hasDecl(Hash, "many"))
                Hash.many(prefix, messages, size, digests)
            else
                sha256.oneByOne(Hash, prefix, messages, size, digests);
        }

        fn node(format: Format, left: *const Digest, right: *const Digest) Digest {
            const pair: [2]Digest = .{ left.*, right.* };
            var digest: [1]Digest = undefined;
            many(format.nodePrefix(), @ptrCast(&pair), 2 * digest_length, &digest);
            return digest[0];
        }

        /// Makes one digest of those of the leaves `first` and on, level by level, and leaves it in front. A last node
        /// without a neighbour moves up as it is. `first` is a multiple of `batch_size`, so that the levels above see
        /// a whole node or the right edge.
        fn join(self: *Self, first: u64, digests: []Digest) void {
            var row = digests;
            var level: u6 = 0;
            while (row.len > 1) : (level += 1) {
                self.show(level, first >> level, row);
                const pairs = row.len / 2;
                many(self.options.format.nodePrefix(), @ptrCast(row), 2 * digest_length, row[0..pairs]);
                if (row.len % 2 == 1) row[pairs] = row[row.len - 1];
                row = row[0 .. pairs + row.len % 2];
            }
        }

        /// Makes one digest of a full batch and adds it to the frontier, as one is added to a binary number: each carry
        /// is a node.
        fn joinBatch(self: *Self) void {
            const first = self.joined;
            self.join(first, &self.batch);
            var digest = self.batch[0];
            var level: u6 = batch_level;
            while (first >> level & 1 == 1) : (level += 1) {
                self.show(level, (first >> level) - 1, self.frontier[level..][0..1]);
                self.show(level, first >> level, &.{digest});
                digest = node(self.options.format, &self.frontier[level], &digest);
            }
            self.frontier[level] = digest;
            self.joined += batch_size;
            self.waiting = 0;
        }

        /// The root of the bytes so far. The tree stays as it is: more may follow.
        pub fn peek(self: Self) Digest {
            var copy = self;
            return copy.finish();
        }

        /// The root. The tree is used up: `reset` it before it takes bytes again.
        pub fn final(self: *Self, out: *Digest) void {
            out.* = self.finish();
        }

        fn finish(self: *Self) Digest {
            const first = self.joined;
            if (self.filled > 0) {
                self.leaf.final(&self.batch[self.waiting]); // there is room: a full batch never waits
                self.waiting += 1;
                self.filled = 0;
            }
            self.join(first, self.batch[0..self.waiting]);
            var edge: ?Digest = if (self.waiting > 0) self.batch[0] else null;
            // Every subtree of the frontier is larger than all to its right: those are its right sibling.
            for (batch_level..levels) |index| {
                const level: u6 = @intCast(index);
                if (first >> level & 1 == 0) continue;
                const left = self.frontier[level];
                if (edge) |right| {
                    self.show(level, (first >> level) - 1, &.{left});
                    self.show(level, first >> level, &.{right});
                    edge = node(self.options.format, &left, &right);
                } else edge = left;
            }
            if (edge) |root| return root;
            var empty: [1]Digest = undefined;
            many(null, "", 0, &empty); // no bytes: H of nothing, in both formats
            return empty[0];
        }

        /// A level is a row of nodes; node n of level k stands over the leaves n·2^k to (n + 1)·2^k. The watched leaf is under
        /// node index >> k, whose sibling is the neighbour with the other last bit. Whoever computes nodes shows them
        /// here, from node `first` on.
        fn show(self: *Self, level: u6, first: u64, digests: []const Digest) void {
            const index = self.options.watched orelse return;
            const sibling = index >> level ^ 1;
            if (sibling >= first and sibling - first < digests.len)
                self.siblings[level] = digests[@intCast(sibling - first)];
        }

        /// The proof for the watched leaf in the tree so far; null if none is watched, or it has not begun.
        pub fn prove(self: Self) ?Proof {
            const index = self.options.watched orelse return null;
            if (index >= self.leaves()) return null;
            var copy = self;
            _ = copy.finish();
            var proof: Proof = .{ .index = index, .leaves = self.leaves(), .length = 0, .digests = undefined };
            for (copy.siblings) |kept| {
                proof.digests[proof.length] = kept orelse continue;
                proof.length += 1;
            }
            return proof;
        }

        /// Whether the proof shows that `leaf` is under `root`.
        ///
        /// `leaves` has to come from where the root comes from. In `.plain` anything else can be forged: two digests of
        /// a tree are themselves the leaf of a shorter one with the same root. The length of the leaf is the caller's
        /// to check as well.
        pub fn verify(format: Format, root: Digest, proof: *const Proof, bytes: []const u8) bool {
            if (proof.index >= proof.leaves or proof.length > levels) return false;
            var hasher = beginLeaf(format);
            hasher.update(bytes);
            var digest: Digest = undefined;
            hasher.final(&digest);
            var used: usize = 0;
            // Up the levels: `at` is the node above the leaf, `last` the last node of the level.
            var at = proof.index;
            var last = proof.leaves - 1;
            while (last > 0) : ({
                at /= 2;
                last /= 2;
            }) {
                if (at ^ 1 > last) continue; // no neighbour: it moves up as it is
                if (used == proof.length) return false;
                const sibling = &proof.digests[used];
                used += 1;
                digest = if (at % 2 == 0) node(format, &digest, sibling) else node(format, sibling, &digest);
            }
            return used == proof.length and std.mem.eql(u8, &digest, &root);
        }
    };
}

test {
    _ = sha256;
    _ = @import("tests.zig");
}
