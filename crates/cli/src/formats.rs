//! `mksum formats`: the engine's table, as text and as JSON.

use crate::json::object;
use mksum::directory::DirectorySpec;
use mksum::formats::{FAMILIES, Family, LeafRule, MetIn};
use mksum::{ByOffset, MAX_LEN, Spec, format_size};
use mksum_cli::choice::Choice;
use mksum_cli::published::Published;
use serde::Serialize;

/// A line for each format, grouped by where one meets them.
pub fn table() -> String {
    let header = ["FORMAT", "LEAF", "HASHES", "SAME OUTPUT AS"].map(String::from);
    let groups: Vec<Vec<_>> = MetIn::ALL.iter().map(|place| place.families().map(row).collect()).collect();
    let rows = || groups.iter().flatten().chain([&header]);
    let [first, second, third] =
        [0, 1, 2].map(|column| rows().map(|row| row[column].chars().count()).max().unwrap_or(0));
    let line = |[name, leaf, hashes, same_as]: &[String; 4]| {
        format!("{name:first$}  {leaf:second$}  {hashes:third$}  {same_as}\n")
    };
    let mut text = line(&header);
    for (place, rows) in MetIn::ALL.iter().zip(&groups) {
        text += &format!("\n{}\n", place.title());
        text.extend(rows.iter().map(line));
    }
    text + &format!("\n-f {} chooses; the first format, hash and leaf is the default.\n", Spec::grammar())
        + "any hash: "
        + &names(&FAMILIES[0]).join(" ")
        + "\n\
            leaf: one size; any from 1 byte to 1TiB (default); a power of two in a range (default); or where the content says\n"
}

/// The leaf lengths of a format, in a few words.
fn leaves(family: &Family) -> String {
    match family.leaf {
        LeafRule::Whole => "whole input".into(),
        LeafRule::Found(_) => "by content".into(),
        LeafRule::Fixed(leaf) => format_size(leaf),
        LeafRule::Any(default) => format!("any ({})", format_size(default)),
        LeafRule::PowerOfTwo(low, high, default) => {
            format!("{}..{} ({})", format_size(low), format_size(high), format_size(default))
        }
    }
}

/// What a format is, what it allows, and what it cannot do.
pub fn explained(choice: &Choice) -> String {
    let spec = choice.spec();
    let family = spec.family();
    let or_why = |what| match spec.supports(what).map_err(|why| why.to_string()) {
        Ok(()) => "yes".into(),
        Err(why) => format!("no: {}", why.split_once("because ").map_or(&*why, |(_, reason)| reason)),
    };
    let of_tree = |what| match choice.directory() {
        Some(directory) if directory.is_archive() => "no: the content of all files is hashed as one archive".into(),
        Some(directory) if !directory.has_proofs() => "no: a tree of each folder is hashed, not one over all".into(),
        _ => or_why(what),
    };
    let options = family.options.iter().map(|(option, _)| format!("{}={}", option.name(), option.placeholder()));
    let options: Vec<_> = options.collect();
    let default = match choice.directory() {
        Some(directory) if !directory.has_proofs() => DirectorySpec::new(Spec::new(directory.file().family()))
            .map_or_else(|_| choice.to_string(), |spec| spec.to_string()),
        _ => Spec::new(family).to_string(),
    };
    let rows = [
        ("same output", family.same_as.into()),
        ("met in", family.met_in.name().into()),
        ("default", default),
        ("hashes", names(family).join(" ")),
        ("leaf", leaves(family)),
        ("options", if options.is_empty() { "none".into() } else { options.join(" ") }),
        (
            "pipes",
            if choice.directory().is_some() {
                "no: a directory is listed".into()
            } else if family.streams() {
                "yes".into()
            } else {
                "no: the length must be known before".into()
            },
        ),
        ("proofs", of_tree(ByOffset::Proof)),
        ("kept trees", of_tree(ByOffset::Outboard)),
        ("in parts", or_why(ByOffset::Parts)),
        (
            "example",
            match choice.directory() {
                None => format!("mksum -f {spec} FILE"),
                Some(_) => format!("mksum -f {choice} DIR"),
            },
        ),
        (
            "definition",
            match choice.directory() {
                Some(directory) if directory.has_proofs() => "spec/directory.md".into(),
                _ => format!("spec/{}.md", family.page()),
            },
        ),
    ];
    let what = match choice.directory() {
        None => format!("{}: {}", family.name, family.about),
        Some(directory) if !directory.has_proofs() => format!("{choice}: {}", family.about),
        Some(_) => {
            format!("{choice}: a directory as one tree (spec/directory.md); its entries are leaves of {}", family.name)
        }
    };
    rows.iter().fold(what + "\n", |text, (title, value)| text + &format!("  {title:<12} {value}\n"))
}

