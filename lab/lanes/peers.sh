#!/bin/sh
# Builds the peers that are not on crates.io, below /tmp/lanes-peers, and prints the RUSTFLAGS that link them:
#   RUSTFLAGS="$(lab/lanes/peers.sh ISAL)" cargo run --release --features hashtree-rs
# ISAL is a checkout of github.com/intel/isa-l_crypto (needs nasm); it may be missing or `-`.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=/tmp/lanes-peers
mkdir -p "$out"
if [ "${1:--}" != - ]; then
    make -C "$1" -f Makefile.unx -j2 lib >&2
    gcc -O2 -c -I "$1/include" -I "$1/include/isa-l_crypto" -o "$out/isal.o" "$here/isal.c"
    rm -f "$out/libisal_peer.a" && cp "$1/bin/isa-l_crypto.a" "$out/libisal_peer.a" && ar r "$out/libisal_peer.a" "$out/isal.o" 2>/dev/null
    printf '%s' "--cfg peer_isal -L native=$out -l static=isal_peer "
fi
