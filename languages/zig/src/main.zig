//! The program `merkle`: the Merkle root of a file.

const std = @import("std");
const merkle = @import("merkle");
const Io = std.Io;

const usage =
    \\Usage: merkle [--format plain|rfc6962] [--segment N] [FILE]
    \\       merkle --rows < ROWS
    \\       merkle --hash-rate N
    \\
    \\Prints the Merkle root of FILE, or of the standard input, over SHA-256.
    \\
    \\  --format NAME   plain (the default): leaf H(bytes), node H(left || right);
    \\                  rfc6962: leaf H(00 || bytes), node H(01 || left || right)
    \\  --segment N     the length of a leaf in bytes, at least 1 (64)
    \\  --rows          read test vectors, write them with the root computed here
    \\  --hash-rate N   hash the string "test.dat" N times: seconds and MH/s
    \\  --help          print this
    \\
    \\Exits with 1 when something cannot be read or written, with 2 on a bad option.
    \\
;

const Command = union(enum) {
    help,
    rows,
    hash_rate: u64,
    root: struct { format: merkle.Format, segment: u64, path: ?[]const u8 },
};

pub fn main(init: std.process.Init) u8 {
    const io = init.io;
    const arguments = init.minimal.args.toSlice(init.arena.allocator()) catch |err| return failed(init.io, "arguments", err);
    var problem: []const u8 = "";
    const command = parse(arguments[1..], &problem) catch |err| {
        say(io, "merkle: {s}: {t}\n{s}", .{ problem, err, usage });
        return 2;
    };
    // Larger than any row.
    var out_buffer: [4096]u8 = undefined;
    var file_writer: Io.File.Writer = .initStreaming(.stdout(), io, &out_buffer);
    const out = &file_writer.interface;
    const what, const result = switch (command) {
        .help => .{ "help", out.writeAll(usage) },
        .rows => .{ "rows", rows(io, out) },
        .hash_rate => |times| .{ "hash rate", hashRate(io, out, times) },
        .root => |asked| .{ asked.path orelse "standard input", printRoot(io, out, asked.format, asked.segment, asked.path) },
    };
    // Rows before the one that failed are right.
    const flushed = out.flush();
    result catch |err| return failed(io, what, err);
    flushed catch |err| return failed(io, "standard output", file_writer.err orelse err);
    return 0;
}

fn say(io: Io, comptime format: []const u8, values: anytype) void {
    var buffer: [256]u8 = undefined;
    var file_writer: Io.File.Writer = .initStreaming(.stderr(), io, &buffer);
    // Nothing is left to be said when this fails.
    file_writer.interface.print(format, values) catch return;
    file_writer.interface.flush() catch return;
}

fn failed(io: Io, what: []const u8, err: anyerror) u8 {
    say(io, "merkle: {s}: {t}\n", .{ what, err });
    return 1;
}

const UsageError = error{ UnknownOption, MissingValue, BadValue, TooManyArguments };

/// On an error, `problem` is the argument that it is about.
fn parse(arguments: []const [:0]const u8, problem: *[]const u8) UsageError!Command {
    var format: merkle.Format = .plain;
    var segment: u64 = 64;
    var path: ?[]const u8 = null;
    var other: ?Command = null;
    var i: usize = 0;
    while (i < arguments.len) : (i += 1) {
        const argument = arguments[i];
        problem.* = argument;
        const Option = enum { @"--format", @"--segment", @"--hash-rate", @"--rows", @"--help" };
        const option = std.meta.stringToEnum(Option, argument) orelse {
            if (std.mem.startsWith(u8, argument, "-")) return error.UnknownOption;
            if (path != null) return error.TooManyArguments;
            path = argument;
            continue;
        };
        switch (option) {
            .@"--help" => return .help,
            .@"--rows" => other = if (other == null) .rows else return error.TooManyArguments,
            inline .@"--format", .@"--segment", .@"--hash-rate" => |valued| {
                i += 1;
                if (i == arguments.len) return error.MissingValue;
                const value = arguments[i];
                switch (valued) {
                    .@"--format" => format = std.meta.stringToEnum(merkle.Format, value) orelse return error.BadValue,
                    .@"--segment" => segment = try positive(value),
                    else => other = if (other == null) .{ .hash_rate = try positive(value) } else return error.TooManyArguments,
                }
            },
        }
    }
    if (other) |command| {
        if (path != null) return error.TooManyArguments;
        return command;
    }
    return .{ .root = .{ .format = format, .segment = segment, .path = path } };
}

/// Decimal digits only: `parseInt` would also take signs and underscores.
fn digits(text: []const u8) error{BadValue}!u64 {
    for (text) |character| if (!std.ascii.isDigit(character)) return error.BadValue;
    return std.fmt.parseInt(u64, text, 10) catch error.BadValue;
}

fn positive(text: []const u8) error{BadValue}!u64 {
    const value = try digits(text);
    return if (value > 0) value else error.BadValue;
}

