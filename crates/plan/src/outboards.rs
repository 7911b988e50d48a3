//! Outboards of the inputs of a plan, from the units that its maps found.

use crate::error::NoRoot;
use crate::rows::Row;
use mksum::outboard::{Header, KeptLayout, Sequence};
use mksum::{Digest, Role, Root, Spec, Subtree};
use mksum_io::outboard::{Changes, EXTENSION, Pending, assemble, with_extension};
use mksum_io::{Error, Input};
use std::path::{Component, Path, PathBuf};

/// The digests that the outboard of an input is made of.
#[derive(Debug)]
pub struct KeptDigests<'a> {
    pub(crate) layout: KeptLayout,
    pub(crate) parts: Vec<Part<'a>>,
}

impl KeptDigests<'_> {
    /// Writes an outboard that belongs to `path`, of an input with this root: it is there after
    /// [`commit`](mksum_io::outboard::commit). `None` if the digests do not make the root.
    ///
    /// # Errors
    /// If it cannot be written, or something else is at its place.
    pub fn write(&self, root: &Root, path: &Path, changes: Changes) -> Result<Option<Pending>, Error> {
        let (layout, spec) = (self.layout, root.spec());
        let header = Header { spec: spec.clone(), len: layout.len(), unit: layout.unit(), identity: None };
        let digests = self.parts.iter().flat_map(|part| part.digests(spec, layout)).map(Ok);
        let pending = assemble(header, digests, path, changes)?;
        Ok((pending.root() == root).then_some(pending))
    }
}

/// The path of the outboard of an input: beside it, or below a directory or URL for all.
///
/// `None` if the path of the input leads upwards, so that it has no place below another directory.
pub fn outboard_path(input: &Input, place: Option<&Input>) -> Option<Input> {
    let Some(place) = place else { return Some(input.with_extension(EXTENSION)) };
    Some(place.join(&with_extension(&below(input)?, EXTENSION)))
}

/// The path of an input below a directory for all: of an object with its bucket, of a file without the root.
fn below(input: &Input) -> Option<PathBuf> {
    let path = input.url().map_or_else(|| input.as_os_str().into(), |url| PathBuf::from(url.file_path()));
    let mut below = PathBuf::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => below.push(name),
            Component::ParentDir => return None,
            Component::Prefix(_) | Component::RootDir | Component::CurDir => {}
        }
    }
    Some(below)
}

/// The digests of a part that an outboard is made of.
#[derive(Debug)]
pub(crate) struct Part<'a> {
    node: Subtree,
    /// The units' digests one after the other if `has_units`, else the part's own.
    bytes: &'a [u8],
    has_units: bool,
}

impl<'a> Part<'a> {
    /// The part of a row with this digest and these units, which are checked; `None` of an empty input.
    pub fn of(
        row: &Row<'_>,
        spec: &Spec,
        layout: KeptLayout,
        (digest, units): (&'a [u8], Option<&'a [u8]>),
    ) -> Result<Option<Part<'a>>, NoRoot> {
        let units = units.ok_or(NoRoot::MissingUnits)?;
        let Some(node) = row.kept_node(spec) else { return Ok(None) };
        if !row.has_units(spec) {
            return Ok(Some(Part { node, bytes: digest, has_units: false }));
        }
        let part = Part { node, bytes: units, has_units: true };
        let count = layout.units_under(node).count();
        if units.len() != count * spec.hash().size() {
            return Err(NoRoot::WrongUnits);
        }
        let role = if row.is_whole() { Role::Root } else { Role::Inner };
        let joined = spec.join(&Sequence::new(part.digests(spec, layout).map(Ok)), node, role);
        let top = joined.map_err(|_| NoRoot::WrongUnits)?;
        let made = if row.is_whole() { spec.seal(top, row.size).digest() } else { top };
        match made.as_bytes() == digest {
            true => Ok(Some(part)),
            false => Err(NoRoot::WrongUnits),
        }
    }

    /// The subtrees and their digests, left to right.
    fn digests(&self, spec: &Spec, layout: KeptLayout) -> impl Iterator<Item = (Subtree, Digest)> + Send {
        let units = self.has_units.then(|| layout.units_under(self.node)).into_iter().flatten();
        let own = (!self.has_units).then_some(self.node);
        let digests = self.bytes.chunks_exact(spec.hash().size()).map(Digest::new);
        units.chain(own).zip(digests)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outboards_have_places_below_a_directory() {
        let of = |input: &str| below(&Input::place(input));
        for (input, place) in [
            ("a/b", "a/b"),
            ("/a/./b", "a/b"),
            ("s3://bucket/a@b", "bucket/a@b"),
            ("abfss://container@account/a", "container@account/a"),
            ("https://me:secret@host:80/a:b@c", "host:80/a:b@c"),
        ] {
            assert_eq!(of(input), Some(place.into()), "{input}");
        }
        assert_eq!(of("a/../b"), None);
    }
}
