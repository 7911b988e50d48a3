//! Sum files, read: bytes from anywhere, line by line, in bounded memory.

mod frame;
mod malformed;
pub(crate) mod source;
mod syntax;

pub use frame::Holds;
pub use malformed::{LONGEST, Malformed};
pub use source::{Source, alternatives};
pub use syntax::State;
pub(crate) use syntax::plain_sum;

use crate::choice::Choice;
use crate::name;
use crate::range::ByteRange;
use crate::sum::End;
use frame::Framed;
use mksum::ClaimedRoot;
use std::io::{self, BufRead};
use syntax::{Escape, Parts};

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
    /// Whether the sum could be of other hashes too, and the most usual one was taken.
    pub guessed: bool,
    /// Whether the path follows a single space: its first letter may be a mode of shasum.
    pub one_space: bool,
}

/// The lines of a sum file, without their ends.
#[derive(Debug)]
pub struct Lines<R> {
    reader: R,
    source: Source,
    state: State,
    line: Vec<u8>,
    number: u64,
}

impl<R: BufRead> Lines<R> {
    /// The lines that `reader` yields, of a sum file of which this is known.
    pub fn new(reader: R, source: Source) -> Self {
        Lines { reader, source, state: State::default(), line: Vec::new(), number: 0 }
    }

    /// The facts about the sum file that its lines are read with.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The number of the line last read, from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The program whose signature the lines that were read hold. Nothing here checks it.
    pub fn holds(&self) -> Option<Holds> {
        self.state.frame.holds()
    }

