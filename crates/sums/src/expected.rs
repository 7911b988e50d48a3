//! The trusted root, as a user has it.

use crate::choice::Choice;
use crate::published::Published;
use crate::sumfile::Entry;
use mksum::directory::DirectorySpec;
use mksum::formats::Binding;
use mksum::{ClaimedRoot, Root, Shape, Spec};

/// A trusted root, and the formats that it may be of.
#[derive(Clone, Debug)]
pub struct Expected {
    root: ClaimedRoot,
    choices: Vec<Choice>,
}

impl Expected {
    /// Reads a root as [`Published::read`] does: hex, base64, with the name of its format before it, an ETag; or the line of a sum file.
    /// `given` is its format, if that is known.
    ///
    /// # Errors
    /// If it is none, or that of a part of a file: as words.
    pub fn parse(text: &str, given: Option<&Choice>) -> Result<Expected, String> {
        Published::read(text, given).map(Expected::from)
    }

    /// The sum of an entry of a sum file. Where its format was guessed, all that are usual are possible.
    ///
    /// # Errors
    /// If it is that of a directory: as words.
    pub fn of_entry(entry: &Entry, given: Option<&Choice>) -> Result<Expected, String> {
        match entry.guessed {
            true => Expected::parse(&entry.claimed.text(entry.choice.spec()), given),
            false => Expected { root: entry.claimed.clone(), choices: vec![entry.choice.clone()] }.of_file(),
        }
    }

    /// Returns this root if it is that of a file.
    ///
    /// # Errors
    /// If it is that of a directory: as words.
    pub fn of_file(self) -> Result<Expected, String> {
        match self.directory() {
            Some(_) => Err("it is the root of a directory: give that of a file".into()),
            None => Ok(self),
        }
    }

    /// The format, if it is one of directories.
    pub fn directory(&self) -> Option<&DirectorySpec> {
        self.choices.iter().find_map(Choice::directory)
    }

    /// The root.
    pub fn root(&self) -> &ClaimedRoot {
        &self.root
    }

    /// The root's text, as the tools of its first format print it.
    pub fn text(&self) -> String {
        self.root.text(self.choices[0].spec())
    }

    /// The formats that it may be of, in a file of `len` bytes.
    pub fn specs(&self, len: u64) -> Vec<Spec> {
        self.choices.iter().flat_map(|choice| choice.candidates(len, &self.root)).collect()
    }

    /// Whether its format is known.
    pub fn is_named(&self) -> bool {
        self.choices.len() == 1
    }

    /// Whether a file of `len` bytes may have it as the root of several leaves: then an outboard tells which of them are right.
    pub fn has_leaves(&self, len: u64) -> bool {
        self.specs(len).iter().any(|spec| spec.single_leaf(len).is_none())
    }

    /// Whether the formats depend on the file's length: that is the part size of an upload, which is found from it.
    pub fn needs_length(&self) -> bool {
        self.choices.iter().any(|choice| choice.guesses(&self.root))
    }

    /// Whether a file with this root could have been made of the nodes of another file that has it too, and why; `first` is the file's
    /// first byte. A file of the expected length could not.
    pub fn doubt(&self, root: &Root, first: Option<u8>) -> Option<String> {
        let (spec, len, default) = (root.spec(), root.len(), Spec::default());
        let size = spec.hash().size() as u64;
        if !self.is_named() && spec.hash() == default.hash() {
            // A leaf and a node of the default format are a sum of the bytes 0 and 1 and what follows.
            let is_doubtful = match *spec == default {
                true => len <= spec.leaf(),
                false => (first == Some(0) && len <= 1 + default.leaf()) || (first == Some(1) && len == 1 + 2 * size),
            };
            let names = self.choices.iter().map(Choice::to_string).collect::<Vec<_>>().join(" or ");
            return is_doubtful.then(|| {
                format!(
                    "files of {len} bytes are told apart only if the root names its format: give it with -f ({names})"
                )
            });
        }
        let Shape::Even { leaf, arity, .. } = spec.shape() else { return None };
        let is_node = len % size == 0 && (2 * size..=arity.saturating_mul(size)).contains(&len);
        let is_doubtful =
            spec.family().binding() == Binding::Nothing && (is_node || leaf <= arity.saturating_mul(size));
        is_doubtful.then(|| {
            format!(
                "in {spec}, a root does not tell a file of {len} bytes from the nodes of a longer one: its length is needed, too"
            )
        })
    }

