//! Trees in parts as data: planned once, hashed anywhere, joined once. `spec/plan.md` has the rows.

mod ledger;
mod outboards;
mod rows;

pub mod join;
pub mod map;
pub mod missing;
pub mod write;
mod wrong;