/// What one read asks for: a second-level cache holds it.
const buffer_size = 1 << 17;

fn printRoot(io: Io, out: *Io.Writer, format: merkle.Format, segment: u64, path: ?[]const u8) !void {
    const file: Io.File = if (path) |name| try Io.Dir.cwd().openFile(io, name, .{}) else .stdin();
    defer if (path != null) file.close(io);
    var buffer: [buffer_size]u8 = undefined;
    // Reads of whole leaves leave none of them to be put together from two.
    const size: usize = if (segment <= buffer_size) @intCast(buffer_size / segment * segment) else buffer_size;
    var tree: merkle.Tree(merkle.Sha256) = .init(.{ .format = format, .segment = segment });
    while (true) {
        const got = file.readStreaming(io, &.{buffer[0..size]}) catch |err| switch (err) {
            error.EndOfStream => break,
            else => return err,
        };
        tree.update(buffer[0..got]);
    }
    try out.print("{x}\n", .{&tree.peek()});
}

fn hashRate(io: Io, out: *Io.Writer, times: u64) !void {
    var digest: [32]u8 = undefined;
    const begin = Io.Clock.awake.now(io);
    for (0..times) |_| {
        merkle.Sha256.hash("test.dat", &digest, .{});
        std.mem.doNotOptimizeAway(&digest);
    }
    const elapsed = begin.durationTo(Io.Clock.awake.now(io));
    const seconds = @as(f64, @floatFromInt(elapsed.nanoseconds)) / 1e9;
    try out.print("{d:.6} s {d:.3} MH/s\n", .{ seconds, @as(f64, @floatFromInt(times)) / seconds / 1e6 });
}

/// Reads rows of vectors and writes each with its root; the first that cannot be computed ends it.
fn rows(io: Io, out: *Io.Writer) !void {
    var buffer: [4096]u8 = undefined;
    var file_reader: Io.File.Reader = .initStreaming(.stdin(), io, &buffer);
    while (file_reader.interface.takeDelimiter('\n') catch |err| switch (err) {
        error.ReadFailed => return file_reader.err orelse err,
        else => return err,
    }) |line| {
        if (std.mem.startsWith(u8, line, "#")) {
            try out.print("{s}\n", .{line});
        } else try writeRow(out, line);
    }
}

fn writeRow(out: *Io.Writer, line: []const u8) !void {
    var columns: [5][]const u8 = undefined;
    var split = std.mem.splitScalar(u8, line, '\t');
    for (&columns) |*column| column.* = split.next() orelse return error.RowWithTooFewColumns;
    if (split.next() != null) return error.RowWithTooManyColumns;
    const format, const input, const length, _, const source = columns;

    var parts = std.mem.splitScalar(u8, format, ':');
    const name = std.meta.stringToEnum(merkle.Format, parts.first()) orelse return error.RowOfUnknownFormat;
    const hash = std.meta.stringToEnum(HashName, parts.next() orelse "") orelse return error.RowOfUnknownHash;
    const segment = try segmentSize(parts.next() orelse "");
    if (parts.next() != null) return error.RowOfUnknownFormat;
    const pattern = std.meta.stringToEnum(Pattern, input) orelse return error.RowOfUnknownInput;
    const size = try digits(length);
    switch (hash) {
        inline else => |known| {
            var tree: merkle.Tree(known.Type()) = .init(.{ .format = name, .segment = segment });
            pattern.feed(&tree, size);
            try out.print("{s}\t{s}\t{s}\t{x}\t{s}\n", .{ format, input, length, &tree.peek(), source });
        },
    }
}

/// 64, 4KiB, 1MiB.
fn segmentSize(text: []const u8) !u64 {
    inline for (.{ .{ "KiB", 1 << 10 }, .{ "MiB", 1 << 20 } }) |unit| {
        if (std.mem.endsWith(u8, text, unit[0]))
            return std.math.mul(u64, try positive(text[0 .. text.len - unit[0].len]), unit[1]);
    }
    return positive(text);
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

test "a command line" {
    var problem: []const u8 = "";
    const asked = try parse(&.{ "--format", "rfc6962", "file", "--segment", "4" }, &problem);
    try std.testing.expectEqual(merkle.Format.rfc6962, asked.root.format);
    try std.testing.expectEqual(4, asked.root.segment);
    try std.testing.expectEqualStrings("file", asked.root.path.?);
    try std.testing.expectError(error.BadValue, parse(&.{ "--segment", "0" }, &problem));
    try std.testing.expectError(error.BadValue, parse(&.{ "--segment", "1_0" }, &problem));
    try std.testing.expectError(error.MissingValue, parse(&.{"--format"}, &problem));
    try std.testing.expectError(error.UnknownOption, parse(&.{"--color"}, &problem));
    try std.testing.expectError(error.TooManyArguments, parse(&.{ "a", "b" }, &problem));
}