    /// The next entry; comments and empty lines are skipped. `None` at the end.
    ///
    /// # Errors
    /// If the reading fails.
    pub fn next_entry(&mut self) -> io::Result<Option<Result<Entry, Malformed>>> {
        loop {
            let Some(complete) = self.read_line()? else { return Ok(None) };
            if !complete {
                return Ok(Some(Err(Malformed::TooLong)));
            }
            match parse(&self.line, &self.source, &mut self.state) {
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
            let end = bytes.iter().position(|&byte| byte == self.source.end.byte());
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
        if self.source.end == End::Newline && self.line.last() == Some(&b'\r') {
            self.line.pop();
        }
        Ok(Some(complete && self.line.len() <= LONGEST))
    }
}

/// The entry of a line, which is given without its end; `None` for a line that is no entry, such as a comment.
///
/// # Errors
/// If it has no entry that can be checked.
pub fn parse(line: &[u8], source: &Source, state: &mut State) -> Result<Option<Entry>, Malformed> {
    let line = match state.frame.next(line) {
        Framed::Line(line) if state.skips(source, line) => return Ok(None),
        Framed::Line(line) => line,
        Framed::Frame => return Ok(None),
        Framed::Outside => return Err(Malformed::Outside),
    };
    let (Parts { format, path, root, one_space }, escape) = syntax::parts(source, state, line)?;
    let (choice, range, guessed) = match format {
        Some((choice, range)) => (choice, range, false),
        None => match source.choose(root.len()) {
            Some((choice, several)) => (choice, None, several),
            None if looks_like_a_root(root) => return Err(Malformed::NoFormat),
            None => return Err(Malformed::NoLine),
        },
    };
    let root = str::from_utf8(root).map_err(|_| Malformed::NoLine)?;
    let claimed = choice.spec().claimed_root(&syntax::root_text(&choice, root)).map_err(Malformed::Root)?;
    let path = match (escape, &source.bag) {
        (Escape::Backslash, _) => name::unescaped(&path).ok_or(Malformed::Escape)?,
        (Escape::Percent, Some(bag)) => [&*bag.folder, &*syntax::percent_decoded(&path, bag.percent)].concat(),
        _ => path.into_owned(),
    };
    if name::path(&path).is_none() {
        return Err(Malformed::Name);
    }
    Ok(Some(Entry { path, choice, claimed, range, guessed, one_space }))
}

/// Whether a word could be some tool's root: only then is it worth asking for the format.
fn looks_like_a_root(word: &[u8]) -> bool {
    word.len() >= 24 && word.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+/=-".contains(byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    const ROOT: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    fn choice(format: &str) -> Choice {
        format.parse().unwrap()
    }

    fn read(text: &str, given: Option<&Choice>) -> Result<(String, String), Malformed> {
        let entry = entry(&text.replace("ROOT", ROOT), &Source::new(End::Newline, given))?;
        Ok((entry.choice.spec().to_string(), String::from_utf8(entry.path).unwrap()))
    }

    fn entry(line: &str, source: &Source) -> Result<Entry, Malformed> {
        Ok(parse(line.as_bytes(), source, &mut State::default())?.expect("a line with an entry"))
    }

    /// The entries of a sum file with this name: the formats and paths.
    fn entries(name: &str, text: &str) -> Vec<Result<(String, String), Malformed>> {
        let source = Source::new(End::Newline, None).at(Path::new(name));
        let mut lines = Lines::new(text.as_bytes(), source);
        let entries = std::iter::from_fn(|| lines.next_entry().unwrap());
        let shown = |entry: Entry| (entry.choice.spec().to_string(), String::from_utf8(entry.path).unwrap());
        entries.map(|entry| entry.map(shown)).collect()
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
        let range = |text: &str| entry(&text.replace("ROOT", ROOT), &Source::new(End::Newline, None)).unwrap().range;
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
        let base64 = "Xfbg4nYTWdMKgnUFjimfzAOBU0VF9Vz0PkGYP11MlFY=-1";
        assert_eq!(read(&format!("{base64}  a"), None), Err(Malformed::NoFormat));
        assert_eq!(
            read(&format!("{base64}  a"), Some(&choice("s3:sha256"))),
            Ok(("s3:sha256:8MiB".into(), "a".into()))
        );
    }

    #[test]
    fn untagged_sums_are_those_of_the_usual_hash_of_their_length() {
        let sum = |digits| "0".repeat(digits);
        for (digits, format, guessed) in
            [(16, "xxh64", true), (32, "md5", false), (40, "sha1", true), (64, "sha256", true), (128, "sha512", true)]
        {
            for line in [format!("{}  a", sum(digits)), format!("{} *a", sum(digits)), format!("{} a", sum(digits))] {
                let entry = entry(&line, &Source::new(End::Newline, None)).unwrap();
                assert_eq!((entry.choice.spec().to_string(), entry.guessed), (format.into(), guessed), "{line}");
                assert_eq!((entry.path, entry.one_space), (b"a".to_vec(), line.len() == digits + 2));
            }
        }
        assert_eq!(read(&format!("{}  a", sum(66)), None), Err(Malformed::NoFormat));
        assert_eq!(read(&format!("{} a", sum(66)), None), Err(Malformed::NoLine));
    }

    #[test]
    fn paths_of_untagged_sums_can_look_like_tagged_ones() {
        let plain = choice("plain:sha256");
        for path in ["()= ", "(a) = b", "(a)= ROOT", "MD5 (a) = 00"] {
            for given in [None, Some(&plain)] {
                let format = given.map_or("sha256".into(), |given| given.spec().to_string());
                let path = path.replace("ROOT", ROOT);
                for between in ["  ", " *", " "] {
                    assert_eq!(read(&format!("ROOT{between}{path}"), given), Ok((format.clone(), path.clone())));
                }
            }
        }
    }

    #[test]
    fn a_sum_alone_is_that_of_the_file_that_the_sum_file_is_named_after() {
        let ok = |format: &str, path: &str| vec![Ok((format.into(), path.into()))];
        assert_eq!(entries("dir/x.iso.sha256", ROOT), ok("sha256", "dir/x.iso"));
        assert_eq!(entries("x.b3sum", &format!("{ROOT}\r\n")), ok("blake3", "x"));
        assert_eq!(entries("SHA256SUMS", ROOT), [Err(Malformed::NoPath)]);
        assert_eq!(entries("x.txt", ROOT), [Err(Malformed::NoPath)]);
    }

    #[test]
    fn openssl_has_a_name_for_standard_input() {
        assert_eq!(read("SHA2-256(stdin)= ROOT", None), Ok(("sha256".into(), "-".into())));
        assert_eq!(read("(stdin)= ROOT", None), Ok(("sha256".into(), "-".into())));
        assert_eq!(read("SHA256 (stdin) = ROOT", None), Ok(("sha256".into(), "stdin".into())));
        assert_eq!(read("HMAC-SHA2-256(a)= ROOT", None), Err(Malformed::Tag("HMAC-SHA2-256".into())));
    }

    #[test]
    fn cksum_can_write_base64_and_rhash_aligns_tags() {
        let base64 = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
        let source = Source::new(End::Newline, None);
        let (one, other) =
            (entry(&format!("SHA256 (a) = {base64}"), &source), entry(&format!("SHA256   (a) = {ROOT}"), &source));
        assert_eq!(one.unwrap(), other.unwrap());
        assert!(matches!(read(&format!("SHA1 (a) = {base64}"), None), Err(Malformed::Root(_))));
    }

    #[test]
    fn hashdeep_names_its_columns() {
        let md5 = "d41d8cd98f00b204e9800998ecf8427e";
        let text = format!(
            "%%%% HASHDEEP-1.0\n%%%% size,md5,sha256,tiger,filename\n## Invoked from: /\n0,{md5},{ROOT},x,a, b\n0,{md5}\n\
             %%%% size,md5,filename\n0,{md5},\\c\\n\n%%%% size,tiger,filename\n0,x,a\n"
        );
        let ok = |format: &str, path: &str| Ok((format.into(), path.into()));
        let expected = [ok("sha256", "a, b"), Err(Malformed::NoLine), ok("md5", "\\c\\n"), Err(Malformed::Columns)];
        assert_eq!(entries("x", &text), expected);
        // Without the line that names them, they are no columns.
        assert_eq!(entries("x", &format!("0,{md5},a\n")), [Err(Malformed::NoLine)]);
    }

    #[test]
    fn manifests_of_bags_are_relative_to_them() {
        let read = |version: &str, line: &str| {
            let path = Path::new("bag/manifest-sha256.txt");
            let entry =
                entry(&line.replace("ROOT", ROOT), &Source::new(End::Newline, None).at(path).in_bag(path, version))?;
            Ok(String::from_utf8(entry.path).unwrap())
        };
        for line in ["ROOT data/a b", "ROOT  data/a b", "ROOT\t \tdata/a b", "ROOT *data/a b"] {
            assert_eq!(read("1.0", line).as_deref(), Ok("bag/data/a b"));
        }
        assert_eq!(read("1.0", "ROOT  data/%0a%0D%25%41\\n").as_deref(), Ok("bag/data/\n\r%%41\\n"));
        // Older bags have the percent sign as it is.
        assert_eq!(read("0.97", "ROOT  data/%0a%0D%25%41%").as_deref(), Ok("bag/data/\n\r%25%41%"));
        assert_eq!(read("1.0", "ROOT"), Err(Malformed::NoLine));
        assert_eq!(read("1.0", "\\ROOT  data/a"), Err(Malformed::NoLine));
    }

    #[test]
    fn sums_of_rhash_can_follow_the_name() {
        let upper = ROOT.to_uppercase();
        let text =
            format!("; Generated by RHash v1.4.3\na b {upper}\na (x) = y {upper}\nSHA3-256 (a) = {ROOT}\na 7A6C86F1\n");
        let ok = |format: &str, path: &str| Ok((format.into(), path.into()));
        let expected = [ok("sha256", "a b"), ok("sha256", "a (x) = y"), ok("sha3-256", "a"), ok("crc32", "a")];
        assert_eq!(entries("x", &text), expected);
        assert_eq!(entries("x.sfv", "a 7A6C86F1\n"), [ok("crc32", "a")]);
        assert_eq!(entries("x", "a 7A6C86F1\n"), [Err(Malformed::NoLine)]);
        assert_eq!(entries("x", "2648632822 3 a\n2648632822 3\n"), [Err(Malformed::Crc), Err(Malformed::NoLine)]);
    }

    #[test]
    fn sums_of_xxhsum_name_xxh3() {
        let ok = |format: &str| Ok((format.into(), "a b".into()));
        let (sum, long) = ("363b02a42408a1f6", "0a1c6d4cf41eb499911faba7321fe1a0");
        for (line, expected) in [
            (format!("{sum}  a b"), ok("xxh64")),
            (format!("XXH3_{sum}  a b"), ok("xxh3")),
            (format!("XXH3 (a b) = {sum}"), ok("xxh3")),
            (format!("XXH64 (a b) = {sum}"), ok("xxh64")),
            (format!("XXH32 (a b) = {}", &sum[..8]), ok("xxh32")),
            (format!("XXH128 (a b) = {long}"), ok("xxh128")),
            (format!("XXH64_LE (a b) = {sum}"), Err(Malformed::Tag("XXH64_LE".into()))),
            (format!("XXH3_{sum} a"), Err(Malformed::NoLine)),
        ] {
            assert_eq!(entries("x", &line), [expected], "{line}");
        }
        assert!(matches!(entries("x", &format!("XXH3_{long}  a b"))[..], [Err(Malformed::Root(_))]));
    }

    #[test]
    fn signatures_within_lists_are_no_entries() {
        let ok = |path: &str| Ok(("sha256".into(), path.into()));
        let (begin, signature) = ("-----BEGIN PGP SIGNED MESSAGE-----\n", "-----BEGIN PGP SIGNATURE-----");
        let signed =
            format!("{begin}Hash: SHA256\n\n{ROOT}  a\n- -----x\n{signature}\n\niQ==\n-----END PGP SIGNATURE-----\n");
        assert_eq!(entries("x", &signed), [ok("a"), Err(Malformed::NoLine)]);
        let more = format!("{ROOT}  z\n{signed}\n{ROOT}  b\n");
        let expected = [ok("z"), Err(Malformed::Outside), ok("a"), Err(Malformed::NoLine), Err(Malformed::Outside)];
        assert_eq!(entries("x", &more), expected);
        // Without its end, the frame goes on.
        assert_eq!(entries("x", &format!("{begin}\n{ROOT}  a\n{signature}\n{ROOT}  b\n")), [ok("a")]);
        let word = format!("RW{}=", "A".repeat(97));
        assert_eq!(entries("x", &format!("untrusted comment: x\n{word}\n{ROOT}  a\n")), [ok("a")]);
        assert_eq!(entries("x", &format!("{ROOT}  a\n{word}\n")), [ok("a"), Err(Malformed::NoLine)]);
        let holds = |text: &str| {
            let mut lines = Lines::new(text.as_bytes(), Source::new(End::Newline, None));
            while lines.next_entry().unwrap().is_some() {}
            lines.holds()
        };
        assert_eq!(holds(&signed), Some(Holds::Pgp));
        assert_eq!(holds(&format!("untrusted comment: x\n{word}\n")), Some(Holds::Signify));
        assert_eq!(holds(&format!("{ROOT}  a\n")), None);
    }

    #[test]
    fn plain_sums_have_the_names_of_other_tools() {
        for (tag, format) in [
            ("MD5", "md5"),
            ("SHA256", "sha256"),
            ("SHA2-256", "sha256"),
            ("SHA512/256", "sha512-256"),
            ("SHA512t256", "sha512-256"),
            ("SHA2-512/256", "sha512-256"),
            ("SHA3-256", "sha3-256"),
            ("BLAKE2b", "blake2b"),
            ("BLAKE2B-512", "blake2b"),
            ("BLAKE2S-256", "blake2s"),
            ("SM3", "sm3"),
        ] {
            let root = "0".repeat(2 * choice(format).spec().hash().size());
            for line in [format!("{tag} (a) = {root}"), format!("{tag}(a)= {root}")] {
                let entry = entry(&line, &Source::new(End::Newline, None)).unwrap();
                assert_eq!(entry.choice.spec().to_string(), format, "{line}");
            }
        }
        assert_eq!(read("BLAKE2b-256 (a) = ROOT", None), Err(Malformed::Tag("BLAKE2b-256".into())));
        assert!(read("SHA512 (a) = ROOT", Some(&choice("plain:sha256"))).is_err());
    }

    #[test]
    fn all_else_is_refused_with_its_reason() {
        let plain = choice("plain");
        for text in ["junk", "ROOTa", "blake3 ROOT", "blake3 (a) ROOT", "(a) = ROOT", ")(", "\\"] {
            assert_eq!(read(text, Some(&plain)), Err(Malformed::NoLine), "{text}");
        }
        assert_eq!(read("ROOT", Some(&plain)), Err(Malformed::NoPath));
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
            let mut lines =
                Lines::new(io::BufReader::with_capacity(capacity, text.as_bytes()), Source::new(End::Newline, None));
            let mut found = Vec::new();
            while let Some(entry) = lines.next_entry().unwrap() {
                found.push((lines.number(), entry.map(|entry| String::from_utf8(entry.path).unwrap())));
            }
            assert_eq!(found, [(3, Ok("a".into())), (4, Err(Malformed::TooLong)), (5, Ok("b".into()))]);
            assert!(lines.line.capacity() < 4 * LONGEST);
        }
    }

    #[test]
    fn zero_ended_lines_are_taken_as_they_are() {
        let text = format!("blake3 (a\nb\\) = {ROOT}\0blake3 (c\r) = {ROOT}\0");
        let mut lines = Lines::new(text.as_bytes(), Source::new(End::Zero, None));
        assert_eq!(lines.next_entry().unwrap().unwrap().unwrap().path, b"a\nb\\");
        assert_eq!(lines.next_entry().unwrap().unwrap().unwrap().path, b"c\r");
        assert!(lines.next_entry().unwrap().is_none());
    }
}
