//! From arguments to the files to be hashed, in a stable order.

use crate::args::{Directories, NOT_HERE, Symlinks};
use crate::console::Console;
use crate::figures::grouped;
use crate::own::is_kept_folder;
use crate::streams::{Stream, is_open};
use mksum_io::outboard::is_part_of_outboard;
use mksum_io::{EntryKind, Exclude, Input, Listed as Facts, Listing, Objects, Url, reason};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use walkdir::WalkDir;

/// The choice of files in directories.
#[derive(Clone, Debug)]
pub struct Rules {
    recursive: bool,
    symlinks: Symlinks,
    exclude: Exclude,
    /// The stores whose objects are listed.
    objects: Option<Arc<dyn Objects>>,
    /// Whether directories are inputs too, and links that are not followed.
    others: bool,
    /// Symbolic links that walks have skipped in directories that hold files, too.
    skipped: Arc<AtomicU64>,
}

/// To hash nothing is no success: where somebody looks for files, none is an error.
const NOTHING: &str = "no files to read";

/// A file that cannot be hashed, and why.
pub type Unreachable = (Input, String);

impl Rules {
    /// The choice that the flags ask for, with these stores.
    ///
    /// # Errors
    /// If a glob is not valid.
    pub fn new(args: &Directories, objects: Option<Arc<dyn Objects>>) -> Result<Rules, String> {
        let exclude = Exclude::new(args.exclude.iter().cloned()).map_err(|error| format!("--exclude {error}"))?;
        let (recursive, symlinks) = (args.recursive, args.symlinks);
        Ok(Rules { recursive, symlinks, exclude, objects, others: false, skipped: Arc::default() })
    }

    /// The same choice, whose walks have directories too, and links that are not followed.
    pub fn with_others(self) -> Rules {
        Rules { others: true, ..self }
    }

    /// The same choice, whose walks count what they skip for themselves: for progress, which walks first.
    pub fn uncounted(&self) -> Rules {
        Rules { skipped: Arc::default(), ..self.clone() }
    }

    /// Reports how many symbolic links were skipped in directories, if any were. Returns their number.
    pub fn report_skipped(&self, console: &Console) -> u64 {
        let count = self.skipped.load(Ordering::Relaxed);
        if count > 0 {
            console.note(&format_args!("{}", skipped(count)));
        }
        count
    }

    /// The inputs that `arguments` name; the standard input if there are none. Files in directories that belong to outboards
    /// are skipped.
    pub fn walk(&self, arguments: &[Input]) -> Walk {
        self.walk_with(arguments, is_part_of_outboard)
    }

    /// The same, but in directories those files are skipped for which `skips` is true.
    pub fn walk_with(&self, arguments: &[Input], skips: fn(&Path) -> bool) -> Walk {
        let arguments = if arguments.is_empty() { vec![Input::Stdin] } else { arguments.to_vec() };
        self.walk_through(Box::new(arguments.into_iter().map(Ok)), skips)
    }

    /// The inputs that the names in `list` lead to, as [`walk`](Rules::walk) has them.
    pub fn walk_names(
        &self,
        list: &Path,
        names: impl Iterator<Item = Result<Input, Unreachable>> + Send + 'static,
    ) -> Walk {
        let mut names = names.peekable();
        let none = names.peek().is_none().then(|| Err((Input::parse(list), NOTHING.into())));
        self.walk_through(Box::new(none.into_iter().chain(names)), is_part_of_outboard)
    }

    fn walk_through(&self, arguments: Arguments, skips: fn(&Path) -> bool) -> Walk {
        let kind = EntryKind::File;
        Walk { rules: self.clone(), skips, arguments, inside: None, listed: None, facts: None, kind }
    }
}

/// The inputs that arguments name: see [`Rules::walk`].
///
/// A directory comes depth first, each directory's entries by the bytes of their names.
pub struct Walk {
    rules: Rules,
    skips: fn(&Path) -> bool,
    arguments: Arguments,
    inside: Option<Inside>,
    listed: Option<Listed>,
    /// The length and version of the last input, if it was listed.
    facts: Option<(u64, String)>,
    /// The kind of the last input.
    kind: EntryKind,
}

/// A directory that is walked through.
struct Inside {
    directory: PathBuf,
    entries: walkdir::IntoIter,
    files: u64,
    /// Symbolic links that were skipped.
    links: u64,
}

type Arguments = Box<dyn Iterator<Item = Result<Input, Unreachable>> + Send>;

/// Objects below a URL.
struct Listed {
    url: Url,
    objects: Listing,
    /// Whether there was one.
    any: bool,
}

impl Walk {
    /// The length and version of the last input, if it was an object in a listing.
    pub fn facts(&mut self) -> Option<(u64, String)> {
        self.facts.take()
    }

    /// The kind of the last input: a file, unless the rules are [with others](Rules::with_others).
    pub fn kind(&self) -> EntryKind {
        self.kind
    }

    /// The next object of a listing; none at its end.
    fn object(&mut self) -> Option<Result<Input, Unreachable>> {
        let Listed { url, objects, any } = self.listed.as_mut()?;
        for object in objects.by_ref() {
            *any = true;
            match object {
                Ok(object) if self.rules.exclude.covers_within(Path::new(object.url.below(url)), false) => {}
                Ok(Facts { url, len, version }) => {
                    self.facts = Some((len, version));
                    return Some(Ok(url.into()));
                }
                Err(error) => return Some(Err((error.input().clone(), error.to_string()))),
            }
        }
        // Without objects below it, it is the name of one.
        let Listed { url, any, .. } = self.listed.take()?;
        (!any).then_some(Ok(url.into()))
    }
}

