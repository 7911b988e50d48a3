//! Merkle roots of byte streams, and inclusion proofs.
//!
//! `Tree(Hash)` is a hasher in the style of `std.crypto.hash`, over any hash of that style; `Sha256` of this package is the
//! fastest. It computes the tree of RFC 6962, 2.1, with the prefixes that distinguish leaves from nodes, or without.

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

/// The most levels of a tree: leaves are counted in 64 bits.
pub const levels = 64;

/// The size of the largest leaf in bytes.
pub const segment_max = 1 << 40;

pub fn Tree(comptime Hash: type) type {
    return struct {
        const Self = @This();

        pub const digest_length = Hash.digest_length;
        pub const Digest = [digest_length]u8;

        pub const Options = struct {
            format: Format = .plain,
            /// Bytes in a leaf, 1 to `segment_max`.
            segment: u64 = 64,
            /// The index of the leaf that `prove` is for, counted from 0.
            index: ?u64 = null,
        };

        /// An inclusion proof: the siblings of a leaf and of the nodes above it (RFC 9162, 2.1.3).
        pub const Proof = struct {
            /// Of the leaf, counted from 0.
            index: u64,
            /// In the whole tree.
            leaves: u64,
            /// Digests in the path.
            length: usize,
            digests: [levels]Digest,

            /// The siblings, the lowest first.
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
        /// [k] is the sibling of the node of 2^k leaves over leaf `options.index`.
        siblings: [levels]?Digest,

        /// An empty tree. Panics, in every build mode, if the segment is not 1 to `segment_max`.
        pub fn init(options: Options) Self {
            if (options.segment == 0 or options.segment > segment_max) @panic("merkle: a segment has 1 to 2^40 bytes");
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

        /// Removes all bytes.
        pub fn reset(self: *Self) void {
            self.joined = 0;
            self.waiting = 0;
            self.filled = 0;
            self.siblings = @splat(null);
        }

        /// The number of leaves so far, including a short last one.
        pub fn leaves(self: *const Self) u64 {
            return self.joined + self.waiting + @intFromBool(self.filled > 0);
        }

        /// Appends bytes.
        pub fn update(self: *Self, bytes: []const u8) void {
            var rest = bytes;
            while (rest.len > 0) {
                const whole = self.filled == 0 and rest.len >= self.options.segment;
                rest = rest[if (whole) self.updateLeaves(rest) else self.updatePart(rest)..];
            }
        }

        /// Hashes whole leaves where they lie, as many as the batch has room for; returns their bytes.
        fn updateLeaves(self: *Self, bytes: []const u8) usize {
            const segment: usize = @intCast(self.options.segment);
            const count = @min(bytes.len / segment, batch_size - self.waiting);
            many(self.options.format.leafPrefix(), bytes, segment, self.batch[self.waiting..][0..count]);
            self.pushed(count);
            return count * segment;
        }

        /// Hashes a part of a leaf, up to its end; returns the bytes of that part.
        fn updatePart(self: *Self, bytes: []const u8) usize {
            if (self.filled == 0) self.leaf = beginLeaf(self.options.format);
            const used: usize = @intCast(@min(bytes.len, self.options.segment - self.filled));
            self.leaf.update(bytes[0..used]);
            self.filled += used;
            if (self.filled == self.options.segment) {
                self.leaf.final(&self.batch[self.waiting]);
                self.filled = 0;
                self.pushed(1);
            }
            return used;
        }

        /// Counts digests that were added to the batch.
        fn pushed(self: *Self, count: usize) void {
            self.waiting += count;
            if (self.waiting == batch_size) self.joinBatch();
        }

        /// Appends the `size` bytes at `offset` of a source that can be read at any offset: `source.readAt(offset, buffer)`
        /// fills the buffer or returns an error, after which the tree is to be reset. A buffer of less than 128 bytes is
        /// `error.BufferTooSmall`, and nothing is read.
        ///
        /// Where two leaves do not fit into `buffer` and the hash has `updateTwo`, two leaves are
        /// read and hashed side by side, which takes less time than `update`.
        pub fn updateFrom(self: *Self, source: anytype, offset: u64, size: u64, buffer: []u8) !void {
            if (buffer.len < 128) return error.BufferTooSmall;
            const segment = self.options.segment;
            const half = buffer.len / 2 / 64 * 64;
            var at = offset;
            while (at < offset + size) {
                const rest = offset + size - at;
                if (@hasDecl(Hash, "updateTwo") and self.filled == 0 and segment > half and rest / 2 >= segment) {
                    try self.updateTwo(source, at, buffer[0..half], buffer[half..][0..half]);
                    at += 2 * segment;
                    continue;
                }
                // Up to the end of a leaf that has begun; else whole leaves, so that none is put together from two reads.
                const most = if (self.filled > 0)
                    @min(segment - self.filled, buffer.len)
                else if (segment < buffer.len) buffer.len - buffer.len % segment else buffer.len;
                const piece = buffer[0..@intCast(@min(rest, most))];
                try source.readAt(at, piece);
                self.update(piece);
                at += piece.len;
            }
        }

        fn updateTwo(self: *Self, source: anytype, offset: u64, first: []u8, second: []u8) !void {
            const segment = self.options.segment;
            var leaf_pair: [2]Hash = @splat(beginLeaf(self.options.format));
            var at: u64 = 0;
            while (at < segment) {
                const size: usize = @intCast(@min(segment - at, first.len));
                try source.readAt(offset + at, first[0..size]);
                try source.readAt(offset + segment + at, second[0..size]);
                Hash.updateTwo(&leaf_pair, .{ first[0..size], second[0..size] });
                at += size;
            }
            for (&leaf_pair) |*leaf| {
                leaf.final(&self.batch[self.waiting]);
                self.pushed(1);
            }
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
                self.keepSibling(level, first >> level, row);
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
                self.keepSibling(level, (first >> level) - 1, self.frontier[level..][0..1]);
                self.keepSibling(level, first >> level, &.{digest});
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
                    self.keepSibling(level, (first >> level) - 1, &.{left});
                    self.keepSibling(level, first >> level, &.{right});
                    edge = node(self.options.format, &left, &right);
                } else edge = left;
            }
            if (edge) |root| return root;
            var empty: [1]Digest = undefined;
            many(null, "", 0, &empty); // no bytes: H of nothing, in both formats
            return empty[0];
        }

        /// Keeps the sibling on this level if it is among these nodes, of which `first` is the first. Every node that is
        /// computed is passed to this function once.
        ///
        /// Node n of level k is over the leaves n·2^k to (n + 1)·2^k. The proven leaf is under node index >> k, and that
        /// node's sibling is the one whose number differs in the last bit.
        fn keepSibling(self: *Self, level: u6, first: u64, digests: []const Digest) void {
            const index = self.options.index orelse return;
            const sibling = index >> level ^ 1;
            if (sibling >= first and sibling - first < digests.len)
                self.siblings[level] = digests[@intCast(sibling - first)];
        }

        /// The proof for leaf `options.index` in the tree so far; null if that is null, or the leaf has not begun.
        pub fn prove(self: Self) ?Proof {
            const index = self.options.index orelse return null;
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

        /// Whether the proof proves that `bytes` are a leaf under `root`. A leaf has `segment` bytes; the last one may be
        /// shorter, but not empty.
        ///
        /// `proof.leaves` must come from the source of the root, not from whoever sent the proof. In `.plain` any other
        /// number allows a forgery: the two digests below a root are the only leaf of a shorter stream with the same root.
        pub fn verify(format: Format, segment: u64, root: Digest, proof: *const Proof, bytes: []const u8) bool {
            if (proof.index >= proof.leaves or proof.length > levels) return false;
            const is_last = proof.index == proof.leaves - 1;
            if (bytes.len == 0 or bytes.len > segment or (bytes.len < segment and !is_last)) return false;
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
                if (at ^ 1 > last) continue; // a last node without a sibling is on the next level as it is
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
