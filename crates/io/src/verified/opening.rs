//! What is opened for verified reads.

use crate::Input;
use mksum::outboard::ForeignFormat;
use mksum::{Digest, Root};
use mksum_sums::expected::Expected;
use std::fmt;
use std::sync::Arc;

/// A file or object, its outboard, and the root that is trusted.
#[derive(Clone, Debug)]
pub struct Opening {
    /// The file or object that is read.
    pub file: Input,
    /// The outboard, which need not be trusted. Without one, the file is one unit, which is compared with the trusted root.
    pub outboard: Option<Input>,
    /// The format of the outboard, if it is the tree of another program.
    pub foreign: Option<ForeignFormat>,
    /// The trusted root. `None` trusts the outboard's own, which shows damage, but not a replaced outboard.
    pub expected: Option<Expected>,
    /// The file's length in bytes, if that is trusted too: some formats have roots that do not tell it.
    pub len: Option<u64>,
    /// Copies that are asked, in this order, for bytes that are damaged or cannot be read.
    pub replicas: Vec<Input>,
    /// Whether bytes of a replica are written to the file, too.
    pub write_back: WriteBack,
    /// Where verified units are kept, and looked for before the file is read.
    pub cache: Option<Arc<dyn UnitCache>>,
}

/// Units by their digests, which need not be trusted: they are hashed as if they came from the file.
pub trait UnitCache: fmt::Debug + Send + Sync {
    /// Fills `out` with the bytes of the unit with this digest. If it returns `false`, what is in `out` has no meaning.
    fn read(&self, digest: &Digest, out: &mut [u8]) -> bool;

    /// Keeps the bytes of a unit that were verified, if it can.
    fn keep(&self, digest: &Digest, bytes: &[u8]);
}

/// Whether bytes that a replica has replaced are also written to the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WriteBack {
    /// The file stays as it is.
    #[default]
    No,
    /// The file is repaired where it was read and found damaged.
    Yes,
}

impl Opening {
    /// A file and its outboard, whose own root is trusted.
    pub fn new(file: impl Into<Input>, outboard: impl Into<Input>) -> Opening {
        Opening {
            file: file.into(),
            outboard: Some(outboard.into()),
            foreign: None,
            expected: None,
            len: None,
            replicas: Vec::new(),
            write_back: WriteBack::No,
            cache: None,
        }
    }

    /// A file without an outboard, which is read and verified as a whole: it has at most [`Verified::LONGEST`](crate::Verified::LONGEST) bytes.
    pub fn whole(file: impl Into<Input>, root: &Root) -> Opening {
        let file = file.into();
        Opening { outboard: None, ..Opening::new(file.clone(), file).trusting(root) }
    }

    /// Returns the same with this trusted root, and its length.
    #[must_use]
    pub fn trusting(mut self, root: &Root) -> Opening {
        (self.expected, self.len) = (Some(Expected::from(root)), Some(root.len()));
        self
    }
}
