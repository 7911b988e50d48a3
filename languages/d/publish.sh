#!/bin/sh
# The dry run of DUB's registry: the fields that it reads, and a project that is built over the packed files. Publishes nothing.
set -eu
cd "$(dirname "$0")"
../need.sh ldc2:ldc dub:dub

# No package index, nothing outside this folder.
export DUB_HOME="$PWD/.dub/home"
dub() { command dub "$@" --skip-registry=all --compiler=ldc2; }

# The packed files as a dependency of a project of its own, built with -release, which leaves out contracts.
version=0.1.0
rm -rf bin/packed
mkdir -p "bin/packed/merkle-$version" bin/packed/user/source
cp -rL dub.sdl README.md LICENSE-MIT LICENSE-APACHE simple.d source app "bin/packed/merkle-$version"
tar -C bin/packed -czf "bin/packed/merkle-$version.tar.gz" "merkle-$version"
rm -r "bin/packed/merkle-$version"
tar -C bin/packed -xzf "bin/packed/merkle-$version.tar.gz"
# What the registry reads.
dub describe --root="bin/packed/merkle-$version" >bin/packed/described.json
for field in '"name": "merkle"' '"description": "[^"]' '"homepage": "http' '"copyright": "[^"]' '"license": "MIT OR Apache-2.0"' '"authors": \['; do
    grep -q "$field" bin/packed/described.json || { echo "publish.sh: dub describe has no $field" >&2; exit 1; }
done
cat >bin/packed/user/dub.sdl <<END
name "user"
dependency "merkle" path="../merkle-$version"
END
cat >bin/packed/user/source/app.d <<'END'
import merkle;
import std.exception : collectException;
import std.string : representation;

int main()
{
    foreach (segment; [0UL, maxSegment + 1])
        if (collectException(MerkleTree!()(Format.plain, segment)) is null)
            return 1;
    auto tree = MerkleTree!()(Format.rfc6962, 4);
    tree.put("abcdefghijklmnopqr".representation);
    return tree.root[0] == 0x1b ? 0 : 2;
}
END
dub build --root=bin/packed/user --build=release
timeout 60 bin/packed/user/user || { echo "publish.sh: a segment of 0 bytes with -release, or the root: exit status $?" >&2; exit 1; }
echo "languages/d: ready to publish"