    /// Whether a root is the expected one, in one of its formats.
    pub fn matches(&self, root: &Root) -> bool {
        self.is_of(root.spec(), root.len()) && root.matches(&self.root)
    }

    /// Whether files of `len` bytes may have it in this format.
    pub fn is_of(&self, spec: &Spec, len: u64) -> bool {
        self.specs(len).contains(spec)
    }
}

impl From<&Root> for Expected {
    /// The root, in its own format.
    fn from(root: &Root) -> Expected {
        Expected { root: root.into(), choices: vec![Choice::exact(root.spec().clone())] }
    }
}

impl From<Published> for Expected {
    fn from(published: Published) -> Expected {
        Expected { root: published.root, choices: published.usual }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHA256: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    fn formats(text: &str) -> Result<Vec<String>, String> {
        Ok(Expected::parse(text, None)?.choices.iter().map(Choice::to_string).collect())
    }

    #[test]
    fn roots_and_lines_are_read() {
        assert_eq!(formats(&format!("sha256:{SHA256}")).unwrap(), ["sha256"]);
        assert_eq!(formats(&format!("rfc6962:sha256:1MiB:{SHA256}")).unwrap(), ["rfc6962:sha256:1MiB"]);
        assert_eq!(formats(&format!("rfc6962:sha256:64KiB (a b) = {SHA256}\n")).unwrap(), ["rfc6962:sha256:64KiB"]);
        assert_eq!(formats(&format!("SHA256 (a b) = {SHA256}")).unwrap(), ["sha256"]);
        let bare = ["rfc6962:sha256:64KiB", "sha256", "blake3"];
        assert_eq!(formats(SHA256).unwrap(), bare);
        for wrong in ["", "x", "a b", &format!("rfc6962:sha256:64KiB@0..7 (a) = {SHA256}"), "dir:00"] {
            assert!(formats(wrong).is_err(), "{wrong}");
        }
        for directory in [format!("dir (a) = {SHA256}"), format!("dir:sha256:{SHA256}"), format!("dir:{SHA256}")] {
            let expected = Expected::parse(&directory, None).unwrap();
            assert!(expected.directory().is_some() && expected.of_file().is_err(), "{directory}");
        }
        let choice: Choice = "blake3".parse().unwrap();
        assert_eq!(Expected::parse(SHA256, Some(&choice)).unwrap().choices, [choice]);
    }

    #[test]
    fn what_could_be_nodes_of_another_file_is_doubted() {
        let doubted = |format: &str, named: bool, bytes: &[u8]| {
            let root = format.parse::<Spec>().unwrap().root(bytes).unwrap();
            let text = if named { format!("{format}:{root}") } else { root.to_string() };
            let expected = Expected::parse(&text, None).unwrap();
            assert!(expected.matches(&root), "{format}");
            expected.doubt(&root, bytes.first().copied()).is_some()
        };
        let mut node = vec![2; 65];
        assert!(!doubted("sha256", false, &node));
        node[0] = 1;
        assert!(doubted("sha256", false, &node) && !doubted("sha256", true, &node));
        assert!(doubted("sha256", false, b"\0abc"));
        assert!(doubted("rfc6962:sha256:64KiB", false, b"abc") && !doubted("rfc6962:sha256:64KiB", true, b"abc"));
        assert!(!doubted("rfc6962:sha256:64KiB", false, &[0; 70_000]));
        assert!(doubted("glacier", true, &[7; 64]) && !doubted("glacier", true, &[7; 65]));
    }
}
