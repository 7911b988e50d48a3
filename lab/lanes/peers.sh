#!/bin/sh
# Builds the peers that are not on crates.io, below /tmp/lanes-peers, and prints the RUSTFLAGS that link them:
#   RUSTFLAGS="$(lab/lanes/peers.sh PROTOTYPE ISAL)" cargo run --release --features hashtree-rs
# PROTOTYPE is a checkout of the prototype of crates/lanes, ISAL one of github.com/intel/isa-l_crypto (needs nasm);
# either may be missing or `-`.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=/tmp/lanes-peers
mkdir -p "$out"
if [ "${1:--}" != - ]; then
    rm -rf "$out/prototype" && cp -r "$1" "$out/prototype"
    (cd "$out/prototype" && cargo build --release --lib --features z,z3,y,x,s --target-dir "$out/prototype-target" >&2)
    printf '%s' "--cfg peer_prototype --extern proto=$out/prototype-target/release/libproto.rlib "
    printf '%s' "-L dependency=$out/prototype-target/release/deps "
fi
if [ "${2:--}" != - ]; then
    make -C "$2" -f Makefile.unx -j2 lib >&2
    gcc -O2 -c -I "$2/include" -I "$2/include/isa-l_crypto" -o "$out/isal.o" "$here/isal.c"
    rm -f "$out/libisal_peer.a" && cp "$2/bin/isa-l_crypto.a" "$out/libisal_peer.a" && ar r "$out/libisal_peer.a" "$out/isal.o" 2>/dev/null
    printf '%s' "--cfg peer_isal -L native=$out -l static=isal_peer "
fi
