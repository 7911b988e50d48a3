//! Merkle trees in parts (`spec/plan.md`): planned once, hashed on any machines, their digests collected in ledgers and joined.
#![forbid(unsafe_code)]

mod error;
mod join;
mod keys;
mod ledger;
mod lines;
mod map;
mod missing;
mod outboards;
mod rows;
mod tasks;

pub use error::{Fault, InputError, NoRoot, PlanError, RowError, SCHEMA, Unusable};
pub use join::{Joined, Outcome, Wanted, join, join_rows};
pub use ledger::{Ignored, Ledger, Units};
pub use lines::{Line, Lines, refusal};
pub use map::{Hashed, Part, hash_inputs, hash_parts};
pub use missing::{Planned, missing};
pub use outboards::{KeptDigests, outboard_path};
pub use rows::{End, Kind, Row, Text};
pub use tasks::{Planner, facts, parts};

/// The README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
