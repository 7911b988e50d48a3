//! The extension module `mksum._mksum`: the engine's calls with Python's types.
//!
//! Every class is frozen, and what changes is behind a lock of its own, so the module needs no GIL. Whatever takes long runs
//! detached from the interpreter; nothing here hashes or walks a tree by itself.
#![deny(unsafe_code)] // data.rs alone allows it.

mod ahead;
mod catalogue;
mod counts;
mod data;
mod directory;
mod ending;
mod errors;
mod files;
mod formats;
mod frontier;
mod get;
#[cfg(feature = "stores")]
mod given;
mod growing;
mod hasher;
mod listing;
mod lists;
mod logs;
mod many;
#[cfg(feature = "stores")]
mod network;
mod notes;
mod objects;
mod outboard;
mod parts;
mod places;
mod proof;
mod python_file;
mod ranges;
mod records;
mod root;
mod rows;
mod spec;
mod verified;
mod watched;
mod work;

use pyo3::prelude::*;

/// The engine of the package `mksum`.
#[pymodule(gil_used = false)]
mod _mksum {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::{
        catalogue::Catalogue,
        counts::counts,
        directory::{DirectoryRoot, check_entry, directory_root, prove_entry},
        files::file_root,
        formats::formats,
        frontier::Frontier,
        get::{get, get_directory},
        hasher::{
            Hasher, blake2b, blake2s, blake3, blake3_pairs, btv2, c4, dmverity, dropbox, fsverity, glacier, md5, new,
            plain, rfc6962, ripemd160, s3, sha1, sha3_224, sha3_256, sha3_384, sha3_512, sha224, sha256, sha256tree,
            sha384, sha512, sha512_256, sm3, xet,
        },
        listing::{Objects, list_objects},
        logs::{Log, LogEntries, Published, follow, fsck},
        many::{Files, hash_files},
        notes::{Checkpoint, ConsistencyProof, Note, Policy, Proof, entry_hash},
        objects::{Contents, get_objects, put_object},
        outboard::Outboard,
        parts::{is_intact, join, map_range, plan},
        proof::{check_consistency, check_proof, prove, prove_consistency},
        ranges::{Ranges, map_ranges},
        records::Records,
        root::{Root, root},
        spec::Spec,
        verified::VerifiedBytes,
        work::Stop,
    };

    #[cfg(feature = "stores")]
    #[pymodule_export]
    use crate::given::UsedStore;

    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::ending::watch(module)
    }
}
