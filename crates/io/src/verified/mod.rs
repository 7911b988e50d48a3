//! Verified reads: bytes of a file or object that are handed out only after their digest was compared with a trusted root.
//!
//! ```
//! use mksum_io::outboard::{Keeping, beside, keep};
//! use mksum_io::{File, Opening, Options, Verified, VerifiedReader};
//! use std::io::{Read, Seek, SeekFrom};
//!
//! let folder = tempfile::tempdir()?;
//! let (path, options) = (folder.path().join("file"), Options::new());
//! std::fs::write(&path, vec![7; 1_000_000])?;
//! let spec: mksum::Spec = "rfc6962:sha256:64KiB".parse()?;
//! let kept = keep(File::open(&path, &options)?, &spec, &Keeping::new(65_536, &beside(&path)))?;
//!
//! // The root comes from a place that is trusted; the file and its outboard need not be.
//! let opening = Opening::new(&path, beside(&path)).trusting(&kept.root);
//! let mut reader = VerifiedReader::new(Verified::open(opening, &options)?);
//! let mut bytes = [0; 100];
//! reader.seek(SeekFrom::Start(500_000))?;
//! reader.read_exact(&mut bytes)?;
//! assert_eq!(bytes, [7; 100]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cursor;
mod judge;
mod opening;
mod pages;
mod reading;
mod source;
mod units;

pub use cursor::VerifiedReader;
pub use opening::{Opening, UnitCache, WriteBack};
pub use reading::Verified;
