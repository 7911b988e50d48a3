//! The rows of a plan whose digests no ledger has.

use crate::error::{RowError, Unusable};
use crate::keys::Before;
use crate::ledger::{Found, Ledger};
use crate::lines::{Line, Lines};
use std::io::BufRead;

/// What the lines of a plan are.
#[derive(Debug)]
pub enum Planned<'a> {
    /// The text of a row whose digest, or units, the ledger lacks.
    Missing(&'a [u8]),
    /// The line with this number, from 1, which cannot be used.
    Wrong(u64, RowError),
}

/// Hands over the rows of a plan that a ledger lacks, in order: lines are parsed on so many threads. A ledger whose
/// [units](crate::Units) are ignored lacks those of all rows.
///
/// # Errors
/// If the plan cannot be read, or has no end.
pub fn missing(
    plan: Lines<impl BufRead + Send>,
    ledger: &Ledger,
    threads: usize,
    each: &mut dyn FnMut(Planned<'_>),
) -> Result<(), Unusable> {
    let of = |before: &mut Before, line: Line<'_>| match line {
        Line::Row(row) => {
            let keys = ledger.keys.row(before, &row);
            let has_units = row.unit.is_none_or(|unit| ledger.units(keys, unit).is_some());
            match ledger.find(keys) {
                Found::Digest(_) if has_units => Read::Hashed,
                _ => Read::Missing,
            }
        }
        Line::End(_) => Read::End,
        Line::Wrong(why) => Read::Wrong(why),
    };
    let mut ended = false;
    plan.each(threads, of, |number, text, read| {
        match read {
            Read::Hashed => {}
            Read::Missing => each(Planned::Missing(text)),
            Read::End => ended = true,
            Read::Wrong(why) => each(Planned::Wrong(number, why)),
        }
        Ok(())
    })?;
    if ended { Ok(()) } else { Err(Unusable::NoEnd) }
}

/// A line of the plan.
enum Read {
    Hashed,
    Missing,
    End,
    Wrong(RowError),
}
