//! How files are read.

use crate::ahead::Ahead;
use crate::cache::LeafCache;
use crate::opened::Opened;
use mksum_io::Options;
use mksum_sums::expected::Expected;
use std::sync::Arc;

/// How files are read: as they are, or verified.
#[derive(Debug)]
pub struct Reading {
    pub options: Options,
    pub ahead: Ahead,
    /// Only bytes are sent that were verified through the file's outboard.
    pub verified: Option<Verifying>,
}

/// What bytes are verified against.
#[derive(Debug)]
pub struct Verifying {
    /// The trusted root of the one file that is served; without it, the root of each outboard is trusted.
    pub root: Option<Expected>,
    pub opened: Arc<Opened>,
    /// The leaves of objects that are not fetched again.
    pub cache: Option<Arc<LeafCache>>,
}
