//! What a mistaken word may have meant.

use clap::error::{ContextKind, ContextValue};
use mksum::directory::DirectorySpec;
use mksum::formats::FAMILIES;
use mksum::nearest;
use mksum_cli::choice::Choice;
use mksum_cli::name::Shown;
use mksum_cli::published::named;
use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// A format of the command line.
///
/// # Errors
/// As [`Choice`] has them, and for a name that is none with those that it may mean: `sha3`, `sha-256`, `b3`.
pub fn format(text: &str) -> Result<Choice, String> {
    text.parse().map_err(|error: mksum::SpecError| {
        let name = text.split(':').next().unwrap_or_default();
        if FAMILIES.iter().any(|family| family.name == name) || DirectorySpec::is_name(name) {
            return error.to_string();
        }
        let meant: Vec<_> = named(name).iter().map(Choice::to_string).collect();
        let mut reason = match &meant[..] {
            [] => error.to_string(),
            _ => format!("unknown format '{name}': did you mean {}?", meant.join(" or ")),
        };
        if reason.ends_with('?') {
            reason.push_str(" 'mksum formats' lists all");
        }
        reason
    })
}

/// What was meant by an unknown flag that is the name of a format: `--sha256`.
pub fn flag(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg) else { return None };
    let name = flag.trim_start_matches('-');
    let choice = format(name).ok().filter(|_| error.kind() == clap::error::ErrorKind::UnknownArgument)?;
    Some(format!("there is no option '{flag}': formats follow -f, as in '-f {choice}'"))
}

/// Why `path`, the first file of a command line, cannot be meant as one, if it is not there and reads as a command, or `is_style`, as
/// that of a graph. `first` is the first word of the command line.
pub fn misplaced(path: &Path, is_style: bool, first: Option<&OsStr>, commands: &[&str]) -> Option<String> {
    let word = path.to_str()?;
    if !matches!(fs::symlink_metadata(path), Err(error) if error.kind() == ErrorKind::NotFound) {
        return None;
    }
    if commands.contains(&word) {
        return Some(format!("there is no file '{word}'; as a command, it comes before its options: mksum {word} …"));
    }
    if is_style {
        return Some(format!("there is no file '{word}'; the style of a graph follows '=': --graph={word}"));
    }
    let similar = nearest(word, commands.iter().copied()).filter(|_| first.is_some_and(|first| first == word))?;
    Some(format!("there is no file {}, and no such command: did you mean 'mksum {similar}'?", Shown(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_no_formats_have_those_that_they_may_mean() {
        let refused = |text| format(text).unwrap_err();
        assert!(refused("sha3").starts_with("unknown format 'sha3': did you mean sha3-224 or sha3-256 or"));
        assert_eq!(refused("sha-256"), "unknown format 'sha-256': did you mean sha256? 'mksum formats' lists all");
        assert_eq!(refused("SHA-265"), "unknown format 'SHA-265': did you mean sha256? 'mksum formats' lists all");
        assert_eq!(refused("b3"), "unknown format 'b3': did you mean blake3? 'mksum formats' lists all");
        assert_eq!(refused("rfc9162"), "unknown format 'rfc9162': did you mean rfc6962? 'mksum formats' lists all");
        assert!(refused("").starts_with("unknown format '': expected one of"));
        assert!(refused("rfc6962:sha257").contains("neither a hash nor a leaf size"));
        assert!(format("rfc6962").is_ok() && format("dir").is_ok());
    }
}
