#!/bin/sh
# Builds and tests both packages, as packed by publish.sh, with the GHC of Debian's testing distribution, in a folder of its own with
# that distribution: ~/.cache/mksum/ghc, or $MKSUM_GHC_ROOT. Needs the rights of chroot, debootstrap and half a gigabyte.
set -eu
cd "$(dirname "$0")"
root=${MKSUM_GHC_ROOT:-$HOME/.cache/mksum/ghc}
packages="ghc cabal-install libghc-tasty-dev libghc-tasty-hunit-dev libghc-tasty-quickcheck-dev"

if [ "$(id -u)" -ne 0 ]; then
    echo "newest.sh: not root, which chroot needs: the newest GHC is left out" >&2
    exit 0
fi
work=
trap '[ -z "$work" ] || rm -rf "$work"; ! mountpoint -q "$root/proc" || umount "$root/proc"' EXIT
# GHC finds its libraries beside /proc/self/exe.
mount_proc() { mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"; }

if [ ! -e "$root/complete" ]; then
    ../need.sh debootstrap:debootstrap
    mirror=$(sed -n 's/^deb  *\(\[[^]]*\] *\)\{0,1\}\([^ ]*\) .*main.*/\2/p; s/^URIs: *//p' \
        /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null | grep -v security | head -n 1)
    echo "newest.sh: installing Debian testing with $packages in $root" >&2
    rm -rf "$root"
    mkdir -p "$root"
    # shellcheck disable=SC2086 # a list of packages
    # debootstrap does not follow virtual packages, apt does. A mirror may be some weeks old.
    {
        debootstrap --variant=minbase testing "$root" "$mirror" &&
            echo 'Acquire::Check-Valid-Until "false";' >"$root/etc/apt/apt.conf.d/99mirror" &&
            mount_proc &&
            chroot "$root" apt-get update -qq &&
            chroot "$root" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages
    } >"$root.log" 2>&1 || { tail "$root.log"; exit 1; }
    touch "$root/complete"
fi
work=$(mktemp -d "$root/root/XXXXXX")
mount_proc
cp -r dist-newstyle/packed/sha256-0.1.0.0 dist-newstyle/packed/merkle-0.1.0.0 "$work"
# Without the sessions in the documentation: their text is that of one GHC, and doctest is not in every Debian.
for file in "$work"/*/*.cabal; do
    awk '/^[a-z]/ { skip = $0 == "test-suite sessions" } !skip' "$file" >"$file.new"
    mv "$file.new" "$file"
done
cat >"$work/cabal.project" <<'END'
packages: */*.cabal
active-repositories: :none
END
cat >"$work/run" <<'END'
set -eu
cd "$(dirname "$0")"
export LANG=C.UTF-8 CABAL_DIR="$PWD/cabal" CABAL_CONFIG=/dev/null
ghc --version
tests='sha256:test:vectors sha256:test:memory merkle:test:properties merkle:test:interrupts'
cabal test --offline -v1 --enable-tests --ghc-options=-Werror $tests
cabal build --offline -v1 merkle:exe:merkle
cp "$(cabal list-bin --offline -v0 merkle:exe:merkle)" merkle-newest
END
chroot "$root" sh "/root/$(basename "$work")/run" >dist-newstyle/newest.log 2>&1 || { cat dist-newstyle/newest.log; exit 1; }
head -n 1 dist-newstyle/newest.log
grep -E 'PASS|passed' dist-newstyle/newest.log
