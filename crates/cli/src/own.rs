//! Directories that are mksum's own, and no part of what is hashed.

/// Whether a directory is one in which a catalogue is kept.
#[cfg(not(feature = "catalogue"))]
pub fn is_kept_folder(_: &std::path::Path) -> bool {
    false
}

#[cfg(feature = "catalogue")]
pub use mksum_catalogue::is_kept_folder;
