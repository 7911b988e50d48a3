//! Ranges of anything that has an order: bytes, times.

use alloc::vec::Vec;
use core::ops::Range;

/// The union of ranges: ascending ones, of which no two touch each other. An empty range that touches no other stays.
pub fn union<T: Ord + Clone>(mut ranges: Vec<Range<T>>) -> Vec<Range<T>> {
    ranges.sort_by(|one, other| one.start.cmp(&other.start));
    let mut union: Vec<Range<T>> = Vec::new();
    for range in ranges {
        match union.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.clone().max(range.end),
            _ => union.push(range),
        }
    }
    union
}
