//! Repair of a damaged file from a whole copy, checked by the file's roots.

use super::append;
use crate::file::zeros;
use crate::jobs::hash_reader;
use crate::{Error, HeldFile, Input, Options, Refusal, Replica};
use mksum::{Root, Spec};
use std::io::{Read, Seek, Write};
use std::ops::Range;
use std::path::Path;
use tempfile::SpooledTempFile;

/// The bytes that are fetched and held at once; a copy that is not longer stays in memory.
const PIECE: usize = 8 << 20;
/// The bytes that are compared at once: a page of a disk.
const BLOCK: usize = 4096;

/// Repairs a file without an outboard: fetches all of a copy into a file without a name in `folder`, compares its roots, and writes the
/// blocks that differ. Returns their ranges, in bytes, and the replica's place: where one cannot be fetched or has another root, `passed` gets
/// its place and the reason, and the [next](Replica::next) is asked.
///
/// # Errors
/// If the last copy cannot be fetched or has another root ([`Refusal::OtherCopy`]), if the file changes meanwhile ([`Refusal::Overtaken`]) or
/// cannot be written, or if what was written cannot be read back.
pub fn repair_whole(
    file: &mut HeldFile<'_>,
    roots: &[Root],
    replica: &mut dyn Replica,
    folder: &Path,
    options: &Options,
    passed: &mut dyn FnMut(Input, Error),
) -> Result<(Vec<Range<u64>>, Input), Error> {
    let path = file.path().to_path_buf();
    let len = roots.first().map_or(0, Root::len);
    let spare = |error| Error::Write { path: folder.into(), error };
    let specs: Vec<_> = roots.iter().map(|root| root.spec().clone()).collect();
    let mut buffer = zeros(len.min(PIECE as u64), &Input::from(&path))?;
    let mut replica = replica;
    let mut copy = loop {
        match good_copy((&path, roots, &specs), replica, (folder, &mut buffer), options) {
            Ok(copy) => break copy,
            Err(error) if matches!(error, Error::Stopped { .. } | Error::Write { .. }) => return Err(error),
            Err(error) => {
                let place = replica.place().clone();
                let Some(next) = replica.next() else { return Err(error) };
                passed(place, error);
                replica = next;
            }
        }
    };
    file.begin_writing()?;
    file.extend(len)?;
    let mut written = Vec::new();
    for start in (0..len).step_by(PIECE) {
        let part = &mut buffer[..(len - start).min(PIECE as u64) as usize];
        copy.read_exact(part).map_err(spare)?;
        let mut differing: Vec<Range<usize>> = Vec::new();
        for (index, block) in part.chunks(BLOCK).enumerate() {
            let at = index * BLOCK;
            // What the disk cannot read is written too.
            if !file.holds(block, start + at as u64) {
                match differing.last_mut() {
                    Some(last) if last.end == at => last.end += block.len(),
                    _ => differing.push(at..at + block.len()),
                }
            }
        }
        for range in differing {
            let bytes = start + range.start as u64..start + range.end as u64;
            file.write(&part[range], bytes.start)?;
            append(&mut written, bytes);
        }
    }
    file.sync()?;
    let found: Vec<_> = file.roots(&specs, options)?.into_iter().collect::<Result<_, _>>()?;
    if found != roots { Err(Error::Failing { path: path.into() }) } else { Ok((written, replica.place().clone())) }
}

/// Fetches all of a copy that has the roots of the file at `path`.
fn good_copy(
    (path, roots, specs): (&Path, &[Root], &[Spec]),
    replica: &mut dyn Replica,
    (folder, buffer): (&Path, &mut [u8]),
    options: &Options,
) -> Result<SpooledTempFile, Error> {
    let (input, len) = (Input::from(path), roots.first().map_or(0, Root::len));
    let spare = |error| Error::Write { path: folder.into(), error };
    let mut copy = tempfile::spooled_tempfile_in(PIECE, folder);
    options.meter.expect(3 * len);
    for start in (0..len).step_by(PIECE) {
        options.stop.check(&input)?;
        let part = &mut buffer[..(len - start).min(PIECE as u64) as usize];
        replica.read(start, part)?;
        copy.write_all(part).map_err(spare)?;
        options.meter.add(part.len() as u64);
    }
    copy.rewind().map_err(spare)?;
    for (root, found) in roots.iter().zip(hash_reader(&mut copy, &folder.into(), specs, options)?) {
        if !found.is_ok_and(|found| found == *root) {
            return Err(Error::refused(path, Refusal::OtherCopy(root.spec().to_string())));
        }
    }
    copy.rewind().map_err(spare)?;
    Ok(copy)
}
