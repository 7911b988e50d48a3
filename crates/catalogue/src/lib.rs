//! Catalogues of directories: which root each file had, when it was read, and what has changed since (`spec/catalogue.md`).
//!
//! ```
//! use mksum_catalogue::{Access, Catalogue, Found, Scope, compare, update};
//! use mksum_io::Options;
//!
//! let folder = tempfile::tempdir()?;
//! std::fs::write(folder.path().join("file"), "content")?;
//! let place = mksum_catalogue::place(folder.path());
//! let mut catalogue = Catalogue::create(&place, &mut || {})?;
//! catalogue.add_formats(&["sha256".parse()?])?;
//! update(&mut catalogue, folder.path(), &Options::new(), &mut |_, _| {})?;
//!
//! std::fs::write(folder.path().join("file"), "other content")?;
//! let (mut changed, scope) = (0, Scope::new(folder.path(), &place));
//! compare(&catalogue, &scope, &mut |found| {
//!     changed += usize::from(matches!(found, Found::Changed(..)));
//!     Ok(())
//! })?;
//! assert_eq!(changed, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod compare;
mod diff;
mod error;
mod long;
mod moves;
mod reading;
mod repair;
mod row;
mod store;
mod update;
mod verify;

pub use compare::{Found, Scope, compare};
pub use diff::{Difference, Differences, Known, Sorted, diff};
pub use error::Error;
pub use repair::{Mended, repair};
pub use row::{Kept, Row};
pub use store::{Access, Catalogue, is_catalogue, is_kept_folder, place};
pub use update::{Event, update};
pub use verify::{Effort, Verdict, verify};

/// The README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
