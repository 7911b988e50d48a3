//! Rows of test vectors: read from standard input, and written with the columns that are computed here.

const std = @import("std");
const merkle = @import("merkle");
const args = @import("args.zig");
const Io = std.Io;
const number = args.number;

const Columns = []const []const u8;

/// Copies rows and completes each, up to the first that cannot be completed. `row` is its number.
pub fn complete(io: Io, allocator: std.mem.Allocator, out: *Io.Writer, mode: args.Mode, row: *u64) !void {
    var buffer: [1 << 16]u8 = undefined; // longer than any row
    var file_reader: Io.File.Reader = .initStreaming(.stdin(), io, &buffer);
    while (file_reader.interface.takeDelimiter('\n') catch |err| switch (err) {
        error.ReadFailed => return file_reader.err orelse err,
        else => return err,
    }) |line| {
        row.* += 1;
        if (std.mem.startsWith(u8, line, "#")) {
            try out.print("{s}\n", .{line});
            continue;
        }
        var columns: [8][]const u8 = undefined;
        var count: usize = 0;
        var split = std.mem.splitScalar(u8, line, '\t');
        while (split.next()) |column| : (count += 1) {
            if (count == columns.len) return error.TooManyColumns;
            columns[count] = column;
        }
        const expected: usize = switch (mode) {
            .@"--rows" => 5,
            .@"--prove" => 7,
            else => 8,
        };
        if (count != expected) return if (count < expected) error.TooFewColumns else error.TooManyColumns;
        switch (mode) {
            .@"--rows" => try completeRoot(out, columns[0..5]),
            .@"--prove" => try completeProof(out, columns[0..7]),
            else => try completeVerdict(allocator, out, columns[0..8]),
        }
    }
}

/// format input length root source
fn completeRoot(out: *Io.Writer, columns: Columns) !void {
    const shape: Shape = try .named(columns[0]);
    const pattern = std.meta.stringToEnum(Pattern, columns[1]) orelse return error.UnknownInput;
    const length = try number(columns[2], 0);
    switch (shape.hash) {
        inline else => |hash| {
            var tree: merkle.Tree(hash.Type()) = .init(.{ .format = shape.format, .segment = shape.segment });
            pattern.feed(&tree, length);
            try out.print("{s}\t{s}\t{s}\t{x}\t{s}\n", .{ columns[0], columns[1], columns[2], &tree.peek(), columns[4] });
        },
    }
}

/// format input length index root path source
fn completeProof(out: *Io.Writer, columns: Columns) !void {
    const shape: Shape = try .named(columns[0]);
    const pattern = std.meta.stringToEnum(Pattern, columns[1]) orelse return error.UnknownInput;
    const length = try number(columns[2], 0);
    const index = try number(columns[3], 0);
    if (shape.hash != .sha256) return error.ProofsAreOverSha256;
    var tree: Tree = .init(.{ .format = shape.format, .segment = shape.segment, .index = index });
    pattern.feed(&tree, length);
    const proof = tree.prove() orelse return error.NoSuchLeaf;
    for (columns[0..4]) |column| try out.print("{s}\t", .{column});
    try out.print("{x}\t", .{&tree.peek()});
    for (proof.path(), 0..) |*digest, i| try out.print("{s}{x}", .{ if (i > 0) "," else "", digest });
    try out.print("{s}\t{s}\n", .{ if (proof.length == 0) "-" else "", columns[6] });
}

