//! A format as a user chose it, perhaps without a part size.

use mksum::directory::DirectorySpec;
use mksum::{Algorithm, ClaimedRoot, FormatOption, OptionValue, Spec, SpecError, parse_size};
use std::fmt;
use std::str::FromStr;

/// A format, and whether its leaf size was chosen or is only the default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    spec: Spec,
    leaf: Leaf,
    /// The format of a directory's root; `spec` is then the format of the tree over its entries.
    directory: Option<DirectorySpec>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Leaf {
    #[default]
    Default,
    Given,
}

impl Choice {
    /// The format, with the default leaf size where none was given; of a directory's, that of the tree over its entries.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The format of directories, if it is one.
    pub fn directory(&self) -> Option<&DirectorySpec> {
        self.directory.as_ref()
    }

    /// Returns this choice with its format changed; for a directory, the format of its files.
    fn with(self, change: impl FnOnce(Spec) -> Result<Spec, SpecError>) -> Result<Self, SpecError> {
        match self.directory {
            None => Ok(Choice { spec: change(self.spec)?, ..self }),
            Some(directory) => {
                let file = change(directory.file().clone())?;
                Ok(Choice::from(directory.with_file(file)?))
            }
        }
    }

    /// Returns this choice with another hash.
    ///
    /// # Errors
    /// If the format does not allow it.
    pub fn with_hash(self, hash: Algorithm) -> Result<Self, SpecError> {
        self.with(|spec| spec.with_hash(hash))
    }

    /// Returns this choice with another leaf length, in bytes.
    ///
    /// # Errors
    /// If the format does not allow it.
    pub fn with_leaf(self, leaf: u64) -> Result<Self, SpecError> {
        Ok(Choice { leaf: Leaf::Given, ..self.with(|spec| spec.with_leaf(leaf))? })
    }

    /// Returns this choice with another value of an option.
    ///
    /// # Errors
    /// If the format does not have the option, or not with this value.
    pub fn with_option(self, option: FormatOption, value: OptionValue) -> Result<Self, SpecError> {
        self.with(|spec| spec.with_option(option, value))
    }

    /// Whether the part size has to be found from the number of parts that S3 writes after a root.
    pub fn guesses(&self, claimed: &ClaimedRoot) -> bool {
        self.leaf == Leaf::Default && claimed.parts().is_some()
    }

    /// Exactly this format: of an S3 upload, no other part size is tried.
    pub fn exact(spec: Spec) -> Self {
        Choice { leaf: Leaf::Given, ..spec.into() }
    }

    /// The formats in which a file of `len` bytes may have the claimed root: one, or for an S3 upload of unknown part size
    /// one for each size that fits, the likeliest first.
    pub fn candidates(&self, len: u64, claimed: &ClaimedRoot) -> Vec<Spec> {
        let guesses = match claimed.parts() {
            Some(parts) if self.guesses(claimed) => self.spec.part_sizes(len, parts),
            _ => Vec::new(),
        };
        // Where nothing fits, the default does not either: its root will differ.
        if guesses.is_empty() { vec![self.spec.clone()] } else { guesses }
    }
}

impl From<Spec> for Choice {
    fn from(spec: Spec) -> Self {
        Choice { spec, ..Choice::default() }
    }
}

impl From<DirectorySpec> for Choice {
    fn from(directory: DirectorySpec) -> Self {
        Choice { spec: directory.tree().clone(), leaf: Leaf::Given, directory: Some(directory) }
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.directory {
            None => self.spec.fmt(f),
            Some(directory) => directory.fmt(f),
        }
    }
}

impl FromStr for Choice {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        if DirectorySpec::is_name(text) {
            return Ok(text.parse::<DirectorySpec>()?.into());
        }
        let given = text.split(':').skip(1).any(|part| parse_size(part).is_ok());
        let leaf = if given { Leaf::Given } else { Leaf::Default };
        Ok(Choice { spec: text.parse()?, leaf, directory: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_size_is_guessed_only_where_none_was_given() {
        let root = "00000000000000000000000000000000-3";
        let sizes = |text: &str, len| {
            let choice: Choice = text.parse().unwrap();
            let specs = choice.candidates(len, &choice.spec().claimed_root(root).unwrap());
            specs.iter().map(Spec::leaf).collect::<Vec<_>>()
        };
        assert_eq!(sizes("s3:md5:8MiB", 20 << 20), [8 << 20]);
        assert_eq!(sizes("s3:md5", 20 << 20)[0], 8 << 20);
        assert!(sizes("s3:md5", 20 << 20).len() > 1);
        assert_eq!(sizes("s3:md5", 2), [8 << 20]);
    }
}
