//! Sum files, read: bytes from anywhere, line by line, in bounded memory.

use crate::choice::Choice;
use crate::name;
use crate::range::ByteRange;
use crate::sum::End;
use mksum::formats::{FAMILIES, Family};
use mksum::{ClaimedRoot, RootError, Spec};
use std::fmt;
use std::io::{self, BufRead};

/// The longest line that is read, in bytes without its end: many times the longest path of any system, escaped.
pub const LONGEST: usize = 1 << 16;

/// The UTF-8 byte order mark, which some editors put before the first line.
const MARK: &[u8] = "\u{feff}".as_bytes();

/// An entry of a sum file: a file and its claimed root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The file's name, unescaped.
    pub path: Vec<u8>,
    /// The format.
    pub choice: Choice,
    /// The root.
    pub claimed: ClaimedRoot,
    /// The bytes that the root is of, if it is not of the whole file.
    pub range: Option<ByteRange>,
}

/// The lines of a sum file, without their ends.
#[derive(Debug)]
pub struct Lines<R> {
    reader: R,
    end: End,
    line: Vec<u8>,
    number: u64,
}

impl<R: BufRead> Lines<R> {
    /// The lines that `reader` yields.
    pub fn new(reader: R, end: End) -> Self {
        Lines { reader, end, line: Vec::new(), number: 0 }
    }

    /// The number of the line last read, from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The next entry; a line without a format has the format `given`, if there is one.
    ///
    /// Comments (`# …`) and empty lines are skipped. `None` at the end.
    ///
    /// # Errors
    /// If the reading fails.
    pub fn next_entry(&mut self, given: Option<&Choice>) -> io::Result<Option<Result<Entry, Malformed>>> {
        loop {
            let Some(complete) = self.read_line()? else { return Ok(None) };
            if !complete {
                return Ok(Some(Err(Malformed::TooLong)));
            }
            match parse(&self.line, self.end, given) {
                Ok(None) => {}
                Ok(Some(entry)) => return Ok(Some(Ok(entry))),
                Err(malformed) => return Ok(Some(Err(malformed))),
            }
        }
    }

    /// Reads a line into `self.line`; whether all of it is there, or `None` at the end.
    fn read_line(&mut self) -> io::Result<Option<bool>> {
        self.line.clear();
        let (mut complete, mut any) = (true, false);
        loop {
            let bytes = match self.reader.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                bytes => bytes?,
            };
            if bytes.is_empty() && !any {
                return Ok(None);
            }
            any = true;
            let end = bytes.iter().position(|&byte| byte == self.end.byte());
            let part = &bytes[..end.unwrap_or(bytes.len())];
            // One byte more is kept for a carriage return.
            complete &= self.line.len() + part.len() <= LONGEST + 1 + MARK.len();
            if complete {
                self.line.extend_from_slice(part);
            }
            let (ended, used) = (end.is_some() || bytes.is_empty(), part.len() + usize::from(end.is_some()));
            self.reader.consume(used);
            if ended {
                break;
            }
        }
        self.number += 1;
        if self.number == 1 && self.line.starts_with(MARK) {
            self.line.drain(..MARK.len());
        }
        // A name that ends in a carriage return is escaped: this one belongs to the line's end.
        if self.end == End::Newline && self.line.last() == Some(&b'\r') {
            self.line.pop();
        }
        Ok(Some(complete && self.line.len() <= LONGEST))
    }
}

/// The entry of a line, which is given without its end; `None` for a comment or an empty line.
///
/// # Errors
/// If it has no entry that can be checked.
pub fn parse(line: &[u8], end: End, given: Option<&Choice>) -> Result<Option<Entry>, Malformed> {
    if line.is_empty() || line.starts_with(b"#") {
        return Ok(None);
    }
    let (line, escaped) = match line.strip_prefix(b"\\") {
        Some(line) if end == End::Newline => (line, true),
        _ => (line, false),
    };
    let Parts { choice, range, path, root } = match tagged(line, given) {
        Some(tagged) => tagged?,
        None => untagged(line, given)?,
    };
    let claimed = match str::from_utf8(root) {
        Ok(root) => choice.spec().claimed_root(root).map_err(Malformed::Root)?,
        Err(_) => return Err(Malformed::NoLine),
    };
    let path = if escaped { name::unescaped(path).ok_or(Malformed::Escape)? } else { path.into() };
    if name::path(&path).is_none() {
        return Err(Malformed::Name);
    }
    Ok(Some(Entry { path, choice, claimed, range }))
}

