//! A catalogue in the place of its directory, for roots and proofs.

use super::report;
use crate::tool::Tool;
use mksum::directory::{DirectorySpec, Entry, Leaves};
use mksum_catalogue::{Access, Catalogue, is_catalogue};
use std::path::Path;

/// The leaves of the tree of the directory whose catalogue is at `path`, if one is; no leaves if it has none, which was reported.
pub fn of(
    tool: &Tool,
    path: &Path,
    specs: &[DirectorySpec],
    each: &mut dyn FnMut(&Entry<'_>),
) -> Option<Option<Vec<Leaves>>> {
    is_catalogue(path).then(|| {
        let leaves =
            Catalogue::open(path, Access::Read, &mut || {}).and_then(|catalogue| catalogue.leaves(specs, each));
        leaves.map_err(|error| report(tool, &error)).ok()
    })
}
