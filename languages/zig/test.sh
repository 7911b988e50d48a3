#!/bin/sh
# Installs Zig if it is missing, builds bin/merkle, and tests everything of this folder.
set -eu
cd "$(dirname "$0")"

# The standard library changes with each release: this one and no other.
release=0.17.0
if [ "$(zig version 2>/dev/null)" = $release ]; then
    zig=zig
else
    zig=$PWD/.toolchain/bin/python-zig
    if [ "$("$zig" version 2>/dev/null)" != $release ]; then
        python3 -c 'import venv, ensurepip' 2>/dev/null || ../need.sh /nonexistent:python3-venv
        echo "test.sh: installing ziglang $release with pip" >&2
        rm -rf .toolchain
        python3 -m venv .toolchain
        .toolchain/bin/pip install --quiet --disable-pip-version-check ziglang==$release
    fi
fi

"$zig" fmt --check build.zig build.zig.zon src
# The fast program, and one with every index, cast and overflow checked: side by side, since a compilation uses one core.
"$zig" build --prefix . -Doptimize=ReleaseFast &
fast=$!
"$zig" build --prefix zig-out -Doptimize=ReleaseSafe
wait $fast
"$zig" build-exe -OReleaseFast -mcpu=native -femit-bin=bin/simple src/simple.zig
../contract.sh zig-out/bin/merkle
# The tests, with the same checks.
"$zig" build test --summary all
# Other processors: the portable way compiles.
"$zig" build --prefix zig-out -Dtarget=aarch64-linux

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
echo "languages/zig: built and tested"
