//! What is served, and at which paths.

use crate::ahead::Ahead;
use crate::cache::LeafCache;
use crate::folder::{Folder, Found, Missing, open_file, open_object};
use crate::index::Item;
use crate::reading::{Reading, Verifying};
use hyper::StatusCode;
use mksum_io::outboard::{EXTENSION, beside};
use mksum_io::{Error, Input, Options, Url, path_from_bytes};
use mksum_sums::expected::Expected;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// Files, directories and objects at the paths of URLs.
#[derive(Debug)]
pub struct Site {
    root: Place,
    reading: Reading,
}

/// Which bytes are sent.
#[derive(Clone, Debug, Default)]
pub enum Verification {
    /// All, as they are.
    #[default]
    None,
    /// Bytes verified through the outboards of their files, whose own roots are trusted. A file without an outboard is not
    /// sent; an outboard is, as it is.
    Outboards,
    /// Verified bytes of one file or object, whose root is known.
    Root(Expected),
}

#[derive(Debug)]
enum Place {
    Folder(Box<Folder>),
    File(PathBuf),
    Object(Url),
    /// The objects below a URL: a server or a bucket, which is not listed.
    Prefix(Url),
    /// Several, by their names.
    Several(BTreeMap<Vec<u8>, Place>),
}

impl Site {
    /// One directory, or one URL that ends in a slash, at `/`; otherwise each input at its name: `/NAME` or `/NAME/`. The outboard beside a
    /// file or object is at `/NAME.mkt`. Leaves of objects that were verified are kept in a cache, if there is one.
    ///
    /// # Errors
    /// If one cannot be opened, has no name, or two have the same; if there is a root, and not one file or object: the input, and the
    /// reason.
    pub fn new(
        inputs: &[Input],
        verification: Verification,
        cache: Option<LeafCache>,
        options: &Options,
    ) -> Result<Site, (Input, String)> {
        let options = options.through_cache();
        let verified = match verification {
            Verification::None => None,
            Verification::Outboards => Some(None),
            Verification::Root(root) => Some(Some(root)),
        };
        let verified = verified.map(|root| Verifying { root, opened: Arc::default(), cache: cache.map(Arc::new) });
        let reading = Reading { options, ahead: Ahead::default(), verified };
        if reading.verified.as_ref().is_some_and(|verified| verified.root.is_some())
            && let Some(other) = inputs.iter().enumerate().find(|(index, input)| *index > 0 || input.is_directory())
        {
            return Err((other.1.clone(), "a root is that of one file".into()));
        }
        if let [input] = inputs
            && input.is_directory()
        {
            return Ok(Site { root: Place::of(input, &reading)?, reading });
        }
        let mut places = BTreeMap::new();
        for input in inputs {
            let name = input.name().ok_or_else(|| (input.clone(), "it has no name to be served under".to_string()))?;
            if places.insert(name.into_os_string().into_encoded_bytes(), Place::of(input, &reading)?).is_some() {
                return Err((input.clone(), "another one has the same name".into()));
            }
        }
        Ok(Site { root: Place::Several(places), reading })
    }

    /// The memory for reading ahead.
    pub fn ahead(&self) -> &Ahead {
        &self.reading.ahead
    }

    /// Finds what is at a path. Of an object, the bytes `part` will be read.
    pub fn find(&self, names: &[Vec<u8>], part: Range<u64>) -> Result<Found, Missing> {
        self.root.find(names, part, &self.reading)
    }
}

impl Place {
    fn of(input: &Input, reading: &Reading) -> Result<Place, (Input, String)> {
        let fail = |error: Error| (input.clone(), error.to_string());
        match input {
            Input::File(path) if path.is_dir() => Folder::open(path).map(Box::new).map(Place::Folder).map_err(fail),
            Input::File(path) => match open_file(path, reading) {
                Ok(_) => Ok(Place::File(path.clone())),
                Err((_, why)) => Err((input.clone(), why)),
            },
            Input::Url(url) if input.is_directory() => Ok(Place::Prefix(url.clone())),
            // Its store is asked with the first request, but to verify it now.
            Input::Url(url) if reading.verified.is_none() => Ok(Place::Object(url.clone())),
            Input::Url(url) => match open_object(url, 0..1, reading) {
                Ok(_) => Ok(Place::Object(url.clone())),
                Err((_, why)) => Err((input.clone(), why)),
            },
            Input::Stdin => Err((input.clone(), "the standard input cannot be served: it is read once".into())),
        }
    }

    fn find(&self, names: &[Vec<u8>], part: Range<u64>, reading: &Reading) -> Result<Found, Missing> {
        let nothing = || (StatusCode::NOT_FOUND, "there is no such file".into());
        match (self, names) {
            (Place::Folder(folder), names) => folder.find(names, reading),
            (Place::File(path), []) => open_file(path, reading).map(Found::Content),
            (Place::Object(url), []) => open_object(url, part, reading).map(Found::Content),
            (Place::Prefix(url), [_, ..]) => {
                let below = names.iter().map(|name| path_from_bytes(name)).collect::<Option<PathBuf>>();
                open_object(&url.join(&below.ok_or_else(nothing)?), part, reading).map(Found::Content)
            }
            (Place::File(_) | Place::Object(_) | Place::Prefix(_), _) => Err(nothing()),
            (Place::Several(places), []) => {
                Ok(Found::Index(places.iter().map(|(name, place)| place.item(name)).collect()))
            }
            (Place::Several(places), [name, below @ ..]) => match (places.get(name), whole_of(name)) {
                (Some(place), _) => place.find(below, part, reading),
                (None, Some(whole)) if below.is_empty() => match places.get(whole) {
                    Some(Place::File(path)) => open_file(&beside(path), reading).map(Found::Content),
                    Some(Place::Object(url)) => match Input::from(url).with_extension(EXTENSION) {
                        Input::Url(url) => open_object(&url, part, reading).map(Found::Content),
                        _ => Err(nothing()),
                    },
                    _ => Err(nothing()),
                },
                _ => Err(nothing()),
            },
        }
    }

    fn item(&self, name: &[u8]) -> Item {
        let len = match self {
            Place::File(path) => Some(path.metadata().map_or(0, |metadata| metadata.len())),
            // It is not asked for its length.
            Place::Object(_) => Some(0),
            Place::Folder(_) | Place::Prefix(_) | Place::Several(_) => None,
        };
        Item { name: name.into(), len }
    }
}

/// The name of the file whose outboard has this name.
fn whole_of(name: &[u8]) -> Option<&[u8]> {
    name.strip_suffix(EXTENSION.as_bytes())?.strip_suffix(b".")
}
