#!/bin/sh
# What `zig fetch` does with a release: takes the packed files and builds a project over them. Zig has no registry.
set -eu
cd "$(dirname "$0")"
zig=$(./zig.sh)

# What `zig fetch` gives: the packed files in a project of their own.
version=$(sed -n 's/^ *\.version = "\(.*\)",/\1/p' build.zig.zon)
rm -rf zig-out/packed
mkdir -p zig-out/packed/merkle zig-out/packed/user
# shellcheck disable=SC2046 # names without spaces
cp -rL $(sed -n 's/^ *\.paths = \.{\(.*\)},/\1/p' build.zig.zon | tr -d '",') zig-out/packed/merkle
tar -C zig-out/packed -czf "zig-out/packed/merkle-$version.tar.gz" merkle
cat >zig-out/packed/user/build.zig.zon <<END
.{ .name = .user, .version = "0.0.0", .fingerprint = 0x8d93d649027302b1, .paths = .{""}, .dependencies = .{} }
END
cat >zig-out/packed/user/build.zig <<'END'
const std = @import("std");

pub fn build(b: *std.Build) void {
    const target = b.standardTargetOptions(.{});
    const program = b.addExecutable(.{ .name = "user", .root_module = b.createModule(.{
        .root_source_file = b.path("main.zig"),
        .target = target,
        .imports = &.{.{ .name = "merkle", .module = b.dependency("merkle", .{ .target = target }).module("merkle") }},
    }) });
    b.step("run", "Run it").dependOn(&b.addRunArtifact(program).step);
}
END
cat >zig-out/packed/user/main.zig <<'END'
const std = @import("std");
const merkle = @import("merkle");

pub fn main() void {
    var tree: merkle.Tree(merkle.Sha256) = .init(.{ .format = .rfc6962, .segment = 4 });
    tree.update("abcdefghijklmnopqr");
    std.debug.assert(tree.peek()[0] == 0x1b);
}
END
(
    cd zig-out/packed/user
    "$zig" fetch --save=merkle "../merkle-$version.tar.gz"
    "$zig" build run
)
echo "languages/zig: ready to publish"
