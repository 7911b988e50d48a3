//! Outboards of the inputs of a plan, from the units that its maps found.

use super::rows::Row;
use crate::args::Join as Args;
use crate::failure::Failure;
use crate::json;
use crate::kept::batch::{Batch, Waiting};
use crate::kept::remote::Remote;
use crate::tool::Tool;
use mksum::outboard::{Header, KeptLayout, Sequence};
use mksum::{Digest, Role, Root, Spec, Subtree};
use mksum_cli::name::{self as names, Shown};
use mksum_cli::sum::{self, Style};
use mksum_io::outboard::{Changes, EXTENSION, assemble, with_extension};
use mksum_io::{Error, Input, Url};
use std::collections::HashSet;
use std::fs;
use std::path::{Component, PathBuf};

/// An input whose root is known.
pub struct Joined {
    pub path: Input,
    pub root: Root,
    /// The number of its parts.
    pub rows: u64,
    /// The path of its outboard.
    pub outboard: Option<Input>,
}

impl Joined {
    /// Prints it; `url` is the outboard's, if it is in a store.
    pub fn print(self, tool: &Tool, args: &Args, url: Option<&Url>) {
        let Joined { path, root, rows, outboard } = self;
        if args.json {
            let outboard = url.cloned().map(Input::Url).or(outboard);
            let outboard = outboard.as_ref().map(names::lossy);
            let record = json::Root { subtrees: Some(rows), outboard: outboard.as_deref(), ..json::Root::new(&root) };
            return tool.console.print_json(&path, record);
        }
        let (tag, path) = (root.spec().tag(), names::listed(&path));
        tool.console.print(&sum::line(Style::Tagged, tool.end, &tag, &path, &root.to_string()));
    }
}

/// Where the outboards of a join are written.
pub struct Outboards<'a> {
    pub tool: &'a Tool,
    /// The directory or URL that they are below; otherwise each is beside its input.
    pub place: Option<&'a Input>,
    pub changes: Changes,
    pub batch: Batch<'a, Joined>,
    /// The paths of those below `place`, where two inputs may have the same.
    pub taken: HashSet<Input>,
}

impl Outboards<'_> {
    /// Writes the outboard of an input, from the digests of all its parts; its root is printed when the outboard is at its place.
    pub fn add(&mut self, mut joined: Joined, layout: KeptLayout, parts: &[Part<'_>]) -> Result<(), Failure> {
        let spec = joined.root.spec().clone();
        let target = self.target(&joined.path)?;
        if self.place.is_some() && !self.taken.insert(target.clone()) {
            let why =
                format!("its outboard would be {}, which is that of another input: leave DIR out", Shown(&target));
            return Err(Failure::refused(&joined.path, why));
        }
        let remote = Remote::of(self.tool, &target)?;
        let path = remote.as_ref().map_or_else(|| PathBuf::from(target.as_os_str()), Remote::copy);
        if let (None, Some(_), Some(folder)) = (&remote, self.place, path.parent()) {
            fs::create_dir_all(folder).map_err(|error| Error::Write { path: folder.into(), error })?;
        }
        let header = Header { spec: spec.clone(), len: layout.len(), unit: layout.unit(), identity: None };
        let digests = parts.iter().flat_map(|part| part.digests(&spec, layout)).map(Ok);
        let pending = assemble(header, digests, &path, self.changes).map_err(|error| {
            // The copy of an object has a path that nobody knows.
            match error {
                Error::Refused { refusal, .. } => Error::refused(&target, refusal),
                error => error,
            }
        })?;
        if *pending.root() != joined.root {
            return Err(Failure::refused(
                &joined.path,
                "its units do not make its root: hash it again into a new ledger",
            ));
        }
        joined.outboard = Some(target);
        self.batch.add(Waiting { pending, remote, about: joined });
        Ok(())
    }

    /// The path of the outboard of an input.
    fn target(&self, input: &Input) -> Result<Input, Failure> {
        let Some(place) = self.place else { return Ok(input.with_extension(EXTENSION)) };
        let below = below(input).ok_or_else(|| {
            Failure::refused(
                input,
                "its path leads upwards (..), so it has no place below another directory: leave DIR out",
            )
        })?;
        Ok(place.join(&with_extension(&below, EXTENSION)))
    }
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

/// Why a part cannot be in an outboard.
pub enum NoPart {
    /// The ledger lacks its units.
    Missing,
    /// Its units do not make its digest.
    Wrong,
}

/// The digests of a part that an outboard is made of.
pub struct Part<'a> {
    node: Subtree,
    /// Those of its units, one after the other; otherwise its own.
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
    ) -> Result<Option<Part<'a>>, NoPart> {
        let units = units.ok_or(NoPart::Missing)?;
        let Some(node) = row.kept_node(spec) else { return Ok(None) };
        if !row.has_units(spec) {
            return Ok(Some(Part { node, bytes: digest, has_units: false }));
        }
        let part = Part { node, bytes: units, has_units: true };
        let count = layout.units_under(node).count();
        if units.len() != count * spec.hash().size() {
            return Err(NoPart::Wrong);
        }
        let role = if row.is_whole() { Role::Root } else { Role::Inner };
        let joined = spec.join(&Sequence::new(part.digests(spec, layout).map(Ok)), node, role);
        let top = joined.map_err(|_| NoPart::Wrong)?;
        let made = if row.is_whole() { spec.seal(top, row.size).digest() } else { top };
        match made.as_bytes() == digest {
            true => Ok(Some(part)),
            false => Err(NoPart::Wrong),
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
