//! How much is verified in one run, least recently verified data first.

use std::time::{Duration, Instant};

/// The amount that is verified, least recently verified data first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Effort {
    /// All data.
    All,
    /// The files and parts that fit into this time, one at least.
    Time(Duration),
    /// A share of all bytes, 0.0 to 1.0.
    Share(f64),
}

impl Effort {
    /// Starts with data of `total` bytes: a time runs from now on.
    pub fn start(self, total: u64) -> Left {
        match self {
            Effort::All => Left { deadline: None, bytes: Left::ALL },
            // A time beyond all clocks has no end.
            Effort::Time(time) => Left { deadline: Instant::now().checked_add(time), bytes: Left::ALL },
            Effort::Share(share) => Left { deadline: None, bytes: (share * total as f64).ceil() as u64 },
        }
    }
}

/// The amount that may still be verified.
#[derive(Clone, Copy, Debug)]
pub struct Left {
    /// The end of the time, if it is limited.
    pub deadline: Option<Instant>,
    /// The bytes; [`Left::ALL`] if their number is not limited.
    pub bytes: u64,
}

impl Left {
    /// The bytes if all are to be verified.
    pub const ALL: u64 = u64::MAX;

    /// Whether it may end before all is verified.
    pub fn is_limited(&self) -> bool {
        self.deadline.is_some() || self.bytes < Self::ALL
    }

    /// Counts bytes that were verified.
    pub fn take(&mut self, bytes: u64) {
        if self.bytes < Self::ALL {
            self.bytes = self.bytes.saturating_sub(bytes);
        }
    }

    /// Whether nothing is left.
    pub fn is_over(&self) -> bool {
        self.bytes == 0 || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}
