//! Why a row, a ledger or a plan cannot be used, and why an input has no root.

use mksum::outboard::OutboardError;
use mksum::{LengthError, Spec, SpecError};
use mksum_io::reason;
use std::fmt::{self, Display, Formatter};
use std::io;
use std::ops::Range;

/// The version of the schema of rows.
pub const SCHEMA: u32 = 1;

/// Why a line or a row cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RowError {
    /// The line is something else: the reason, as words.
    #[error("{0}")]
    Other(String),
    /// The line has no end: its writer was stopped.
    #[error("the line is incomplete: its writer was stopped")]
    Incomplete,
    /// The schema is not [`SCHEMA`].
    #[error("a row of schema {0}: this program knows schema {SCHEMA}", SCHEMA = SCHEMA)]
    Schema(u32),
    /// These bytes are not within an input of `size` bytes.
    #[error("{} of {size} bytes: not within the input", Bytes(.range))]
    Outside {
        /// The bytes of the row.
        range: Range<u64>,
        /// The length of its input, in bytes.
        size: u64,
    },
    /// The row of a ledger about these bytes has no check.
    #[error("the row of {} has no crc32, as those of earlier versions: hash them again", Bytes(.0))]
    Unchecked(Range<u64>),
    /// The fields of a row have another check than it says.
    #[error("the row of {} is damaged: its crc32 is {found}, that of its fields {expected}", Bytes(.range))]
    Damaged {
        /// The bytes of the row.
        range: Range<u64>,
        /// The check that the row has.
        found: String,
        /// The check of its fields.
        expected: String,
    },
    /// A row of a ledger, where one of a plan is expected.
    #[error("a row of a ledger: a plan has rows without digests")]
    OfLedger,
    /// A row of a plan, where one of a ledger is expected.
    #[error("a row of a plan: a ledger has rows with digests")]
    OfPlan,
    /// No file can have its path.
    #[error("a row whose path no file can have")]
    Path,
    /// The format is unknown.
    #[error(transparent)]
    Format(#[from] SpecError),
    /// The digest is not 1 to 64 bytes in hex.
    #[error("its digest is not 1 to 64 bytes in hex")]
    Digest,
    /// The units are not in base64.
    #[error("its units are not base64")]
    Units,
    /// The tree has no such part.
    #[error("{} are not a subtree of {size} bytes in {spec}", Bytes(.range))]
    Part {
        /// The bytes of the row.
        range: Range<u64>,
        /// The length of its input, in bytes.
        size: u64,
        /// The format of the tree.
        spec: Spec,
    },
    /// The tree has no subtrees of this length, in bytes, to be kept.
    #[error("{}", OutboardError::Unit(*.0))]
    Unit(u64),
    /// The part has more digests for an outboard than a row may have.
    #[error(
        "{} would have {kept} kept digests of units of {unit} bytes: choose a shorter --range or a longer \
         --keep-leaf",
        Bytes(.range)
    )]
    TooManyKept {
        /// The bytes of the row.
        range: Range<u64>,
        /// The number of its kept digests.
        kept: u64,
        /// The length of a unit, in bytes.
        unit: u64,
    },
}

/// The bytes of a row, for messages.
pub(crate) struct Bytes<'a>(pub &'a Range<u64>);

impl Display for Bytes<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "bytes {}..{}", self.0.start, self.0.end)
    }
}

/// Why an input cannot be planned.
#[derive(Debug)]
pub enum PlanError {
    /// The format has no root for its length.
    Length(LengthError),
    /// The plan has no such parts.
    Row(RowError),
}

/// Why a plan or a ledger cannot be used as a whole.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unusable {
    /// The file cannot be read.
    #[error("{}", reason(.0))]
    Read(#[from] io::Error),
    /// Because of the line with this number, from 1.
    #[error("{0}: {1}")]
    Line(u64, Fault),
    /// No line is a row of a ledger; the first one is something else.
    #[error("{0}: {1}; no line is a row of a ledger")]
    NoLedger(u64, RowError),
    /// The end of the plan is missing.
    #[error("the plan is incomplete: its last row, of the kind \"end\", is missing")]
    NoEnd,
    /// The plan had another number of rows.
    #[error("the plan is incomplete: it had {planned} rows and has {found}")]
    Rows {
        /// The number in its end.
        planned: u64,
        /// The number of rows that can be read.
        found: u64,
    },
}

