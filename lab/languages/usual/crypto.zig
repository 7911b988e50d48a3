//! The usual way in Zig: a digest at a time by `std.crypto`, in a program for the processor that it runs on.
const std = @import("std");
const Sha256 = std.crypto.hash.sha2.Sha256;

pub fn main(init: std.process.Init) !void {
    const io = init.io;
    const arguments = try init.minimal.args.toSlice(init.arena.allocator());
    const segment = try std.fmt.parseInt(usize, arguments[1], 10);
    const leaf = try init.arena.allocator().alloc(u8, segment);
    const file = try std.Io.Dir.cwd().openFile(io, arguments[2], .{});
    var buffer: [1 << 17]u8 = undefined;
    var reader: std.Io.File.Reader = .initStreaming(file, io, &buffer);
    var stack: [64][32]u8 = undefined;
    var leaves: u64 = 0;
    var digest: [32]u8 = undefined;
    while (true) {
        const got = try reader.interface.readSliceShort(leaf);
        if (got == 0) break;
        Sha256.hash(leaf[0..got], &digest, .{});
        var level: u6 = 0;
        while (leaves >> level & 1 == 1) : (level += 1) Sha256.hash(&(stack[level] ++ digest), &digest, .{});
        stack[level] = digest;
        leaves += 1;
    }
    Sha256.hash("", &digest, .{});
    var begun = false;
    for (0..64) |index| {
        const level: u6 = @intCast(index);
        if (leaves >> level & 1 == 0) continue;
        if (begun) Sha256.hash(&(stack[level] ++ digest), &digest, .{}) else digest = stack[level];
        begun = true;
    }
    var out_buffer: [80]u8 = undefined;
    var out: std.Io.File.Writer = .initStreaming(.stdout(), io, &out_buffer);
    try out.interface.print("{x}\n", .{&digest});
    try out.interface.flush();
}
