//! Names the peers that `peers.sh` links.

fn main() {
    println!("cargo::rustc-check-cfg=cfg(peer_isal)");
}