/// What is wrong with a line, so that all others do not count.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The line is longer than this many bytes.
    #[error("the line is longer than {0} bytes")]
    TooLong(u64),
    /// The row cannot be used.
    #[error(transparent)]
    Row(#[from] RowError),
    /// A row after the end of the plan.
    #[error("a row after the end of the plan: join one plan at a time")]
    AfterEnd,
    /// The part, which is named, has two digests.
    #[error("{0} have two digests: hash them again into a new ledger")]
    TwoDigests(String),
    /// The part, which is named, has units with two digests.
    #[error("{0} have units with two digests: hash them again into a new ledger")]
    TwoUnits(String),
    /// The part, which is named, is there in two versions.
    #[error("{0} are there in two versions: start a new ledger")]
    TwoVersions(String),
    /// The digests are more than are held in memory.
    #[error("there are too many digests to be held in memory")]
    TooMany,
}

/// Why an input has no root.
#[derive(Debug)]
pub struct InputError {
    /// The bytes that this is about, of the input.
    pub range: Range<u64>,
    /// The number of the line of the plan, from 1, if that is to blame.
    pub line: Option<u64>,
    /// What is wrong.
    pub why: NoRoot,
}

/// What is wrong with the rows of an input.
#[derive(Debug)]
#[non_exhaustive]
pub enum NoRoot {
    /// There are no rows.
    Empty,
    /// A row on its own.
    Row(RowError),
    /// A row is of another input: its path and the others'.
    Path(String, String),
    /// A row is in another format: its own and the others'.
    Format(String, String),
    /// A row is of another version or size: its own and the others'.
    Version((String, u64), (String, u64)),
    /// The bytes before a row are missing.
    Gap,
    /// A row overlaps the one before it.
    Overlap,
    /// The digest of a row has this many bytes.
    DigestSize(usize, Spec),
    /// The ledger has these bytes of another version than this one, which was planned.
    OtherVersion(String),
    /// The ledger lacks these bytes of this version.
    Missing(String, Spec),
    /// The plan has no rows of the last bytes of the input, which is named.
    NoRows(String),
    /// The input is in the plan twice.
    Twice,
    /// The plan has no units for an outboard.
    NoUnits,
    /// A row has units of another length than others.
    UnitLength,
    /// The ledger lacks the units of a part.
    MissingUnits,
    /// The units of a part do not make its digest.
    WrongUnits,
    /// The digests do not make a tree.
    Tree(mksum::Error),
}

impl From<RowError> for NoRoot {
    fn from(error: RowError) -> Self {
        NoRoot::Row(error)
    }
}

impl Display for InputError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        const LIST: &str = "'mksum missing' lists what is to be hashed";
        let InputError { range, line, why } = self;
        let bytes = Bytes(range);
        if let Some(number) = line {
            write!(f, "line {number} of the plan: ")?;
        }
        match why {
            NoRoot::Empty => f.write_str("there are no rows"),
            NoRoot::Row(error) => error.fmt(f),
            NoRoot::Path(found, others) => write!(f, "{bytes} are of {found}, others of {others}"),
            NoRoot::Format(found, others) => write!(f, "{bytes} are in {found}, others in {others}"),
            NoRoot::Version((version, size), (others, length)) => {
                write!(
                    f,
                    "{bytes} are of version {version} with {size} bytes, others of version {others} with {length}"
                )
            }
            NoRoot::Gap => write!(f, "{bytes}: the bytes before it are missing"),
            NoRoot::Overlap => write!(f, "{bytes}: it overlaps the part before it"),
            NoRoot::DigestSize(size, spec) => {
                write!(f, "the digest of {bytes} has {size} bytes: {spec} has others")
            }
            NoRoot::OtherVersion(version) => {
                let planned = format_args!("another version than {version}, which was planned: plan it again");
                write!(f, "the ledger has {bytes} of {planned}")
            }
            NoRoot::Missing(version, spec) => {
                write!(f, "the ledger lacks {bytes} of version {version} in {spec}: {LIST}")
            }
            NoRoot::NoRows(name) => write!(f, "the plan of {name} has no {bytes}"),
            NoRoot::Twice => f.write_str("it is in the plan twice"),
            NoRoot::NoUnits => {
                f.write_str("there are no units for an outboard: plan it again with 'mksum plan --outboards'")
            }
            NoRoot::UnitLength => write!(f, "{bytes} have units of another length than others"),
            NoRoot::MissingUnits => write!(f, "the ledger lacks the units of {bytes}: {LIST}"),
            NoRoot::WrongUnits => {
                write!(
                    f,
                    "the units of {bytes} do not make the digest of these bytes: hash them again into a new ledger"
                )
            }
            NoRoot::Tree(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for InputError {}
