//! What is to be fetched, and what became of it.

use mksum::outboard::ForeignFormat;
use mksum::{Root, Spec};
use mksum_io::Input;
use mksum_sums::expected::Expected;
use mksum_sums::figures::grouped;
use mksum_sums::name::Shown;
use mksum_sums::pieces::Pieces;
use std::io::Write;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// The place of the verified bytes.
#[derive(Clone)]
pub enum Target {
    /// A file, which has its name only when it is whole.
    File(PathBuf),
    /// A writer, which gets verified bytes alone, in order.
    Writer(Arc<Mutex<dyn Write + Send>>),
}

/// A file to be fetched.
#[derive(Clone)]
#[non_exhaustive]
pub struct Request {
    /// Copies of the file, as files or URLs: one or more. They are not trusted.
    pub mirrors: Vec<Input>,
    /// The trusted root.
    pub expected: Expected,
    /// The place of the verified bytes.
    pub target: Target,
    /// Places of the file's outboard, which are not trusted: the first that fits is used. None means that the whole file is hashed.
    pub outboards: Vec<Input>,
    /// The kind of the outboards, if they are trees of another program: Bao, iroh, fs-verity, dm-verity.
    pub foreign: Option<ForeignFormat>,
    /// The sums of its pieces, if a trusted list has them: then no outboard is fetched.
    pub pieces: Option<Pieces>,
    /// Older files, whose leaves are used where they are right.
    pub seeds: Vec<PathBuf>,
    /// The file's length, in bytes, if it is known.
    pub len: Option<u64>,
    /// The requests that run at once, over all mirrors: 1 or more.
    pub connections: usize,
    /// Whether a file with an outboard is read back from the disk before it gets its name.
    pub read_back: bool,
    /// The formats of other sums of the file, made of the verified bytes.
    pub also: Vec<Spec>,
}

impl Request {
    /// The requests that run at once, by default.
    pub const CONNECTIONS: usize = 8;

    /// A request with the outboards beside the mirrors.
    pub fn new(mirrors: Vec<Input>, expected: Expected, target: Target) -> Request {
        let outboards = mirrors.iter().map(|mirror| mirror.with_extension(mksum_io::outboard::EXTENSION)).collect();
        let (seeds, connections) = (Vec::new(), Self::CONNECTIONS);
        Request {
            mirrors,
            expected,
            target,
            outboards,
            foreign: None,
            pieces: None,
            seeds,
            len: None,
            connections,
            read_back: false,
            also: Vec::new(),
        }
    }
}

impl Request {
    /// Returns the request with the outboards of another program beside the mirrors.
    #[must_use]
    pub fn with_foreign(mut self, format: ForeignFormat) -> Request {
        self.outboards = self.mirrors.iter().map(|mirror| mirror.with_extension(format.extension())).collect();
        self.foreign = Some(format);
        self
    }
}

/// How a download ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The file was there, and is right: nothing was fetched.
    Present,
    /// The file is whole now.
    Fetched,
    /// No mirror had the right bytes of some ranges. What was verified is kept, to be resumed.
    Incomplete,
}

/// The result of a download.
#[derive(Clone, Debug)]
pub struct Got {
    /// How it ended.
    pub outcome: Outcome,
    /// The file's root: the trusted one; `None` if it is not known in which format.
    pub root: Option<Root>,
    /// The outboard that was used.
    pub outboard: Option<Input>,
    /// The bytes that were fetched of the file, right and wrong ones.
    pub fetched: u64,
    /// The bytes that an interrupted download had left, and were right.
    pub resumed: u64,
    /// The bytes that were taken from older files.
    pub seeded: u64,
    /// The ranges that are missing, in bytes.
    pub missing: Vec<Range<u64>>,
    /// The unfinished file, if there is one: the next run goes on with it.
    pub left: Option<PathBuf>,
    /// Whether that is a whole file with another root: an outboard tells which leaves of it are right.
    pub is_other: bool,
    /// What became of each mirror.
    pub mirrors: Vec<Mirror>,
    /// What was wrong with outboards: the place and the reason.
    pub notes: Vec<(Input, String)>,
    /// The other sums of a file that is whole, in the order of [`Request::also`], or why there is none, as words.
    pub also: Vec<Result<Root, String>>,
    /// Whether the file was read once more for them: the bytes had not come in order, a part of them was there before, or a format has to know
    /// the length first.
    pub is_read_again: bool,
}

/// What became of a mirror.
#[derive(Clone, Debug)]
pub struct Mirror {
    /// The place of the file.
    pub place: Input,
    /// The bytes that came from it.
    pub bytes: u64,
    /// The ranges of it that were wrong, in bytes, in the order in which they came.
    pub bad: Vec<Range<u64>>,
    /// Why it was given up, or its last error.
    pub error: Option<String>,
}

impl Mirror {
    pub(crate) fn new(place: &Input) -> Mirror {
        Mirror { place: place.clone(), bytes: 0, bad: Vec::new(), error: None }
    }
}

impl Got {
    /// Whether the file is whole and has the root.
    pub fn is_whole(&self) -> bool {
        self.outcome != Outcome::Incomplete
    }

    /// The reason why it is not whole, as words; `None` if it is.
    pub fn incomplete(&self) -> Option<String> {
        if self.is_whole() {
            return None;
        }
        let left = self.left.as_deref().map(Shown);
        Some(match (&self.outboard, left) {
            (None, None) => "not fetched: no mirror has a file with this root".into(),
            (None, Some(left)) if self.is_other => format!(
                "not fetched: no mirror has a file with this root; what came last is kept as {left}: with an outboard of the right file, \
                 only what is wrong of it is fetched again"
            ),
            (None, Some(left)) => {
                format!("not whole: no mirror had all of it; what came is kept as {left}: the next run goes on there")
            }
            (Some(_), _) => {
                let (missing, count) = (self.missing_bytes(), self.missing.len());
                format!(
                    "not whole: no mirror has the right {} bytes ({} range{}); what was verified is kept: try again, or with \
                     another mirror",
                    grouped(missing),
                    grouped(count as u64),
                    if count == 1 { "" } else { "s" }
                )
            }
        })
    }

    fn missing_bytes(&self) -> u64 {
        self.missing.iter().map(|range| range.end - range.start).sum()
    }

    pub(crate) fn new(mirrors: &[Input]) -> Got {
        Got {
            outcome: Outcome::Incomplete,
            root: None,
            outboard: None,
            fetched: 0,
            resumed: 0,
            seeded: 0,
            missing: Vec::new(),
            left: None,
            is_other: false,
            mirrors: mirrors.iter().map(Mirror::new).collect(),
            notes: Vec::new(),
            also: Vec::new(),
            is_read_again: false,
        }
    }
}
