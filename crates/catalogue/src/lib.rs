//! Catalogues of directories: which root each file had, when it was read, and what has changed since (`spec/catalogue.md`).
//!
//! ```
//! use mksum_catalogue::{Catalogue, State, status, update};
//! use mksum_io::Options;
//!
//! let folder = tempfile::tempdir()?;
//! std::fs::write(folder.path().join("file"), "content")?;
//! let place = mksum_catalogue::place(folder.path());
//! let mut catalogue = Catalogue::create(&place, &mut || {})?;
//! catalogue.add_formats(&["sha256".parse()?])?;
//! let options = Options::new();
//! update(&mut catalogue, folder.path(), &options, &mut |_| {})?;
//!
//! std::fs::write(folder.path().join("file"), "other content")?;
//! let found = status(&catalogue, folder.path(), &options)?;
//! assert_eq!((&found.differ[0].path[..], found.differ[0].state), (&b"file"[..], State::Changed));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod checks;
mod compare;
mod config;
mod coverage;
mod diff;
mod digest;
mod download;
mod error;
mod export;
mod finding;
mod folder;
mod import;
mod leaves;
mod listing;
mod long;
mod moves;
mod paths;
mod reading;
mod repair;
mod row;
mod side;
mod spans;
mod status;
mod store;
mod update;
mod verify;

pub use coverage::{Check, Coverage};
pub use diff::{Known, Sorted, diff, diff_catalogues};
pub use digest::Walk;
pub use download::{Directory, list_directory, list_entries, list_files, place_below};
pub use error::Error;
pub use export::{Exported, Manifest, Unlisted, export};
pub use finding::{Finding, State};
pub use folder::Access;
pub use import::import;
pub use leaves::joined_leaves;
pub use mksum_io::Effort;
pub use repair::repair;
pub use row::{Kept, Row};
pub use side::Side;
pub use status::{Status, status};
pub use store::{Catalogue, is_catalogue, is_kept_folder, place};
pub use update::{accept_changes, update};
pub use verify::verify;

/// The README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
