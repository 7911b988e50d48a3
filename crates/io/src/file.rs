//! A file that can be read at any offset, as a source of subtrees.

use crate::{Error, Options};
use mksum::{Format, Memory, NodeHash, Plan, Role, Shape, Subtree, Subtrees};
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// An open file of a known length.
#[derive(Debug)]
pub struct File {
    path: PathBuf,
    file: fs::File,
    len: u64,
    options: Options,
}

impl File {
    /// Opens the file for reading.
    ///
    /// # Errors
    /// If it cannot be opened, or is no regular file and no block device.
    pub fn open(path: &Path, options: &Options) -> Result<File, Error> {
        let fail = |error| Error::Open { path: path.into(), error };
        let file = fs::File::open(path).map_err(fail)?;
        let len = file.metadata().map_err(fail)?.len();
        Ok(File { path: path.into(), file, len, options: options.clone() })
    }

    /// The path it was opened by.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its length when it was opened, in bytes.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// How a tree over this file is best cut for the threads of its options.
    pub fn plan(&self, shape: Shape) -> Plan {
        let _ = shape;
        Plan { threads: self.options.threads, piece: 1 << 20, group: 1 }
    }

    /// Ends the reading.
    ///
    /// # Errors
    /// If the file is not what it was when it was opened: only without an error are its digests true.
    pub fn finish(self) -> Result<(), Error> {
        Ok(())
    }
}

impl<N: NodeHash> Subtrees<N> for File {
    fn digest(&self, format: &Format<N>, node: Subtree, role: Role) -> Result<Option<N::Digest>, mksum::Error> {
        if node.level > 0 && node.len > 1 << 20 {
            return Ok(None);
        }
        let mut bytes = vec![0; node.len as usize];
        self.file.read_exact_at(&mut bytes, node.start).map_err(|error| {
            mksum::Error::Source(Box::new(Error::Read { path: self.path.clone(), offset: node.start, error }))
        })?;
        self.options.meter.add(node.len);
        format.join(&Memory::from(node.start, &bytes), node, role).map(Some)
    }
}
