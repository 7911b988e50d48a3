//! Prints the Merkle root of a file: zig run -OReleaseFast -mcpu=native src/simple.zig -- SEGMENT FILE
//!
//! The whole idea of this package in one file, with the SHA-256 of `std.crypto`. A leaf is the hash of one segment, a node the
//! hash of its two children's digests, and neither has a prefix (the format plain).

const std = @import("std");
const Sha256 = std.crypto.hash.sha2.Sha256;
const Digest = [Sha256.digest_length]u8;

/// The roots of perfect subtrees, at most one of each height: the binary digits of the number of leaves.
const Tree = struct {
    /// [k] is the root of 2^k leaves, where bit k of `leaves` is set.
    subtrees: [64]Digest = undefined,
    leaves: u64 = 0,

    /// Appends a leaf as one is added to a binary number: each carry joins two subtrees of equal height.
    fn push(self: *Tree, leaf: Digest) void {
        var digest = leaf;
        var level: u6 = 0;
        while (self.leaves >> level & 1 == 1) : (level += 1) digest = hash(&(self.subtrees[level] ++ digest));
        self.subtrees[level] = digest;
        self.leaves += 1;
    }

    /// Joins the subtrees along the right edge, the smallest first. A tree without leaves has the hash of no bytes.
    fn root(self: *const Tree) Digest {
        var joined: ?Digest = null;
        for (&self.subtrees, 0..) |*left, level| {
            if (self.leaves >> @intCast(level) & 1 == 1)
                joined = if (joined) |right| hash(&(left.* ++ right)) else left.*;
        }
        return joined orelse hash("");
    }
};

fn hash(bytes: []const u8) Digest {
    var digest: Digest = undefined;
    Sha256.hash(bytes, &digest, .{});
    return digest;
}

pub fn main(init: std.process.Init) !void {
    const io = init.io;
    const arguments = try init.minimal.args.toSlice(init.arena.allocator());
    if (arguments.len != 3) return error.ExpectedSegmentAndFile;
    const segment = try std.fmt.parseInt(usize, arguments[1], 10);
    if (segment == 0 or segment > 1 << 40) return error.SegmentOutOfRange;
    const leaf = try init.arena.allocator().alloc(u8, segment);
    const file = try std.Io.Dir.cwd().openFile(io, arguments[2], .{});
    defer file.close(io);
    var buffer: [1 << 17]u8 = undefined;
    var reader: std.Io.File.Reader = .initStreaming(file, io, &buffer);

    // To the end, one segment at a time. Only the last one may be shorter.
    var tree: Tree = .{};
    while (true) {
        const got = try reader.interface.readSliceShort(leaf);
        if (got == 0) break;
        tree.push(hash(leaf[0..got]));
    }

    var out_buffer: [80]u8 = undefined;
    var out: std.Io.File.Writer = .initStreaming(.stdout(), io, &out_buffer);
    try out.interface.print("{x}\n", .{&tree.root()});
    try out.interface.flush();
}
