const std = @import("std");

pub fn build(b: *std.Build) void {
    const target = b.standardTargetOptions(.{});
    const optimize = b.standardOptimizeOption(.{});

    const library = b.addModule("merkle", .{
        .root_source_file = b.path("src/merkle.zig"),
        .target = target,
        .optimize = optimize,
    });
    const program = b.addExecutable(.{
        .name = "merkle",
        .root_module = b.createModule(.{
            .root_source_file = b.path("src/main.zig"),
            .target = target,
            .optimize = optimize,
            .imports = &.{.{ .name = "merkle", .module = library }},
        }),
    });
    b.installArtifact(program);

    const tests = b.step("test", "Run the tests");
    for ([_]*std.Build.Module{ library, program.root_module }) |module| {
        tests.dependOn(&b.addRunArtifact(b.addTest(.{ .root_module = module })).step);
    }
}
