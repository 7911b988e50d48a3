//! What is read: told apart once, where a text comes in.

use mksum_sums::name::{Named, Shown};
use mksum_sums::url::Url;
use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

/// An input to be hashed, or a place of another file or object. It prints without the secrets of a URL, and escaped for terminals.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Input {
    /// The standard input.
    Stdin,
    /// A file, a block device, a named pipe, a directory.
    File(PathBuf),
    /// An object, if the options have [`objects`](crate::Options::objects).
    Url(Url),
}

impl Input {
    /// Parses the name of an input: `-` is the standard input, a [URL](Url::parse) an object, and all else a file.
    ///
    /// ```
    /// use mksum_io::Input;
    ///
    /// assert_eq!(Input::parse("-"), Input::Stdin);
    /// assert_eq!(Input::parse("s3:/bucket/key"), Input::File("s3:/bucket/key".into()));
    /// assert_eq!(Input::parse("http://me:secret@host/a").to_string(), "http://me:***@host/a");
    /// ```
    pub fn parse(text: impl Into<OsString>) -> Input {
        match text.into() {
            text if text == "-" => Input::Stdin,
            text => Input::place(text),
        }
    }

    /// Parses a name like [`Input::parse`], but never as the standard input: `-` is a file.
    pub fn place(text: impl Into<OsString>) -> Input {
        let text = text.into();
        text.to_str().and_then(Url::parse).map_or_else(|| Input::File(text.into()), Input::Url)
    }

    /// The path, if it is a file.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Input::File(path) => Some(path),
            Input::Stdin | Input::Url(_) => None,
        }
    }

    /// The URL, if it is an object.
    pub fn url(&self) -> Option<&Url> {
        match self {
            Input::Url(url) => Some(url),
            Input::Stdin | Input::File(_) => None,
        }
    }

    /// The text that [`Input::parse`] reads as this input, with the secrets of a URL.
    pub fn as_os_str(&self) -> &OsStr {
        match self {
            Input::Stdin => OsStr::new("-"),
            Input::File(path) => path.as_os_str(),
            Input::Url(url) => url.as_str().as_ref(),
        }
    }

    /// The path, or the URL without its secrets in the place of one: for errors.
    pub fn shown_path(&self) -> PathBuf {
        match self {
            Input::Url(url) => String::from_utf8_lossy(&url.shown()).into_owned().into(),
            other => other.as_os_str().into(),
        }
    }

    /// The last part of its path, under which something of the same name is found: of a URL without its query, and of `.` the name of
    /// that directory. `None` if it has none.
    ///
    /// ```
    /// use mksum_io::Input;
    ///
    /// let name = |text: &str| Input::parse(text).name();
    /// assert_eq!(name("https://host/a/b?x=/y"), Some("b".into()));
    /// assert_eq!(name("s3://bucket/prefix/"), Some("prefix".into()));
    /// assert_eq!((name("a/b"), name("-")), (Some("b".into()), None));
    /// ```
    pub fn name(&self) -> Option<PathBuf> {
        match self {
            Input::Url(url) => {
                let path = url.file_path();
                let path = path.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
                path.rsplit_once('/').map(|(_, name)| name.into())
            }
            Input::File(path) => {
                let named = path.file_name().map(PathBuf::from);
                named.or_else(|| path.canonicalize().ok()?.file_name().map(PathBuf::from))
            }
            Input::Stdin => None,
        }
    }

    /// Whether it stands for what lies below it: a directory that is there, or a URL that ends in a slash.
    pub fn is_directory(&self) -> bool {
        match self {
            Input::File(path) => path.is_dir(),
            Input::Url(url) => url.as_str().ends_with('/'),
            Input::Stdin => false,
        }
    }

    /// Appends the path `below` to the path of a directory, or to its URL.
    ///
    /// ```
    /// use mksum_io::Input;
    ///
    /// let below = |base: &str| Input::place(base).join("a/b c".as_ref());
    /// assert_eq!(below("/copy"), Input::place("/copy/a/b c"));
    /// assert_eq!(below("https://host/x/"), Input::place("https://host/x/a/b%20c"));
    /// ```
    #[must_use]
    pub fn join(&self, below: &Path) -> Input {
        match self {
            Input::Url(url) => url.join(below).into(),
            Input::File(path) => path.join(below).into(),
            Input::Stdin => below.into(),
        }
    }

    /// Returns this input with a dot and `extension` appended to its name.
    #[must_use]
    pub fn with_extension(&self, extension: &str) -> Input {
        let mut text = self.as_os_str().to_os_string();
        text.push(".");
        text.push(extension);
        Input::place(text)
    }
}

impl Named for Input {
    fn shown(&self) -> Cow<'_, [u8]> {
        match self {
            Input::Url(url) => url.shown(),
            other => other.as_os_str().as_encoded_bytes().into(),
        }
    }
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Shown(self), f)
    }
}

impl From<PathBuf> for Input {
    fn from(path: PathBuf) -> Self {
        Input::File(path)
    }
}

impl From<Url> for Input {
    fn from(url: Url) -> Self {
        Input::Url(url)
    }
}

impl<T: ToOwned<Owned: Into<Input>> + ?Sized> From<&T> for Input {
    fn from(part: &T) -> Self {
        part.to_owned().into()
    }
}

impl PartialEq<Path> for Input {
    fn eq(&self, path: &Path) -> bool {
        self.file() == Some(path)
    }
}
