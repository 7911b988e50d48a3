//! Files that are at another path than before.

use crate::compare::{Identity, identity};
use crate::error::Error;
use crate::finding::{Finding, State};
use crate::row::Row;
use crate::store::Catalogue;
use mksum::Root;
use mksum_io::Facts;
use std::collections::HashMap;

/// The rows without an entry, each of which may be found again once.
#[derive(Default)]
pub(crate) struct Missing {
    rows: Vec<Option<Row>>,
    by_identity: HashMap<Identity, Vec<usize>>,
    by_root: HashMap<(String, u64), Vec<usize>>,
}

impl Missing {
    pub fn new(catalogue: &Catalogue, rows: Vec<Row>) -> Result<Missing, Error> {
        let mut missing = Missing::default();
        for (index, row) in rows.iter().enumerate() {
            if let Some(identity) = identity(&row.facts) {
                missing.by_identity.entry(identity).or_default().push(index);
            }
            // All empty files are alike: none is another one moved.
            if row.facts.size > 0
                && let Some(kept) = catalogue.roots(row)?.first()
            {
                missing.by_root.entry(key(&kept.root)).or_default().push(index);
            }
        }
        missing.rows = rows.into_iter().map(Some).collect();
        Ok(missing)
    }

    /// The row of a file with this identity.
    pub fn with_identity(&mut self, facts: &Facts) -> Option<Row> {
        let found = self.by_identity.get_mut(&identity(facts)?)?;
        found.iter().find_map(|&index| self.rows[index].take())
    }

    /// The row of a file with this root.
    pub fn with_root(&mut self, root: &Root) -> Option<Row> {
        let found = self.by_root.get_mut(&key(root))?;
        found.iter().find_map(|&index| self.rows[index].take())
    }

    /// The rows that were not found again.
    pub fn into_rows(self) -> impl Iterator<Item = Row> {
        self.rows.into_iter().flatten()
    }
}

fn key(root: &Root) -> (String, u64) {
    (format!("{}:{root}", root.spec()), root.len())
}

/// Findings about entries, with what may show that a new one is a missing one, moved.
pub(crate) type Moves = Vec<(Finding, Option<Facts>)>;

/// The findings, of which a new file and a missing one are one if they have the same device, inode, size and time.
pub(crate) fn with_moves(mut differ: Moves) -> Vec<Finding> {
    let mut missing: HashMap<_, Vec<usize>> = HashMap::new();
    for (index, (finding, facts)) in differ.iter().enumerate().rev() {
        if finding.state == State::Gone
            && let Some(identity) = facts.as_ref().and_then(identity)
        {
            missing.entry(identity).or_default().push(index);
        }
    }
    let mut found = vec![false; differ.len()];
    for index in 0..differ.len() {
        let (finding, facts) = &differ[index];
        if finding.state == State::New
            && let Some(gone) = facts.as_ref().and_then(|facts| missing.get_mut(&identity(facts)?)?.pop())
        {
            found[gone] = true;
            let from = Some(differ[gone].0.path.clone());
            let moved = &mut differ[index].0;
            (moved.state, moved.from) = (State::Moved, from);
        }
    }
    differ.into_iter().zip(found).filter(|(_, found)| !found).map(|((finding, _), _)| finding).collect()
}