impl Iterator for Walk {
    type Item = Result<Input, Unreachable>;

    fn next(&mut self) -> Option<Self::Item> {
        self.kind = EntryKind::File;
        loop {
            if let Some(object) = self.object() {
                return Some(object);
            }
            match &mut self.inside {
                Some(inside) => match inside.next_entry(&self.rules) {
                    Some(Ok((path, EntryKind::File))) if (self.skips)(&path) => inside.files += 1,
                    Some(Ok((path, kind))) => {
                        inside.files += u64::from(kind == EntryKind::File);
                        self.kind = kind;
                        return Some(Ok(path.into()));
                    }
                    Some(Err(unreachable)) => return Some(Err(unreachable)),
                    None => {
                        let Inside { directory, files, links, .. } = self.inside.take()?;
                        if files == 0 && !self.rules.others {
                            let why = if links > 0 { format!("no files: {}", skipped(links)) } else { NOTHING.into() };
                            return Some(Err((directory.into(), why)));
                        }
                        self.rules.skipped.fetch_add(links, Ordering::Relaxed);
                    }
                },
                None => {
                    let argument = match self.arguments.next()? {
                        Ok(argument) => argument,
                        Err(unreachable) => return Some(Err(unreachable)),
                    };
                    let path = match (argument, &self.rules.objects) {
                        (Input::Url(url), Some(stores)) if self.rules.recursive => {
                            match stores.list(&url) {
                                Ok(objects) => self.listed = Some(Listed { url, objects, any: false }),
                                Err(error) => return Some(Err((url.into(), error.to_string()))),
                            }
                            continue;
                        }
                        (Input::Stdin, _) if !is_open(Stream::Input) => {
                            return Some(Err((Input::Stdin, "standard input is closed".into())));
                        }
                        (Input::File(path), _) if self.rules.recursive => path,
                        (argument, _) => return Some(Ok(argument)),
                    };
                    if !path.is_dir() {
                        return Some(Ok(path.into()));
                    }
                    let follow = self.rules.symlinks == Symlinks::Follow;
                    let entries = WalkDir::new(&path).follow_links(follow).sort_by_file_name();
                    self.inside = Some(Inside { directory: path, entries: entries.into_iter(), files: 0, links: 0 });
                }
            }
        }
    }
}

/// Standard input, to be read.
///
/// # Errors
/// If the process was started without it.
pub fn stdin() -> io::Result<Box<dyn Read + Send>> {
    match is_open(Stream::Input) {
        true => Ok(Box::new(io::stdin())),
        false => Err(io::Error::other("standard input is closed")),
    }
}

/// Opens a list to be read.
///
/// # Errors
/// If it cannot be opened.
pub fn open(list: &Input) -> io::Result<Box<dyn Read + Send>> {
    match list {
        Input::Stdin => stdin(),
        Input::Url(_) => Err(io::Error::other(NOT_HERE)),
        Input::File(path) => Ok(Box::new(fs::File::open(path)?)),
    }
}

impl Inside {
    /// The next file; with the others also directories and links.
    fn next_entry(&mut self, rules: &Rules) -> Option<Result<(PathBuf, EntryKind), Unreachable>> {
        loop {
            let entry = match self.entries.next()? {
                Ok(entry) => entry,
                Err(error) => return Some(Err(unreachable(&self.directory, &error))),
            };
            let (kind, below) = (entry.file_type(), entry.depth() > 0);
            let place = entry.path().strip_prefix(&self.directory).unwrap_or(entry.path());
            // A catalogue changes whenever it is used.
            let excluded =
                rules.exclude.covers(place, kind.is_dir()) || (kind.is_dir() && is_kept_folder(entry.path()));
            if below && excluded {
                if kind.is_dir() {
                    self.entries.skip_current_dir();
                }
            } else if kind.is_file() {
                // Pipes, sockets and devices in directories are skipped.
                return Some(Ok((entry.into_path(), EntryKind::File)));
            } else if rules.others && kind.is_dir() {
                return Some(Ok((entry.into_path(), EntryKind::Directory)));
            } else if rules.others && below && kind.is_symlink() {
                return Some(Ok((entry.into_path(), EntryKind::Link)));
            } else if below && kind.is_symlink() {
                self.links += 1;
            }
        }
    }
}

/// How many symbolic links were skipped, and what reads them.
fn skipped(links: u64) -> String {
    let plural = if links == 1 { "symbolic link" } else { "symbolic links" };
    format!("{} {plural} skipped (--symlinks follow reads what they point to)", grouped(links))
}

fn unreachable(directory: &Path, error: &walkdir::Error) -> Unreachable {
    let path = error.path().unwrap_or(directory).to_path_buf();
    let why = match (error.loop_ancestor(), error.io_error()) {
        (Some(above), _) => format!("a symbolic link back to {}", mksum_cli::name::Shown(above)),
        (None, Some(error)) => reason(error),
        (None, None) => error.to_string(),
    };
    (path.into(), why)
}

/// The length of an input if it is a regular file; `None` where it is not known beforehand.
pub fn length(input: &Input) -> Option<u64> {
    match input {
        // Of an object, only a request would show it.
        Input::Stdin | Input::Url(_) => None,
        // A file that cannot be found adds nothing to the work.
        Input::File(path) => match fs::metadata(path) {
            Ok(metadata) if metadata.is_file() => Some(metadata.len()),
            Ok(metadata) if metadata.is_dir() => Some(0),
            Ok(_) => None,
            Err(_) => Some(0),
        },
    }
}
