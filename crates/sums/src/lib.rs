//! Sum files: their lines written and read, and the names, formats and ranges in them (`spec/sumfile.md`); pictures of trees.
//!
//! ```
//! use mksum_sums::sum::End;
//! use mksum_sums::sumfile::{Lines, Source};
//!
//! let text = "acbd18db4cc2f85cedef654fccc4a4d8  foo\n";
//! let mut lines = Lines::new(text.as_bytes(), Source::new(End::Newline, None));
//! let entry = lines.next_entry()?.expect("one line")?;
//! assert_eq!((&*entry.path, entry.choice.spec().to_string()), (&b"foo"[..], "md5".into()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

pub mod choice;
pub mod expected;
pub mod extent;
pub mod figures;
pub mod name;
pub mod picture;
#[cfg(feature = "pieces")]
pub mod pieces;
pub mod published;
pub mod range;
#[cfg(feature = "signatures")]
pub mod signature;
pub mod sum;
pub mod sumfile;
pub mod time;
pub mod url;
pub mod utf16;

/// The README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
