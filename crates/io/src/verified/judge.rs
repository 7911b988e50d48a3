//! What bytes are compared with: the digests of an outboard, or the root of the whole file.

use super::opening::Opening;
use super::pages::{OutboardBytes, open_outboard};
use crate::{Error, File, Input, Refusal};
use mksum::outboard::{Checked, Header, Outboard, OutboardError};
use mksum::{Digest, Digests, Messages, Root, Shape, Subtree};

/// The longest unit, in bytes: it is held in memory.
pub const LONGEST: u64 = 64 << 20;

/// The trusted digests of the units of a file.
pub enum Judge {
    /// An outboard, and its place: its digests are checked up to the trusted root when they are needed.
    Outboard(Checked<'static, OutboardBytes>, Input),
    /// The root of a file that is one unit.
    Whole(Root),
}

impl Judge {
    /// Opens the outboard, if there is one, and compares its root with the trusted one.
    ///
    /// # Errors
    /// If it cannot be opened or is unsuitable; without one, if the trusted root is not one that the whole file can be compared with.
    pub fn open(file: &File, opening: &Opening) -> Result<Judge, Error> {
        let Some(place) = &opening.outboard else {
            let refused = |why| Error::refused(file.input(), Refusal::NotWhole(why));
            let root = whole(file.len(), opening).map_err(refused)?;
            check(&root, root.len(), opening).map_err(refused)?;
            return Ok(Judge::Whole(root));
        };
        let outboard = open_outboard(place, opening.foreign.as_ref(), file)?;
        let unit = outboard.layout().unit().min(outboard.len());
        if let Err(why) = check(&outboard.root(), unit, opening) {
            return Err(Error::refused(place, Refusal::Unsuitable(why)));
        }
        // Without nodes there is nothing that a read would check.
        if outboard.layout().root().is_none() && is_not_of_nothing(&outboard.root()) {
            return Err(Error::from_outboard(OutboardError::Seals, place));
        }
        if file.len() != outboard.len() {
            let (expected, found) = (outboard.len(), file.len());
            return Err(Error::refused(file.input(), Refusal::Length { expected, found }));
        }
        Ok(Judge::Outboard(Checked::owning(outboard), place.clone()))
    }

    /// The root that is trusted.
    pub fn root(&self) -> Root {
        match self {
            Judge::Outboard(tree, _) => tree.outboard().root(),
            Judge::Whole(root) => root.clone(),
        }
    }

    /// The length of a full unit, in bytes.
    pub fn unit(&self) -> u64 {
        match self {
            Judge::Outboard(tree, _) => tree.outboard().layout().unit(),
            Judge::Whole(root) => root.len(),
        }
    }

    /// The unit that has the byte at an offset, if the file has it.
    pub fn unit_over(&self, offset: u64) -> Option<Subtree> {
        match self {
            Judge::Outboard(tree, _) => tree.outboard().layout().unit_over(offset),
            Judge::Whole(root) => {
                (offset < root.len()).then_some(Subtree { start: 0, len: root.len(), level: u32::MAX })
            }
        }
    }

    /// Whether two units are hashed side by side.
    pub fn are_alike(&self, one: &Subtree, other: &Subtree) -> bool {
        let shape = self.outboard().map(|outboard| outboard.layout().shape());
        let is_full = |shape: &Shape| matches!(shape, Shape::Even { .. }) && shape.is_perfect(*one);
        one.len == other.len && one.level == other.level && (one.level == 0 || shape.as_ref().is_some_and(is_full))
    }

    /// The length of the messages as which units that are alike are hashed, in bytes: of a leaf, or of the one unit.
    pub fn message(&self, units: &[Subtree]) -> u64 {
        match (units, self.outboard()) {
            ([first, _, ..], Some(outboard)) if first.level > 0 => outboard.layout().shape().leaf(),
            _ => units.first().map_or(0, |first| first.len),
        }
    }

