//! What the tool `mksum` shares with its tests and fuzz targets: formats as people choose them, and sum files.
#![forbid(unsafe_code)]

pub mod choice;
pub mod name;
pub mod range;
pub mod sum;
pub mod sumfile;
pub mod utf16;
