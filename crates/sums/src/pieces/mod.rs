//! Torrents and metalinks: files with the sums of their pieces (`spec/torrent.md`).
//!
//! Pieces are subtrees of trees that exist already: those of a file in a v2 torrent are subtrees of `btv2`, those of a v1 torrent or a
//! metalink are the leaves of a flat list, `s3:HASH:LENGTH`. So an outboard is made of them, with which a file is verified and fetched.

pub mod bencode;
mod manifest;
mod metalink;
mod torrent;

pub use manifest::{Joint, LONGEST, Manifest, PiecedFile, Pieces, flat, is_name};
pub use metalink::{metalink, write_metalink};
pub use torrent::torrent;

impl Manifest {
    /// Reads a torrent or a metalink; `None` if the bytes are neither.
    ///
    /// # Errors
    /// If it is one, but not valid: the place and the reason, as words.
    pub fn read(bytes: &[u8]) -> Option<Result<Manifest, String>> {
        Manifest::is_begun(bytes).then(|| if bytes.starts_with(b"d") { torrent(bytes) } else { metalink(bytes) })
    }
}
