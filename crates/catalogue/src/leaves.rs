//! The root of a directory from its catalogue: nothing is read but rows.

use crate::{Catalogue, Error};
use mksum::directory::{Content, DirectorySpec, Entry, Leaves};
use mksum_io::EntryKind;

impl Catalogue {
    /// The leaves of the directory's tree in each format, from which its roots and proofs follow: of the entries as they were when they
    /// were last kept. `each` is shown every entry of the first format, in their order.
    ///
    /// # Errors
    /// If the catalogue cannot be read, or a file has no root in the format of a tree's files.
    pub fn leaves(&self, specs: &[DirectorySpec], each: &mut dyn FnMut(&Entry<'_>)) -> Result<Vec<Leaves>, Error> {
        let mut all: Vec<Leaves> = specs.iter().map(Leaves::new).collect();
        for row in self.rows() {
            let row = row?;
            let refuse = |why| Error::Row { path: self.path().into(), row: row.path.clone(), why };
            let link = match row.facts.kind {
                EntryKind::Link => {
                    self.link(&row.path)?.ok_or_else(|| refuse("the text of the link is lost".into()))?
                }
                _ => Vec::new(),
            };
            let kept = if row.facts.kind == EntryKind::File { self.roots(&row)? } else { Vec::new() };
            for (index, (spec, leaves)) in specs.iter().zip(&mut all).enumerate() {
                let content = match row.facts.kind {
                    EntryKind::Directory => Content::Directory,
                    EntryKind::Link => Content::Link(&link),
                    EntryKind::File | EntryKind::Special => {
                        let root = kept.iter().map(|kept| &kept.root).find(|root| root.spec() == spec.file());
                        let lacks = || {
                            let (path, spec) = (row.path.escape_ascii(), spec.file());
                            let why = format!("{path} has no root in {spec}: 'mksum keep -r -f {spec} DIR' adds it");
                            Error::refused(self.path(), why)
                        };
                        Content::File(root.ok_or_else(lacks)?.clone())
                    }
                };
                let entry = Entry { path: &row.path, content, mode: row.facts.mode, modified: row.facts.modified };
                if index == 0 {
                    each(&entry);
                }
                leaves.push(&entry).map_err(|error| refuse(error.to_string()))?;
            }
        }
        Ok(all)
    }
}
