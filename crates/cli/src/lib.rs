//! What the tool `mksum` and its fuzz targets use of sum files: `mksum-sums`, under the tool's name.
#![forbid(unsafe_code)]

#[cfg(feature = "signatures")]
pub use mksum_sums::signature;
pub use mksum_sums::{
    choice, extent, figures, name, picture, pieces, published, range, sum, sumfile, time, url, utf16,
};