    /// The digests of units that follow one another and are alike, from messages of the length that [`Judge::message`] says.
    pub fn hash_each(&self, units: &[Subtree], messages: Messages<'_>) -> Result<Digests, mksum::Error> {
        let root = self.root();
        let mut digests = Digests::new(root.spec().hash().size());
        match (self, units) {
            (Judge::Whole(_), _) => digests.push(root.spec().root(messages.get(0))?.digest()),
            // It may be the root.
            (_, &[unit]) => digests.push(root.spec().map(root.len(), unit, messages.get(0))?),
            (_, &[first, ..]) if first.level == 0 => root.spec().leaf_digests(first.start, messages, &mut digests),
            (_, &[first, ..]) => root.spec().subtree_digests(first.start, first.level, messages, &mut digests),
            (_, []) => {}
        }
        Ok(digests)
    }

    /// Whether each of `units`, which follow one another, has its digest of `digests`.
    ///
    /// # Errors
    /// As [`Judge::trusted`].
    pub fn are_right(&self, units: &[Subtree], digests: &Digests) -> Result<Vec<bool>, Error> {
        match self {
            Judge::Outboard(tree, place) => {
                tree.are_right(units, digests).map_err(|error| Error::from_outboard(error, place))
            }
            Judge::Whole(root) => Ok(vec![digests.get(0) == Some(root.digest())]),
        }
    }

    /// The trusted digest of a unit.
    ///
    /// # Errors
    /// If the outboard cannot be read, or is damaged on the way from the root to the unit.
    pub fn trusted(&self, unit: Subtree) -> Result<Digest, Error> {
        match self {
            Judge::Outboard(tree, place) => {
                let trusted = tree.trusted(unit).map_err(|error| Error::from_outboard(error, place))?;
                Ok(trusted.expect("the digests of units are kept"))
            }
            Judge::Whole(root) => Ok(root.digest()),
        }
    }

    /// The header of the outboard.
    pub fn header(&self) -> Option<&Header> {
        self.outboard().map(Outboard::header)
    }

    fn outboard(&self) -> Option<&Outboard<OutboardBytes>> {
        match self {
            Judge::Outboard(tree, _) => Some(tree.outboard()),
            Judge::Whole(_) => None,
        }
    }
}

/// The trusted root of a whole file; if it is none, the reason, as words.
fn whole(len: u64, opening: &Opening) -> Result<Root, String> {
    let expected = opening.expected.as_ref().ok_or("without an outboard, a trusted root is needed")?;
    let trusted = expected.root();
    match &expected.specs(len)[..] {
        [spec] if expected.is_named() => Ok(spec.root_with_digest(trusted.digest(), len)),
        [] if opening.len.is_some_and(|wanted| wanted != len) => {
            Err(format!("it has {len} bytes: expected {}", opening.len.unwrap_or(0)))
        }
        _ => Err(format!("without an outboard, the root {} needs the name of its format", expected.text())),
    }
}

/// Whether a root of no bytes is another one than the format has.
fn is_not_of_nothing(root: &Root) -> bool {
    root.spec().root(b"").is_ok_and(|empty| empty != *root)
}

/// Checks that a root with units of this length is the trusted one; if not, the reason, as words.
fn check(root: &Root, unit: u64, opening: &Opening) -> Result<(), String> {
    if let Some(len) = opening.len.filter(|&len| len != root.len()) {
        return Err(match opening.outboard {
            Some(_) => format!("it is of a file of {} bytes, not of {len}", root.len()),
            None => format!("it has {} bytes: expected {len}", root.len()),
        });
    }
    if unit > LONGEST {
        let how = if opening.outboard.is_none() { ": make an outboard with 'mksum keep'" } else { "" };
        return Err(format!("its units have {unit} bytes, and at most {} are held in memory{how}", LONGEST));
    }
    if opening.outboard.is_none() && root.len() == 0 && is_not_of_nothing(root) {
        return Err(format!("it has no bytes: expected root {root}"));
    }
    let Some(expected) = &opening.expected else { return Ok(()) };
    if !expected.matches(root) {
        let format = match &expected.specs(root.len())[..] {
            [one] if one != root.spec() => format!(" ({one})"),
            _ => String::new(),
        };
        return Err(format!("its root is {root} ({}), but {}{format} is trusted", root.spec(), expected.text()));
    }
    if expected.directory().is_some() {
        return Err("the trusted root is that of a directory".into());
    }
    // The first byte, which could tell, is not verified yet.
    let doubt = [Some(0), Some(1)].into_iter().find_map(|first| expected.doubt(root, first));
    doubt.filter(|_| opening.len.is_none()).map_or(Ok(()), Err)
}
