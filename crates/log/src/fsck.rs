//! Checks all files of a log: each entry, each tile, and the root.

use crate::error::Error;
use crate::leaves::leaves;
use crate::published::{Published, read};
use crate::source::Source;
use crate::tile::{HASH, Tile, WIDTH, entries};
use crate::tree::{Edge, Tiles};

/// The outcome of [`fsck`].
#[derive(Debug)]
pub struct Report {
    /// The entries that were checked.
    pub entries: u64,
    /// The files that were checked.
    pub files: u64,
    /// The problems that were found, at most [`Report::MOST`].
    pub problems: Vec<Error>,
}

impl Report {
    /// The most problems that are listed.
    pub const MOST: usize = 1000;

    fn add(&mut self, error: Error) {
        if self.problems.len() < Self::MOST {
            self.problems.push(error);
        }
    }
}

/// Reads every bundle and tile of a log, and compares them with each other and with the checkpoint's root.
///
/// `progress` is called with the number of entries that were checked so far. Whether the checkpoint is signed, the caller has verified.
pub fn fsck<S: Source>(log: &Published<S>, progress: &mut dyn FnMut(u64)) -> Report {
    let size = log.checkpoint().size();
    let mut report = Report { entries: 0, files: 0, problems: Vec::new() };
    let mut edge = Edge::new();
    for number in 0..size.div_ceil(WIDTH) {
        let tile = Tile::of(None, number, size).expect("a bundle below the size");
        let expected = log.tile(Tile { level: Some(0), ..tile }).ok();
        let held = read(log.source(), tile).and_then(|(held, bytes)| {
            report.files += 1;
            entries(&held.name(), &bytes, tile.width, held.width)
        });
        let hashes: Vec<u8> = match (held, expected) {
            (Ok(entries), expected) => {
                let found = leaves(&entries).into_bytes();
                let differs = expected.as_ref().and_then(|expected| {
                    found.chunks(HASH).zip(expected.chunks(HASH)).position(|(found, hash)| found != hash)
                });
                match (expected, differs) {
                    (Some(expected), Some(at)) if log.has_leaves(number).is_ok() => {
                        let why = format!(
                            "entry {} has another hash than the tree has at its index",
                            number * WIDTH + at as u64
                        );
                        report.add(Error::Damaged { name: tile.name(), why });
                        expected.to_vec()
                    }
                    // The tile is wrong, or missing: it is reported when it is compared.
                    _ => found,
                }
            }
            (Err(error), Some(expected)) => {
                report.add(error);
                expected.to_vec()
            }
            (Err(error), None) => {
                report.add(error);
                report.add(Error::Damaged {
                    name: Tile { level: Some(0), ..tile }.name(),
                    why: "the tile is missing or damaged, too".into(),
                });
                return report;
            }
        };
        let mut compare = Compare { log, report: &mut report };
        if let Err(error) = edge.push(&hashes, &mut compare) {
            compare.report.add(error);
            return report;
        }
        report.entries += tile.width;
        progress(report.entries);
    }
    if let Err(error) = edge.partial(0, &mut Compare { log, report: &mut report }) {
        report.add(error);
    }
    if edge.root() != log.checkpoint().root() {
        report.add(Error::Damaged {
            name: "checkpoint".into(),
            why: format!("the tiles have another root than this checkpoint of {size} entries"),
        });
    }
    report
}

/// Compares the tiles that follow from the entries with those of the log.
struct Compare<'a, S> {
    log: &'a Published<S>,
    report: &'a mut Report,
}

impl<S: Source> Tiles for Compare<'_, S> {
    fn tile(&mut self, tile: Tile, hashes: &[u8]) -> Result<(), Error> {
        self.report.files += 1;
        match self.log.tile(tile) {
            Err(error) => self.report.add(error),
            Ok(held) => {
                if let Some(at) = held.chunks(HASH).zip(hashes.chunks(HASH)).position(|(held, hash)| held != hash) {
                    let why = format!("hash {at} is not that of the files below it");
                    self.report.add(Error::Damaged { name: tile.name(), why });
                }
            }
        }
        Ok(())
    }
}
