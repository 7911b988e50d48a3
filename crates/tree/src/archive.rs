//! Nix archives: files, links and folders as one sequence of bytes (`spec/nar.md`).

use alloc::vec::Vec;

/// The string that begins each archive.
pub(crate) const MAGIC: &[u8] = b"nix-archive-1";

/// Appends byte strings: the length of each as le64, its bytes, and zeros up to a multiple of eight.
pub(crate) fn put(out: &mut Vec<u8>, strings: &[&[u8]]) {
    for string in strings {
        out.extend((string.len() as u64).to_le_bytes());
        out.extend(*string);
        pad(out, string.len() as u64);
    }
}

/// Appends the zeros after a string of `len` bytes.
fn pad(out: &mut Vec<u8>, len: u64) {
    out.resize(out.len() + (len.wrapping_neg() % 8) as usize, 0);
}

/// Appends what stands before the content of a file of `len` bytes.
pub(crate) fn put_file(out: &mut Vec<u8>, executable: bool, len: u64) {
    put(out, &[b"(", b"type", b"regular"]);
    if executable {
        put(out, &[b"executable", b""]);
    }
    put(out, &[b"contents"]);
    out.extend(len.to_le_bytes());
}

/// The beginning of the archive of a file of `len` bytes, up to its content.
pub(crate) fn of_file(executable: bool, len: u64) -> Vec<u8> {
    let mut out = Vec::with_capacity(128);
    put(&mut out, &[MAGIC]);
    put_file(&mut out, executable, len);
    out
}

/// The end of a file in an archive, after its content of `len` bytes.
pub(crate) fn after_content(len: u64) -> Vec<u8> {
    let mut out = Vec::with_capacity(24);
    pad(&mut out, len);
    put(&mut out, &[b")"]);
    out
}

/// Whether the owner of a file with these permission bits may execute it, which is all that an archive has of them.
pub(crate) fn is_executable(mode: u32) -> bool {
    mode & 0o100 != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Spec;

    #[test]
    fn a_file_has_the_hash_that_nix_prints() {
        let spec: Spec = "nar".parse().unwrap();
        // `nix-hash --type sha256 FILE`, with nix 2.8.0.
        let (plain, executable) = (
            "0a430879c266f8b57f4092a0f935cf3facd48bbccde5760d4748ca405171e969",
            "9cf814f912eb9ad467da47702739324302f88f2cc635cb3e49d83c3e01d5a3de",
        );
        for (mode, expected) in [(0o644, plain), (0o654, plain), (0o744, executable), (0o100, executable)] {
            let root = spec.for_mode(mode).root(b"hello").unwrap();
            assert!(root.matches(&spec.claimed_root(expected).unwrap()), "{mode:o}");
            assert_eq!(root.spec(), &spec);
        }
        let whole = [of_file(false, 5), b"hello".to_vec(), after_content(5)].concat();
        let sum = "sha256".parse::<Spec>().unwrap().root(&whole).unwrap();
        assert!(sum.matches(&spec.claimed_root(plain).unwrap()));
    }
}
