//! Torrents and metalinks: their pieces as outboards, and the pieces that span files.

use crate::error::Error;
use crate::kept::Tree;
use mksum::ordered::ordered;
use mksum::outboard::{Outboard, ReadAt};
use mksum::{Messages, Role, Subtree};
use mksum_io::outboard::append;
use mksum_io::{Input, Options, Verified, open_regular};
use mksum_sums::pieces::{Joint, Pieces};
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::PathBuf;

/// Returns the outboard that the pieces of a file make; `None` if one of them is longer than is held in memory.
///
/// # Errors
/// If the format has no root for the file's length.
pub(crate) fn outboard(pieces: &Pieces, place: &Input) -> Result<Option<Tree>, Error> {
    if pieces.piece() > Verified::LONGEST {
        return Ok(None);
    }
    let bytes = pieces.outboard().map(|bytes| Box::new(bytes) as Box<dyn ReadAt + Send>);
    let opened = bytes.and_then(Outboard::open);
    opened
        .map(|outboard| Some(Tree::owning(outboard)))
        .map_err(|error| mksum_io::Error::from_outboard(error, place).into())
}

/// The result of verifying a file whose pieces span files, too.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct JointFile {
    /// The ranges that lie in a piece with another sum, in bytes, left to right.
    pub damaged: Vec<Range<u64>>,
    /// The ranges that could not be verified, because another file with a part of their piece could not be read.
    pub unverified: Vec<Range<u64>>,
    /// Why the file could not be read, if it could not.
    pub error: Option<io::Error>,
    /// The file's real length, in bytes.
    pub len: u64,
}

/// Verifies files that have the pieces of a v1 torrent: `paths` has the path of each file of `parts`. Returns what was found of each.
///
/// A piece of several files that is wrong is damage to all of them: which of them is to blame cannot be known.
pub fn verify_joint(joint: &Joint, paths: &[PathBuf], options: &Options) -> Vec<JointFile> {
    let mut found: Vec<JointFile> = paths.iter().map(|_| JointFile::default()).collect();
    for (path, found) in paths.iter().zip(&mut found) {
        match open_regular(path).and_then(|file| file.metadata()) {
            Ok(metadata) => found.len = metadata.len(),
            Err(error) => found.error = Some(error),
        }
    }
    let (piece, total) = (joint.pieces.piece(), joint.pieces.len());
    // Where each part begins.
    let mut start = 0;
    let parts: Vec<(Option<usize>, Range<u64>)> = joint
        .parts
        .iter()
        .map(|(file, len)| {
            let part = start..start + len;
            start = part.end;
            (*file, part)
        })
        .collect();
    let within = |index: u64| {
        let (start, end) = (index * piece, total.min(index.saturating_add(1).saturating_mul(piece)));
        let first = parts.partition_point(|(_, part)| part.end <= start);
        let overlap = move |part: &Range<u64>| start.max(part.start)..end.min(part.end);
        parts[first..].iter().take_while(move |(_, part)| part.start < end).map(move |(file, part)| {
            let range = overlap(part);
            (*file, range.start - part.start..range.end.max(range.start) - part.start)
        })
    };
    let unreadable: Vec<bool> = found.iter().map(|found| found.error.is_some()).collect();
    let work = |buffer: &mut Vec<u8>, index: u64| -> Result<bool, (usize, io::Error)> {
        let start = index * piece;
        let leaf = Subtree { start, len: piece.min(total - start), level: 0 };
        let mut hasher = joint.pieces.spec().leaf_hasher(&[leaf]);
        for (file, range) in within(index) {
            let mut left = range.end - range.start;
            let mut reader: Box<dyn Read> = match file {
                None => Box::new(io::repeat(0)),
                Some(file) if unreadable[file] => return Err((file, io::ErrorKind::NotFound.into())),
                Some(file) => {
                    let mut opened = open_regular(&paths[file]).map_err(|error| (file, error))?;
                    opened.seek(SeekFrom::Start(range.start)).map_err(|error| (file, error))?;
                    Box::new(opened)
                }
            };
            while left > 0 {
                buffer.resize(left.min(1 << 20) as usize, 0);
                let read = match reader.read(buffer) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(error) => return Err((file.unwrap_or_default(), error)),
                    Ok(0) => return Ok(false),
                    Ok(read) => read,
                };
                hasher.update(Messages::one(&buffer[..read]));
                left -= read as u64;
                if file.is_some() {
                    options.meter.add(read as u64);
                }
            }
        }
        Ok(joint.pieces.get(index) == Some(hasher.finish_one(Role::Inner)))
    };
    let threads = options.threads.max(1);
    ordered(
        threads,
        4 * threads,
        0..total.div_ceil(piece),
        Vec::new,
        |buffer, index| (index, work(buffer, index)),
        |results| {
            for (index, result) in results {
                let culprit = match result {
                    Ok(true) => continue,
                    Ok(false) => None,
                    Err((culprit, error)) => {
                        found[culprit].error.get_or_insert(error);
                        Some(culprit)
                    }
                };
                for (file, range) in within(index) {
                    match file.filter(|_| !range.is_empty()) {
                        Some(file) if culprit.is_none() => append(&mut found[file].damaged, range),
                        Some(file) if culprit != Some(file) => append(&mut found[file].unverified, range),
                        _ => {}
                    }
                }
            }
        },
    );
    found
}