/// A line taken apart: the path is still escaped, and the root may be none.
struct Parts<'a> {
    choice: Choice,
    range: Option<ByteRange>,
    path: &'a [u8],
    root: &'a [u8],
}

/// The parts of `TAG (PATH) = ROOT`, or of OpenSSL's `TAG(PATH)= ROOT`; `None` if it is no such line.
fn tagged<'a>(line: &'a [u8], given: Option<&Choice>) -> Option<Result<Parts<'a>, Malformed>> {
    let open = line.iter().position(|&byte| byte == b'(')?;
    // No root holds a parenthesis: the last one ends the path, whatever the path holds.
    let close = line.iter().rposition(|&byte| byte == b')').filter(|&close| close > open)?;
    let tag = line[..open].strip_suffix(b" ").unwrap_or(&line[..open]);
    let root = line[close + 1..].strip_prefix(b" = ").or_else(|| line[close + 1..].strip_prefix(b"= "))?;
    let tag =
        str::from_utf8(tag).ok().filter(|tag| !tag.is_empty() && tag.bytes().all(|byte| byte.is_ascii_graphic()))?;
    let refuse = || Some(Err(Malformed::Tag(tag.chars().take(80).collect())));
    // No format has an at sign in its name.
    let (format, range) = match tag.split_once('@') {
        None => (tag, None),
        Some((format, range)) => match range.parse::<ByteRange>() {
            Ok(range) if range.end.is_some() => (format, Some(range)),
            _ => return refuse(),
        },
    };
    let choice = match format.parse::<Choice>().ok().or_else(|| plain_sum(format)) {
        // A plain sum is what it is under another name, too.
        Some(named) => given.filter(|given| is_sum(given, &named)).cloned().unwrap_or(named),
        None => return refuse(),
    };
    Some(Ok(Parts { choice, range, path: &line[open + 1..close], root }))
}

/// The plain sum that other tools call so: `SHA512/256`, `SHA2-512/256`, `BLAKE2B-512`.
fn plain_sum(tag: &str) -> Option<Choice> {
    let tag = tool_tag(tag);
    let same = |family: &&'static Family| {
        family.tag.map(tool_tag).is_some_and(|own| {
            let bits = || format!("{own}{}", 8 * family.hashes[0].size());
            own == tag || (own.starts_with("blake2") && bits() == tag)
        })
    };
    FAMILIES.iter().find(same).map(|family| Choice::from(Spec::new(family)))
}

/// Whether a format that was given is `plain` with the hash of a plain sum: one leaf over the whole file, if that is no longer.
fn is_sum(given: &Choice, sum: &Choice) -> bool {
    let (given, sum) = (given.spec(), sum.spec());
    sum.family().tag.is_some() && given.family().name == "plain" && given.hash() == sum.hash()
}

/// A hash's name without the spellings in which tools differ: `SHA512/256`, `SHA2-512/256`, `sha512-256`.
fn tool_tag(tag: &str) -> String {
    let tag = tag.to_ascii_lowercase().replace("sha2-", "sha");
    tag.replace(['-', '_', '/'], "")
}

/// The parts of `ROOT  PATH` or `ROOT *PATH`.
fn untagged<'a>(line: &'a [u8], given: Option<&Choice>) -> Result<Parts<'a>, Malformed> {
    let line = line.trim_ascii_start();
    let split = line.iter().position(|&byte| byte == b' ').ok_or(Malformed::NoLine)?;
    let (root, rest) = line.split_at(split);
    let path = rest.strip_prefix(b"  ").or_else(|| rest.strip_prefix(b" *")).ok_or(Malformed::NoLine)?;
    match given {
        Some(given) => Ok(Parts { choice: given.clone(), range: None, path, root }),
        None if looks_like_a_root(root) => Err(Malformed::NoFormat),
        None => Err(Malformed::NoLine),
    }
}

