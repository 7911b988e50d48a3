//! What a directory's catalogue is to hold: a text file beside it, which a person may edit (`spec/catalogue.md`).

use crate::error::Error;
use crate::folder::{Folder, Kind};
use mksum::Spec;
use mksum_io::{Exclude, KEPT_FOLDER};
use mksum_sums::time::duration;
use std::ffi::{OsStr, OsString};
use std::io::{ErrorKind, Read};
use std::time::Duration;

/// The longest such file, in bytes.
const LONGEST: u64 = 1 << 20;

const HEAD: &str =
    "# What mksum keeps of this directory: lines of 'exclude GLOB', 'format FORMAT' and 'budget TIME'.\n";

/// The lines of a file that say what a catalogue holds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Config {
    pub exclude: Exclude,
    /// The formats of a new catalogue.
    pub formats: Vec<Spec>,
    /// The time that a verification takes, unless it is asked for more or less.
    pub budget: Option<Duration>,
}

/// The name of the file that belongs to a catalogue: in the folder `.mksum` a plain one.
pub(crate) fn name_of(folder: &Folder, catalogue: &OsStr) -> OsString {
    match folder.path.file_name() == Some(OsStr::new(KEPT_FOLDER)) && catalogue == "catalogue" {
        true => "config".into(),
        false => [catalogue, OsStr::new(".config")].into_iter().collect(),
    }
}

/// The text of the file; none if there is no such file.
fn text(folder: &Folder, name: &OsStr) -> Result<String, Error> {
    let path = folder.given(name);
    let failed = |error| Error::Io(mksum_io::Error::Open { path: path.clone().into(), error });
    if !folder.expect(name, Kind::File)? {
        return Ok(String::new());
    }
    let mut text = String::new();
    let file = match mksum_io::open_regular(&folder.path.join(name)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(text),
        file => file.map_err(failed)?,
    };
    file.take(LONGEST + 1).read_to_string(&mut text).map_err(failed)?;
    match text.len() as u64 > LONGEST {
        true => Err(Error::refused(&path, "it is longer than 1 MiB: expected lines such as 'exclude .git'")),
        false => Ok(text),
    }
}

impl Config {
    /// Reads the file beside a catalogue.
    ///
    /// # Errors
    /// If it cannot be read, or a line is not one of those that it may have.
    pub fn read(folder: &Folder, catalogue: &OsStr) -> Result<Config, Error> {
        let name = name_of(folder, catalogue);
        let text = text(folder, &name)?;
        Config::parse(&text).map_err(|why| Error::refused(folder.given(&name), why))
    }

    fn parse(text: &str) -> Result<Config, String> {
        let (mut globs, mut formats, mut budget) = (Vec::new(), Vec::new(), None);
        for (index, line) in text.lines().enumerate() {
            let wrong = |why: &str| Err(format!("line {}: {why}", index + 1));
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            match line.split_once(char::is_whitespace).map(|(key, value)| (key, value.trim_start())) {
                Some(("exclude", glob)) => match Exclude::new([glob.into()]) {
                    Ok(_) => globs.push(glob.into()),
                    Err(why) => return wrong(&format!("exclude {why}")),
                },
                Some(("format", name)) => match name.parse() {
                    Ok(spec) => formats.push(spec),
                    Err(error) => return wrong(&format!("format '{}': {error}", name.escape_debug())),
                },
                Some(("budget", time)) => match duration(time) {
                    Ok(time) => budget = Some(time),
                    Err(why) => return wrong(&format!("budget '{}': {why}", time.escape_debug())),
                },
                _ => {
                    return wrong(&format!(
                        "'{}': expected 'exclude GLOB', 'format FORMAT', 'budget TIME' or a comment after #",
                        line.escape_debug()
                    ));
                }
            }
        }
        Ok(Config { exclude: Exclude::new(globs)?, formats, budget })
    }

    /// Adds globs to the file, and leaves its other lines as they are.
    ///
    /// # Errors
    /// If it cannot be written, or a glob is not valid or does not fit into a line.
    pub fn add(folder: &Folder, catalogue: &OsStr, globs: &[String]) -> Result<Config, Error> {
        let name = name_of(folder, catalogue);
        let path = folder.given(&name);
        let refuse = |why: String| Error::refused(&path, why);
        let mut text = text(folder, &name)?;
        let known = Config::parse(&text).map_err(refuse)?;
        if text.is_empty() {
            text.push_str(HEAD);
        } else if !text.ends_with('\n') {
            text.push('\n');
        }
        let mut any = false;
        for glob in globs {
            if glob.trim() != glob || glob.is_empty() || glob.contains(['\n', '\r']) {
                return Err(refuse(format!("the glob '{}' does not fit into a line", glob.escape_debug())));
            }
            if !known.exclude.globs().contains(glob) {
                text.push_str(&format!("exclude {glob}\n"));
                any = true;
            }
        }
        let config = Config::parse(&text).map_err(refuse)?;
        if any {
            let mut new = name.clone();
            new.push(".new");
            folder
                .remove(&new)
                .and_then(|()| folder.write_whole(&name, &new, text.as_bytes()))
                .map_err(|error| Error::Io(mksum_io::Error::Write { path: path.clone().into(), error }))?;
        }
        Ok(config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_say_what_is_kept_and_which_is_wrong() {
        let config =
            Config::parse("# a comment\n\n exclude  .git/ \nexclude a b\nformat sha256\r\nbudget 30m\n").unwrap();
        assert_eq!(config.exclude.globs(), [".git/", "a b"]);
        assert_eq!(config.formats, ["sha256".parse().unwrap()]);
        assert_eq!(config.budget, Some(Duration::from_secs(1800)));
        for (text, why) in [
            ("exclude x\nexlude y\n", "line 2: 'exlude y': expected 'exclude GLOB'"),
            ("exclude\n", "line 1: 'exclude': expected"),
            ("exclude [\n", "line 1: exclude '[': "),
            ("format none\n", "line 1: format 'none': "),
            ("budget soon\n", "line 1: budget 'soon': expected a time"),
        ] {
            let error = Config::parse(text).unwrap_err();
            assert!(error.starts_with(why), "{error}");
        }
    }
}
