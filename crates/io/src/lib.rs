//! Files and streams as sources of Merkle subtrees.
#![forbid(unsafe_code)]

mod archive;
mod attribute;
mod below;
mod buffer;
mod directory;
mod effort;
mod entries;
mod error;
mod exclude;
mod file;
mod held;
mod holes;
mod input;
mod jobs;
mod many;
mod merklize;
mod objects;
mod open;
mod options;
pub mod outboard;
mod partial;
mod paths;
mod permits;
mod pieces;
mod platform;
mod proofs;
mod reader;
mod replacement;
mod replica;
mod route;
mod scratch;
mod sequence;
mod stream;
mod unreadable;
mod verified;
mod window;

pub use attribute::Attribute;
pub use below::Below;
pub use directory::hash_directory;
pub use effort::{Effort, Left};
pub use entries::{Entries, EntryKind, Facts, KEPT_FOLDER, Listed as ListedEntry, Skip, Stamps, Unlisted};
pub use error::{DamagedUnit, Error, Refusal, reason};
pub use exclude::Exclude;
pub use file::File;
pub use held::{HeldDirectory, HeldFile};
pub use input::Input;
pub use jobs::{Job, hash, hash_reader};
pub use many::{Hashed, hash_all, hash_items, jobs_ahead};
pub use merklize::{Leaves, Merklized, merklize, random};
pub use mksum_sums::url::Url;
pub use objects::{Ahead, Link, Listed, Listing, Object, Objects, StoredSums};
pub use open::{open_bytes, open_bytes_from, open_regular};
pub use options::{Meter, Mode, Options, Stop, Throttle, available_threads};
pub use partial::{Partial, check_room};
pub use paths::from_bytes as path_from_bytes;
pub use pieces::{Pieces, hash_pieces};
#[cfg(unix)]
pub use platform::set_modified;
pub use platform::share_blocks;
pub use proofs::{Prover, Unproven};
pub use replacement::Replacement;
pub use replica::{Replica, open_replica, open_replicas};
pub use scratch::{Scratch, remove_unfinished};
pub use sequence::Sequence;
pub use stream::Roots;
pub use unreadable::{Unreadable, unreadable};
pub use verified::{Opening, UnitCache, Verified, VerifiedReader, WriteBack};
pub use window::Window;

/// The README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
