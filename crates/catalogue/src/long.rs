//! Long files, whose trees are kept in outboards: damage is located in them.

use crate::error::Error;
use crate::folder::Kind;
use crate::row::Kept;
use crate::store::Catalogue;
use mksum::outboard::KeptLayout;
use mksum::{Hash, Root, Spec};
use mksum_io::outboard::{Changes, Finding, Keeping, PART, append, keep, open, verify};
use mksum_io::{Facts, File, Job, Options, hash};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Files from this length on have an outboard: of shorter ones, a copy is fetched as quickly as a part of it.
pub(crate) const LONG: u64 = 8 << 20;

/// Whether a file gets an outboard, in the first of its formats that has a tree.
pub(crate) fn is_long(facts: &Facts, specs: &[Spec]) -> bool {
    facts.size >= LONG && tree(specs).is_some()
}

/// The first of the formats that divides long files.
fn tree(specs: &[Spec]) -> Option<usize> {
    specs.iter().position(|spec| spec.leaf() < LONG && spec.hash().as_hash().is_some_and(|hash| hash != Hash::Md5))
}

/// Hashes a file and keeps its tree: its roots in the order of the formats, one of which has an outboard.
pub(crate) fn keep_long(
    catalogue: &Catalogue,
    place: &Path,
    (path, facts, specs): (&[u8], &Facts, &[Spec]),
    options: &Options,
) -> Result<Vec<Kept>, Error> {
    let (opened, folder) = (catalogue.open_outboards()?, catalogue.outboards());
    let failed = |error| Error::Io(mksum_io::Error::Write { path: (&folder).into(), error });
    let index = tree(specs).expect("a long file has a format with a tree");
    let spec = &specs[index];
    // An interrupted run is resumed by the path; the finished outboard has the name of the root, wherever the file moves.
    let sha256: Spec = "sha256".parse().expect("a format");
    let name = sha256.root(path).map_err(|error| mksum_io::Error::from_join(error, place, &sha256))?;
    let draft = format!("{name}.mkt");
    for name in [&draft, &format!("{draft}.{PART}")] {
        opened.expect(name.as_ref(), Kind::File)?;
    }
    let draft = folder.join(draft);
    let mut keeping = Keeping::new(KeptLayout::unit_of(spec, None), &draft);
    keeping.changes = Changes::Accept;
    let root = keep(File::open(place, options)?, spec, &keeping)?.root;
    let name = format!("{}.mkt", root.digest());
    fs::rename(&draft, folder.join(&name)).map_err(failed)?;
    let others: Vec<_> = specs.iter().filter(|other| *other != spec).cloned().collect();
    let mut roots = Vec::new();
    if !others.is_empty() {
        options.meter.expect(facts.size);
        roots = roots_of(place, others, options)?;
    }
    facts.check(place)?;
    let mut kept: Vec<_> = roots.into_iter().map(|root| Kept::new(root, "keep", None)).collect();
    kept.insert(index, Kept::new(root, "keep", Some(name)));
    Ok(kept)
}

/// The outboard of a file, if there is one that fits its root.
pub(crate) fn outboard(catalogue: &Catalogue, roots: &[Kept]) -> Option<(Stored, PathBuf)> {
    let kept = roots.iter().find(|kept| kept.outboard.is_some())?;
    let place = catalogue.outboards().join(kept.outboard.as_deref()?);
    let outboard = open(&place).ok()?;
    // Its own root is as trusted as any file: the catalogue's is what counts.
    (outboard.root() == kept.root).then_some((outboard, place))
}

pub(crate) type Stored = mksum::outboard::Outboard<mksum_io::outboard::Stored>;

/// The damaged ranges of a part of a file, and whether its tree is damaged there.
pub(crate) fn damage(
    place: &Path,
    (outboard, stored): (&Stored, &Path),
    range: Range<u64>,
    options: &Options,
) -> Result<(Vec<Range<u64>>, bool), Error> {
    let (mut ranges, mut tree) = (Vec::new(), false);
    verify(File::open(place, options)?, (outboard, stored), range, &mut |finding| {
        match finding {
            // The node above it shows whether the file's bytes are damaged.
            Finding::Node(_) => tree = true,
            finding => append(&mut ranges, finding.range()),
        }
        Ok(())
    })?;
    Ok((ranges, tree))
}

/// The roots of a long file in the formats of those that were kept, all of it read.
pub(crate) fn long_roots(
    place: &Path,
    facts: &Facts,
    kept: &[Kept],
    options: &Options,
) -> Result<Vec<Root>, mksum_io::Error> {
    let roots = roots_of(place, kept.iter().map(|kept| kept.root.spec().clone()).collect(), options)?;
    facts.check(place)?;
    Ok(roots)
}

/// The roots of a file in some formats, all of it read.
pub(crate) fn roots_of(place: &Path, specs: Vec<Spec>, options: &Options) -> Result<Vec<Root>, mksum_io::Error> {
    hash(&Job::new(place.into(), specs), options)?.into_iter().collect()
}

/// Removes the outboards that no root has.
pub(crate) fn remove_unused(catalogue: &Catalogue) -> Result<(), Error> {
    let Ok(entries) = fs::read_dir(catalogue.outboards()) else { return Ok(()) };
    let folder = catalogue.open_outboards()?;
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(text) = name.to_str().filter(|name| crate::row::is_outboard(name)) else { continue };
        if !catalogue.has_outboard(text)? && folder.kind(&name).is_ok_and(|kind| kind == Kind::File) {
            // The next run tries again.
            let _ = folder.remove(&name);
        }
    }
    Ok(())
}