/// Whether a word could be some tool's root: only then is it worth asking for the format.
fn looks_like_a_root(word: &[u8]) -> bool {
    word.len() >= 24 && word.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+/=-".contains(byte))
}

/// Why a line has no entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// It is of no known form.
    NoLine,
    /// It has no format, and none was given.
    NoFormat,
    /// It names a format that does not exist, or another tool's: its first letters.
    Tag(String),
    /// Its root is none of its format.
    Root(RootError),
    /// Its path has an escape that does not exist.
    Escape,
    /// No file can have its path as a name.
    Name,
    /// It is longer than [`LONGEST`].
    TooLong,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Malformed::NoLine => f.write_str("neither 'FORMAT (PATH) = ROOT' nor 'ROOT  PATH'"),
            Malformed::NoFormat => f.write_str("it does not name its format: give it with -f"),
            Malformed::Tag(tag) => write!(f, "'{}' is not a known format", name::printable(tag)),
            Malformed::Root(error) => f.write_str(&name::printable(&error.to_string())),
            Malformed::Escape => f.write_str("an escape other than \\n, \\r and \\\\ in its path"),
            Malformed::Name => f.write_str("its path cannot be a file's name"),
            Malformed::TooLong => write!(f, "longer than {LONGEST} bytes"),
        }
    }
}