/// A line for each format that a published sum can be of.
///
/// # Errors
/// If it is of none: as words.
pub fn of_sum(sum: &str) -> Result<String, String> {
    let published = Published::read(sum, None)?;
    let row = |choice: &Choice| (choice.to_string(), choice.spec().family().same_as.to_string());
    let mut rows: Vec<_> = published.usual.iter().chain(&published.unusual).map(row).collect();
    rows.extend(published.only_named().iter().map(row).map(|(name, same_as)| {
        let why = format!("{same_as} (only behind its name, '{name}:SUM')");
        (name, why)
    }));
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    Ok(rows.iter().map(|(name, same_as)| format!("{name:width$}  {same_as}\n")).collect())
}

/// The object of one format.
pub fn one_as_json(choice: &Choice) -> String {
    String::from_utf8(object(record(choice.spec().family()))).expect("JSON is UTF-8")
}

fn row(family: &'static Family) -> [String; 4] {
    let leaf = leaves(family);
    let hashes = if family.hashes == FAMILIES[0].hashes { "any".into() } else { names(family).join(" ") };
    [family.name.into(), leaf, hashes, family.same_as.into()]
}

fn names(family: &Family) -> Vec<&'static str> {
    family.hashes.iter().map(|hash| hash.name()).collect()
}

#[derive(Serialize)]
struct Record {
    kind: &'static str,
    name: &'static str,
    about: &'static str,
    same_as: &'static str,
    met_in: &'static str,
    default: String,
    hashes: Vec<&'static str>,
    leaf: Leaf,
    salt_bytes_max: usize,
    /// Whether a pipe has a root, whose length is not known beforehand.
    streams: bool,
}

#[derive(Serialize)]
struct Leaf {
    default: u64,
    min: u64,
    max: u64,
    power_of_two: bool,
}

/// A JSON object for each format, one per line.
pub fn json() -> String {
    let lines = FAMILIES.iter().flat_map(|family| object(record(family))).collect();
    String::from_utf8(lines).expect("JSON is UTF-8")
}

fn record(family: &'static Family) -> Record {
    let (min, max) = match family.leaf {
        LeafRule::Whole | LeafRule::Found(_) => (MAX_LEN, MAX_LEN),
        LeafRule::Fixed(leaf) => (leaf, leaf),
        LeafRule::Any(_) => (1, Spec::MAX_LEAF),
        LeafRule::PowerOfTwo(low, high, _) => (low, high),
    };
    let power_of_two = matches!(family.leaf, LeafRule::PowerOfTwo(..));
    Record {
        kind: "format",
        name: family.name,
        about: family.about,
        same_as: family.same_as,
        met_in: family.met_in.name(),
        default: Spec::new(family).to_string(),
        hashes: names(family),
        leaf: Leaf { default: family.leaf.default(), min, max, power_of_two },
        salt_bytes_max: family.longest_salt(),
        streams: family.streams(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_is_in_one_group() {
        let grouped: usize = MetIn::ALL.iter().map(|place| place.families().count()).sum();
        assert_eq!(grouped, FAMILIES.len());
        assert!(FAMILIES.iter().all(|family| MetIn::ALL.contains(&family.met_in)));
    }

    #[test]
    fn every_format_has_a_page() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for family in FAMILIES {
            let page = format!("spec/{}.md", family.page());
            assert!(root.join(&page).is_file(), "{page}");
        }
    }
}
