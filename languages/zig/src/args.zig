//! The command line: ../../contract.sh has its grammar.

const std = @import("std");
const merkle = @import("merkle");

pub const Mode = enum {
    root,
    @"--rows",
    @"--prove",
    @"--verify",
    @"--hash-rate",
    @"--help",
};

/// What the command line asks for.
pub const Command = struct {
    mode: Mode = .root,
    format: merkle.Format = .plain,
    segment: u64 = 64,
    times: u64 = 0,
    /// "-" is the standard input.
    path: ?[]const u8 = null,
    /// --format or --segment, if one was given.
    shaped: ?[]const u8 = null,

    /// The file to open; null for the standard input.
    pub fn file(self: Command) ?[]const u8 {
        const path = self.path orelse return null;
        return if (std.mem.eql(u8, path, "-")) null else path;
    }
};

/// The largest number on a command line or in a row.
pub const limit = merkle.segment_max;

/// Writes the message of a bad command line.
const Problem = struct {
    out: *std.Io.Writer,

    fn say(self: Problem, comptime message: []const u8, values: anytype) error{Misused} {
        // A message that is too long for the writer is cut.
        self.out.print(message, values) catch {};
        return error.Misused;
    }
};

/// Reads the command line. After `error.Misused`, `out` has a message.
pub fn parse(arguments: []const [:0]const u8, out: *std.Io.Writer) error{Misused}!Command {
    const problem: Problem = .{ .out = out };
    var command: Command = .{};
    var options = true;
    var i: usize = 0;
    while (i < arguments.len) : (i += 1) {
        const argument = arguments[i];
        if (options and std.mem.eql(u8, argument, "--")) {
            options = false;
        } else if (options and argument.len > 1 and argument[0] == '-') {
            const equals = std.mem.findScalar(u8, argument, '=');
            const name = argument[0 .. equals orelse argument.len];
            var value: ?[]const u8 = if (equals) |at| argument[at + 1 ..] else null;
            const Option = enum { @"--format", @"--segment", @"--hash-rate", @"--rows", @"--prove", @"--verify", @"--help" };
            const option = std.meta.stringToEnum(Option, name) orelse return problem.say("unknown option '{s}'", .{argument});
            switch (option) {
                .@"--format", .@"--segment", .@"--hash-rate" => {
                    if (value == null) {
                        i += 1;
                        if (i == arguments.len) return problem.say("{s}: its value is missing", .{name});
                        value = arguments[i];
                    }
                    try setValue(&command, problem, name, value.?);
                },
                inline .@"--rows", .@"--prove", .@"--verify", .@"--help" => |flag| {
                    if (value != null) return problem.say("{s} takes no value", .{name});
                    if (flag == .@"--help") return .{ .mode = .@"--help" };
                    try setMode(&command, problem, @field(Mode, @tagName(flag)));
                },
            }
        } else if (command.path != null) {
            return problem.say("one FILE is expected, '{s}' is one more", .{argument});
        } else command.path = argument;
    }
    if (command.mode != .root) {
        if (command.path) |path| return problem.say("{t} takes no FILE: '{s}'", .{ command.mode, path });
        if (command.shaped) |name| return problem.say("{t} takes no {s}", .{ command.mode, name });
    }
    return command;
}

fn setValue(command: *Command, problem: Problem, name: []const u8, value: []const u8) !void {
    if (std.mem.eql(u8, name, "--format")) {
        command.shaped = name;
        command.format = std.meta.stringToEnum(merkle.Format, value) orelse
            return problem.say("{s}: '{s}' is neither plain nor rfc6962", .{ name, value });
        return;
    }
    const read = number(value, 1) catch
        return problem.say("{s}: '{s}' is not a number from 1 to {d}", .{ name, value, @as(u64, limit) });
    if (std.mem.eql(u8, name, "--segment")) {
        command.shaped = name;
        command.segment = read;
    } else {
        try setMode(command, problem, .@"--hash-rate");
        command.times = read;
    }
}

fn setMode(command: *Command, problem: Problem, mode: Mode) !void {
    if (command.mode != .root and command.mode != mode)
        return problem.say("{t} and {t} exclude each other", .{ command.mode, mode });
    command.mode = mode;
}

/// Reads decimal digits, without a leading zero, as a number from `least` to `limit`. (`parseInt` also takes signs and
/// underscores.)
pub fn number(text: []const u8, least: u64) error{BadNumber}!u64 {
    if (text.len > 1 and text[0] == '0') return error.BadNumber;
    for (text) |character| if (!std.ascii.isDigit(character)) return error.BadNumber;
    const value = std.fmt.parseInt(u64, text, 10) catch return error.BadNumber;
    return if (value >= least and value <= limit) value else error.BadNumber;
}

fn parsed(arguments: []const [:0]const u8) !Command {
    var buffer: [256]u8 = undefined;
    var out: std.Io.Writer = .fixed(&buffer);
    return parse(arguments, &out);
}

test "a command line" {
    const asked = try parsed(&.{ "--format=rfc6962", "file", "--segment", "4" });
    try std.testing.expectEqual(merkle.Format.rfc6962, asked.format);
    try std.testing.expectEqual(4, asked.segment);
    try std.testing.expectEqualStrings("file", asked.file().?);
    try std.testing.expectEqual(null, (try parsed(&.{"-"})).file());
    try std.testing.expectEqualStrings("--rows", (try parsed(&.{ "--", "--rows" })).file().?);
    try std.testing.expectError(error.Misused, parsed(&.{ "--segment", "1_0" }));
    try std.testing.expectError(error.Misused, parsed(&.{"--format"}));
    try std.testing.expectError(error.Misused, parsed(&.{"--color"}));
    try std.testing.expectError(error.Misused, parsed(&.{ "a", "b" }));
}