/// format leaves index leaf root path verdict source
fn completeVerdict(allocator: std.mem.Allocator, out: *Io.Writer, columns: Columns) !void {
    var arena: std.heap.ArenaAllocator = .init(allocator);
    defer arena.deinit();
    const shape: Shape = try .named(columns[0]);
    if (shape.hash != .sha256) return error.ProofsAreOverSha256;
    var proof: Tree.Proof = .{
        .leaves = try number(columns[1], 0),
        .index = try number(columns[2], 0),
        .length = 0,
        .digests = undefined,
    };
    const leaf = try unhex(arena.allocator(), columns[3]);
    const root = try unhex(arena.allocator(), columns[4]);
    var fits = root.len == Tree.digest_length;
    if (!std.mem.eql(u8, columns[5], "-")) {
        var path = std.mem.splitScalar(u8, columns[5], ',');
        while (path.next()) |text| {
            const digest = try unhex(arena.allocator(), text);
            fits = fits and digest.len == Tree.digest_length and proof.length < merkle.levels;
            if (!fits) continue;
            proof.digests[proof.length] = digest[0..Tree.digest_length].*;
            proof.length += 1;
        }
    }
    const valid = fits and Tree.verify(shape.format, shape.segment, root[0..Tree.digest_length].*, &proof, leaf);
    for (columns[0..6]) |column| try out.print("{s}\t", .{column});
    try out.print("{s}\t{s}\n", .{ if (valid) "valid" else "invalid", columns[7] });
}

const Tree = merkle.Tree(merkle.Sha256);

/// Decodes lowercase hex; "-" is no bytes.
fn unhex(allocator: std.mem.Allocator, text: []const u8) ![]const u8 {
    if (std.mem.eql(u8, text, "-")) return "";
    if (text.len == 0 or text.len % 2 == 1) return error.BadHex;
    for (text) |character| if (std.ascii.isUpper(character)) return error.BadHex;
    const bytes = try allocator.alloc(u8, text.len / 2);
    return std.fmt.hexToBytes(bytes, text) catch error.BadHex;
}

/// A format string: rfc6962:sha256:64KiB.
const Shape = struct {
    format: merkle.Format,
    hash: HashName,
    segment: u64,

    fn named(text: []const u8) !Shape {
        var parts = std.mem.splitScalar(u8, text, ':');
        const shape: Shape = .{
            .format = std.meta.stringToEnum(merkle.Format, parts.first()) orelse return error.UnknownFormat,
            .hash = std.meta.stringToEnum(HashName, parts.next() orelse "") orelse return error.UnknownHash,
            .segment = try segmentSize(parts.next() orelse ""),
        };
        return if (parts.next() == null) shape else error.UnknownFormat;
    }
};

/// 64, 4KiB, 1MiB, 1GiB, 1TiB.
fn segmentSize(text: []const u8) !u64 {
    inline for (.{ "KiB", "MiB", "GiB", "TiB" }, 1..) |unit, power| {
        if (std.mem.endsWith(u8, text, unit)) {
            const count = try number(text[0 .. text.len - unit.len], 1);
            return if (count <= args.limit >> 10 * power) count << 10 * power else error.BadNumber;
        }
    }
    return number(text, 1);
}

const HashName = enum {
    md5,
    sha1,
    sha224,
    sha256,
    sha384,
    sha512,
    @"sha512-256",
    blake2s,
    blake2b,
    blake3,

    fn Type(comptime name: HashName) type {
        const hash = std.crypto.hash;
        return switch (name) {
            .md5 => hash.Md5,
            .sha1 => hash.Sha1,
            .sha224 => hash.sha2.Sha224,
            .sha256 => merkle.Sha256,
            .sha384 => hash.sha2.Sha384,
            .sha512 => hash.sha2.Sha512,
            // The other one, Sha512T256, is SHA-512 cut off: another initial state, another digest.
            .@"sha512-256" => hash.sha2.Sha512_256,
            .blake2s => hash.blake2.Blake2s256,
            .blake2b => hash.blake2.Blake2b512,
            .blake3 => hash.Blake3,
        };
    }
};

/// The inputs that vectors/README.md names.
const Pattern = enum {
    mod251,
    pat,

    fn feed(pattern: Pattern, tree: anytype, length: u64) void {
        var bytes: [1 << 14]u8 = undefined;
        var at: u64 = 0;
        while (at < length) {
            const piece = bytes[0..@intCast(@min(bytes.len, length - at))];
            for (piece, at..) |*byte, i| byte.* = switch (pattern) {
                .mod251 => @intCast(i % 251),
                .pat => @truncate(i * 131 + (i >> 8) * 17),
            };
            tree.update(piece);
            at += piece.len;
        }
    }
};
