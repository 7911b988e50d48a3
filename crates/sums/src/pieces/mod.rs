//! Torrents, metalinks and the manifests of film sets: files with their sums, or those of their pieces (`spec/torrent.md`, `spec/mhl.md`).
//!
//! Pieces are subtrees of trees that exist already: those of a file in a v2 torrent are subtrees of `btv2`, those of a v1 torrent or a
//! metalink are the leaves of a flat list, `s3:HASH:LENGTH`. So an outboard is made of them, with which a file is verified and fetched.

pub mod bencode;
mod manifest;
mod metalink;
pub mod mhl;
mod torrent;
mod xml;

pub use manifest::{Joint, LONGEST, Manifest, PiecedFile, Pieces, flat, is_name};
pub use metalink::{metalink, write_metalink};
pub use torrent::torrent;

impl Manifest {
    /// Reads a torrent, a metalink or an ASC MHL manifest; `None` if the bytes are none of them.
    ///
    /// # Errors
    /// If it is one, but not valid: what it was taken for, the place and the reason, as words.
    pub fn read(bytes: &[u8]) -> Option<Result<Manifest, String>> {
        let head = &bytes[..bytes.len().min(4096)];
        let is_mhl = || head.windows(mhl::ROOT.1.len()).any(|part| part == mhl::ROOT.1.as_bytes());
        Manifest::is_begun(bytes).then(|| {
            let (kind, read): (_, fn(&[u8]) -> _) = match bytes.starts_with(b"d") {
                true => ("torrent", torrent),
                false if is_mhl() => ("ASC MHL manifest", mhl::mhl),
                false => ("metalink", metalink),
            };
            read(bytes).map_err(|why| format!("not a valid {kind}: {why}"))
        })
    }
}
