//! Lists of roots, such as sum files: taken into a catalogue, and made from one.

use crate::directory::name_of;
use crate::records::{Record, rows};
use mksum::Spec;
use mksum_catalogue::{Catalogue, Error, Exported, Finding, Manifest, Side, State, export, import};
use mksum_io::{Input, Options};
use mksum_sums::choice::Choice;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::Path;
use std::sync::mpsc::SyncSender;

/// What became of the lines of a list.
#[derive(Default)]
pub struct Taken {
    imported: u64,
    known: u64,
    unused: u64,
    found: Vec<Finding>,
}

impl Taken {
    pub fn row(self, py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let row = PyDict::new(py);
        row.set_item("imported", self.imported)?;
        row.set_item("known", self.known)?;
        row.set_item("unused", self.unused)?;
        row.set_item("found", rows(py, &self.found)?)?;
        Ok(row)
    }
}

/// Takes the roots of the list at `source` into a catalogue.
pub fn taken(
    opened: &mut Catalogue,
    directory: &Path,
    options: &Options,
    (source, format): (&Input, Option<&Choice>),
) -> Result<Taken, Error> {
    let list = Side::open(source, format, options)?;
    let mut taken = Taken { unused: list.unused(), ..Taken::default() };
    import(opened, directory, list.into_entries(), options, &mut |finding| match finding.state {
        State::Imported => taken.imported += 1,
        State::Known => taken.known += 1,
        _ => taken.found.push(finding),
    })?;
    Ok(taken)
}

/// Sends the lines of all files, and fails after them if the list is not whole. `top` is the directory.
pub fn send(
    opened: Catalogue,
    options: &Options,
    sender: &SyncSender<Result<Record, Error>>,
    (manifest, specs, top): (Manifest, &[Spec], &Path),
) -> Result<(), Error> {
    let own = opened.path().to_path_buf();
    let (mut lacking, mut first) = (0_u64, None);
    let count = export(opened, manifest, specs, &mut |exported| {
        let wanted = match exported {
            Exported::Line(line) => sender.send(Ok(Record::Line(line))).is_ok(),
            Exported::Lacks(known, spec) => {
                lacking += 1;
                first.get_or_insert_with(|| (top.join(name_of(&known.path)), spec.clone()));
                true
            }
            // No manifest with such entries is asked for.
            Exported::Unwritten(_) => true,
        };
        wanted && !options.stop.is_stopped()
    })?;
    if options.stop.is_stopped() {
        return Err(mksum_io::Error::Stopped { path: own.into() }.into());
    }
    match first {
        Some((path, spec)) => {
            let others = if lacking > 1 { format!(" (files without a root: {lacking})") } else { String::new() };
            let why = format!("it has no root in {spec}, so it is not in the list{others}: call update() first");
            Err(Error::refused(&path, why))
        }
        None if count == 0 && manifest == Manifest::Bagit => {
            Err(Error::refused(&own, "it has no files below data/, which a BagIt manifest lists"))
        }
        None => Ok(()),
    }
}

/// Fails if lines of a list were not used.
pub fn all_used(list: &Input, unused: u64) -> Result<(), Error> {
    if unused == 0 {
        return Ok(());
    }
    let lines = if unused == 1 { "line is" } else { "lines are" };
    Err(Error::refused(list, format!("{unused} {lines} malformed or not about a whole file: not used")))
}
