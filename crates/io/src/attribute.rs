//! Roots of a file in an extended attribute of it: `spec/attribute.md`.

use crate::entries::Facts;
use crate::platform::{attribute, open_at_once, set_attribute};
use crate::{Error, Refusal};
use mksum::{ClaimedRoot, Root, Spec};
use std::fmt::{self, Write};
use std::io::ErrorKind;
use std::path::Path;

/// The name of the attribute.
const NAME: &str = "user.mksum";
/// The longest value that is read and written, in bytes: file systems take 4 KiB, less their own.
const LONGEST: usize = 4096;
/// The beginning of the value.
const MAGIC: &str = "mksum 1 ";

/// The roots in the attribute of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// The length of the file when it had them, in bytes.
    pub size: u64,
    /// The time of the file's last change then, in seconds since 1970 and nanoseconds.
    pub modified: (i64, u32),
    /// The roots, each in a format of its own.
    pub roots: Vec<(Spec, ClaimedRoot)>,
}

impl Attribute {
    /// The attribute of a file with these facts and roots.
    pub fn new(facts: &Facts, roots: impl IntoIterator<Item = Root>) -> Attribute {
        let roots = roots.into_iter().map(|root| (root.spec().clone(), (&root).into())).collect();
        Attribute { size: facts.size, modified: facts.modified, roots }
    }

    /// The attribute of the file at a path, if there is one. Links are followed.
    ///
    /// # Errors
    /// If the system cannot read it, or it was not written by this program.
    pub fn of(path: &Path) -> Result<Option<Attribute>, Error> {
        let refused = |why| Error::Refused { path: path.into(), refusal: Refusal::Attribute(why) };
        let value = match attribute(path, NAME, LONGEST) {
            Ok(None) => return Ok(None),
            Ok(Some(value)) => value,
            Err(error) if error.kind() == ErrorKind::FileTooLarge => {
                return Err(refused(format!("it has more than {LONGEST} bytes")));
            }
            Err(error) => return Err(Error::Open { path: path.into(), error }),
        };
        let read = std::str::from_utf8(&value).map_err(|_| "it is not UTF-8".into()).and_then(Attribute::parse);
        read.map(Some).map_err(refused)
    }

    /// Whether a file still has the length and the time that it had: only then the roots are believed to be its own.
    pub fn is_of(&self, facts: &Facts) -> bool {
        (self.size, self.modified) == (facts.size, facts.modified)
    }

    /// The root in a format.
    pub fn root(&self, spec: &Spec) -> Option<&ClaimedRoot> {
        self.roots.iter().find(|(other, _)| other == spec).map(|(_, root)| root)
    }

    /// Writes the attribute to the file at `path`, if the file's metadata still equals `facts`.
    ///
    /// # Errors
    /// If the file is another by now, or the system cannot write the attribute.
    pub fn write(&self, path: &Path, facts: &Facts) -> Result<(), Error> {
        let failed = |error| Error::Write { path: path.into(), error };
        let file = open_at_once(path).map_err(|error| Error::Open { path: path.into(), error })?;
        if Facts::from(&file.metadata().map_err(failed)?) != *facts {
            return Err(Error::Changed { path: path.into(), how: "its times or type are others than before".into() });
        }
        let text = self.to_string();
        if text.len() > LONGEST {
            return Err(Error::Refused { path: path.into(), refusal: Refusal::AttributeRoom(text.len(), LONGEST) });
        }
        set_attribute(&file, NAME, text.as_bytes()).map_err(failed)
    }

    /// Reads the value of an attribute: only what its `Display` writes.
    ///
    /// # Errors
    /// Why it is not one, as words.
    pub fn parse(text: &str) -> Result<Attribute, String> {
        let mut lines = text.strip_suffix('\n').ok_or("its last line is not whole")?.split('\n');
        let head =
            lines.next().and_then(|line| line.strip_prefix(MAGIC)).ok_or_else(|| match text.starts_with("mksum ") {
                true => "it was written by another version of mksum".to_string(),
                false => "it was not written by mksum".into(),
            })?;
        let wrong = || format!("'{head}' is not a size and a time");
        let (size, time) = head.split_once(' ').ok_or_else(wrong)?;
        let (size, time) = (size.parse().map_err(|_| wrong())?, time.parse::<i128>().map_err(|_| wrong())?);
        let seconds = i64::try_from(time.div_euclid(SECOND)).map_err(|_| wrong())?;
        let modified = (seconds, time.rem_euclid(SECOND) as u32);
        let mut roots = Vec::new();
        for line in lines {
            let (format, root) = line.split_once(' ').ok_or_else(|| format!("'{line}' is not a format and a root"))?;
            let spec: Spec = format.parse().map_err(|error| format!("{error}"))?;
            let root = spec.claimed_root(root).map_err(|error| error.to_string())?;
            if roots.iter().any(|(other, _)| *other == spec) {
                return Err(format!("it has two roots in {spec}"));
            }
            roots.push((spec, root));
        }
        let attribute = Attribute { size, modified, roots };
        match attribute.roots.is_empty() {
            true => Err("it has no root".into()),
            false if attribute.to_string() != text => Err("it is not as mksum writes it".into()),
            false => Ok(attribute),
        }
    }
}

/// Nanoseconds in a second.
const SECOND: i128 = 1_000_000_000;

impl fmt::Display for Attribute {
    /// The value of the attribute.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, nanoseconds) = self.modified;
        writeln!(f, "{MAGIC}{} {}", self.size, i128::from(seconds) * SECOND + i128::from(nanoseconds))?;
        for (spec, root) in &self.roots {
            f.write_str(&format!("{spec} {}", root.text(spec)))?;
            f.write_char('\n')?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(name: &str) -> Spec {
        name.parse().unwrap()
    }

    #[test]
    fn a_value_is_read_as_it_is_written() {
        let roots = ["rfc6962", "s3:md5:5MiB", "crc32c"].map(|name| spec(name).root(b"abc").unwrap());
        for modified in [(0, 0), (-1, 999_999_999), (i64::MAX, 1)] {
            let roots = roots.iter().map(|root| (root.spec().clone(), root.into())).collect();
            let attribute = Attribute { size: 3, modified, roots };
            assert_eq!(Attribute::parse(&attribute.to_string()), Ok(attribute));
        }
    }

    #[test]
    fn what_is_not_a_value_is_refused() {
        let root = "900150983cd24fb0d6963f7d28e17f72";
        assert!(Attribute::parse(&format!("mksum 1 3 5\nmd5 {root}\n")).is_ok());
        for text in [
            String::new(),
            "mksum 1 3 5".into(),
            "mksum 2 3 5\n".into(),
            "mksum 1 3\n".into(),
            "mksum 1 -3 5\n".into(),
            "mksum 1 3 99999999999999999999999999999999\n".into(),
            format!("mksum 1 3 5\nmd5 {root}"),
            format!("mksum 1 3 5\nmd5 {root}\n\n"),
            format!("mksum 1 3 5\nmd6 {root}\n"),
            format!("mksum 1 3 5\nmd5 {root}0\n"),
            "mksum 1 3 5\n".into(),
            format!("mksum 1 +3 5\nmd5 {root}\n"),
            format!("mksum 1 3 5\nmd5 {}\n", root.to_uppercase()),
            format!("mksum 1 3 5\nmd5 {root}\nmd5 {root}\n"),
            format!("mksum 1 3 5\nrfc6962 {root}{root}\n"),
        ] {
            assert!(Attribute::parse(&text).is_err(), "{text:?}");
        }
    }
}