impl std::error::Error for Malformed {}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    fn choice(format: &str) -> Choice {
        format.parse().unwrap()
    }

    fn read(text: &str, given: Option<&Choice>) -> Result<(String, String), Malformed> {
        let entry = parse(text.replace("ROOT", ROOT).as_bytes(), End::Newline, given)?.expect("a line with an entry");
        Ok((entry.choice.spec().to_string(), String::from_utf8(entry.path).unwrap()))
    }

    #[test]
    fn tagged_lines_name_their_format() {
        let ok = |format: &str, path: &str| Ok((format.into(), path.into()));
        assert_eq!(read("blake3 (a b) = ROOT", None), ok("blake3", "a b"));
        assert_eq!(read("BLAKE3 (a) = ROOT", None), ok("blake3", "a"));
        assert_eq!(read("rfc6962:sha256:4KiB (a) = b) = ROOT", None), ok("rfc6962:sha256:4KiB", "a) = b"));
        assert_eq!(read("blake3 (ROOT  x) = ROOT", None), ok("blake3", &format!("{ROOT}  x")));
        assert_eq!(read("\\blake3 (a\\nb\\\\) = ROOT", None), ok("blake3", "a\nb\\"));
        assert_eq!(read("blake3 (a\\nb) = ROOT", None), ok("blake3", "a\\nb"));
        let range =
            |text: &str| parse(text.replace("ROOT", ROOT).as_bytes(), End::Newline, None).unwrap().unwrap().range;
        assert_eq!(range("blake3@5..10 (a) = ROOT"), Some(ByteRange { start: 5, end: Some(10) }));
        assert_eq!(range("blake3 (a) = ROOT"), None);
        assert_eq!(read("blake3@5.. (a) = ROOT", None), Err(Malformed::Tag("blake3@5..".into())));
        // The given format is for lines without one.
        assert_eq!(read("blake3 (a) = ROOT", Some(&choice("dropbox"))), ok("blake3", "a"));
    }

    #[test]
    fn lines_of_other_tools_need_a_format() {
        let plain = choice("plain:sha256:1TiB");
        let ok = |path: &str| Ok(("plain:sha256:1TiB".into(), path.into()));
        assert_eq!(read("ROOT  a", Some(&plain)), ok("a"));
        assert_eq!(read("ROOT *a", Some(&plain)), ok("a"));
        assert_eq!(read("  ROOT   a", Some(&plain)), ok(" a"));
        assert_eq!(read("\\ROOT  a\\r", Some(&plain)), ok("a\r"));
        assert_eq!(read("SHA256 (a) = ROOT", Some(&plain)), ok("a"));
        assert_eq!(read("SHA2-256(a)= ROOT", Some(&plain)), ok("a"));
        assert_eq!(read("BLAKE2b-256 (a) = ROOT", Some(&plain)), Err(Malformed::Tag("BLAKE2b-256".into())));
        assert_eq!(read("ROOT  a", None), Err(Malformed::NoFormat));
    }

    #[test]
    fn plain_sums_have_the_names_of_other_tools() {
        for (tag, format) in [
            ("MD5", "md5"),
            ("SHA256", "sha256"),
            ("SHA2-256", "sha256"),
            ("SHA512/256", "sha512-256"),
            ("SHA2-512/256", "sha512-256"),
            ("SHA3-256", "sha3-256"),
            ("BLAKE2b", "blake2b"),
            ("BLAKE2B-512", "blake2b"),
            ("BLAKE2S-256", "blake2s"),
            ("SM3", "sm3"),
        ] {
            let root = "0".repeat(2 * choice(format).spec().hash().size());
            for line in [format!("{tag} (a) = {root}"), format!("{tag}(a)= {root}")] {
                let entry = parse(line.as_bytes(), End::Newline, None).unwrap().unwrap();
                assert_eq!(entry.choice.spec().to_string(), format, "{line}");
            }
        }
        assert_eq!(read("BLAKE2b-256 (a) = ROOT", None), Err(Malformed::Tag("BLAKE2b-256".into())));
        assert!(read("SHA512 (a) = ROOT", Some(&choice("plain:sha256"))).is_err());
    }

    #[test]
    fn all_else_is_refused_with_its_reason() {
        let plain = choice("plain");
        for text in ["junk", "ROOT", "ROOT a", "blake3 ROOT", "blake3 (a) ROOT", "(a) = ROOT", ")(", "\\"] {
            assert_eq!(read(text, Some(&plain)), Err(Malformed::NoLine), "{text}");
        }
        assert_eq!(read("blake3 () = ROOT", None), Err(Malformed::Name));
        assert_eq!(read("blake3 (a\0) = ROOT", None), Err(Malformed::Name));
        assert_eq!(read("\\blake3 (a\\t) = ROOT", None), Err(Malformed::Escape));
        assert!(matches!(read("blake3 (a) = 00", None), Err(Malformed::Root(_))));
        assert!(matches!(read("00  a", Some(&plain)), Err(Malformed::Root(_))));
    }

    #[test]
    fn files_come_with_marks_carriage_returns_comments_and_lines_of_any_length() {
        let long = "x".repeat(5 * LONGEST);
        let text = format!("\u{feff}# who\r\n\r\nblake3 (a) = {ROOT}\r\n{long}\nblake3 (b) = {ROOT}");
        for capacity in [1, 3, 8192] {
            let mut lines = Lines::new(io::BufReader::with_capacity(capacity, text.as_bytes()), End::Newline);
            let mut found = Vec::new();
            while let Some(entry) = lines.next_entry(None).unwrap() {
                found.push((lines.number(), entry.map(|entry| String::from_utf8(entry.path).unwrap())));
            }
            assert_eq!(found, [(3, Ok("a".into())), (4, Err(Malformed::TooLong)), (5, Ok("b".into()))]);
            assert!(lines.line.capacity() < 4 * LONGEST);
        }
    }

    #[test]
    fn zero_ended_lines_are_taken_as_they_are() {
        let text = format!("blake3 (a\nb\\) = {ROOT}\0blake3 (c\r) = {ROOT}\0");
        let mut lines = Lines::new(text.as_bytes(), End::Zero);
        assert_eq!(lines.next_entry(None).unwrap().unwrap().unwrap().path, b"a\nb\\");
        assert_eq!(lines.next_entry(None).unwrap().unwrap().unwrap().path, b"c\r");
        assert!(lines.next_entry(None).unwrap().is_none());
    }
}
