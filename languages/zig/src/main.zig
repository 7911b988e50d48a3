//! The program `merkle`: the Merkle root of a file.

const std = @import("std");
const merkle = @import("merkle");
const args = @import("args.zig");
const rows = @import("rows.zig");
const Io = std.Io;

const usage = @embedFile("usage.txt");

pub fn main(init: std.process.Init) u8 {
    const io = init.io;
    const allocator = init.arena.allocator();
    const arguments = init.minimal.args.toSlice(allocator) catch |err| return failed(io, "arguments", err);
    var message: [4096]u8 = undefined;
    var problem: Io.Writer = .fixed(&message);
    const command = args.parse(arguments[1..], &problem) catch {
        say(io, "merkle: {s}\nTry 'merkle --help'.\n", .{problem.buffered()});
        return 2;
    };
    var out_buffer: [1 << 16]u8 = undefined;
    var file_writer: Io.File.Writer = .initStreaming(.stdout(), io, &out_buffer);
    const out = &file_writer.interface;
    var row: u64 = 0;
    const result = switch (command.mode) {
        .@"--help" => out.writeAll(usage),
        .@"--hash-rate" => hashRate(io, out, command.times),
        .root => printRoot(io, out, command),
        else => rows.complete(io, allocator, out, command.mode, &row),
    };
    // Rows before the one that failed are right.
    const flushed = out.flush();
    result catch |err| {
        if (err == error.WriteFailed) return failed(io, "standard output", file_writer.err orelse err);
        var name: [32]u8 = undefined;
        const what = if (row > 0)
            std.fmt.bufPrint(&name, "row {d}", .{row}) catch unreachable
        else
            command.file() orelse "standard input";
        return failed(io, what, err);
    };
    flushed catch |err| return failed(io, "standard output", file_writer.err orelse err);
    return 0;
}

fn say(io: Io, comptime format: []const u8, values: anytype) void {
    var buffer: [256]u8 = undefined;
    var file_writer: Io.File.Writer = .initStreaming(.stderr(), io, &buffer);
    // There is no place left for a message when this fails.
    file_writer.interface.print(format, values) catch return;
    file_writer.interface.flush() catch return;
}

fn failed(io: Io, what: []const u8, err: anyerror) u8 {
    say(io, "merkle: {s}: {t}\n", .{ what, err });
    return 1;
}

/// Bytes in the read buffer: a second-level cache holds it.
const buffer_size = 1 << 17;

/// A file that can be read at any offset.
const Source = struct {
    io: Io,
    file: Io.File,

    pub fn readAt(self: Source, offset: u64, buffer: []u8) !void {
        const got = try self.file.readPositionalAll(self.io, buffer, offset);
        if (got < buffer.len) return error.FileBecameShorter;
    }
};

fn printRoot(io: Io, out: *Io.Writer, command: args.Command) !void {
    const segment = command.segment;
    const file: Io.File = if (command.file()) |name| try Io.Dir.cwd().openFile(io, name, .{}) else .stdin();
    defer if (command.file() != null) file.close(io);
    // Into other places, some processors copy at a third of the speed.
    var buffer: [buffer_size]u8 align(64) = undefined;
    var tree: merkle.Tree(merkle.Sha256) = .init(.{ .format = command.format, .segment = segment });
    if (command.file() != null) {
        // A regular file whose leaves are long: pairs of them side by side, then the rest.
        const stat = try file.stat(io);
        if (stat.kind == .file and segment > buffer_size / 2) {
            var at = stat.size / segment / 2 * 2 * segment;
            try tree.updateFrom(Source{ .io = io, .file = file }, 0, at, &buffer);
            while (true) {
                const got = try file.readPositionalAll(io, &buffer, at);
                if (got == 0) break;
                tree.update(buffer[0..got]);
                at += got;
            }
            return out.print("{x}\n", .{&tree.peek()});
        }
    }
    // Reads of whole leaves, so that none is put together from two reads.
    const size: usize = if (segment <= buffer_size) @intCast(buffer_size / segment * segment) else buffer_size;
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

test {
    _ = args;
}
