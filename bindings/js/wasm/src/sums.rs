//! Lists of sums and the lines of their output, for the package's command and the site: the parser of the tool.

use crate::abi::buffer;
use crate::published::fields;
use crate::refusal::{Class, Refusal};
use crate::root_abi::answer;
use crate::spec::text_of;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cell::RefCell;
use core::mem;
use mksum::{Algorithm, parse_size};
use mksum_js_host::{OneThread, Pool, exports};
use mksum_sums::choice::Choice;
use mksum_sums::name::{self, Shown};
use mksum_sums::sum::{End, Style, line};
use mksum_sums::sumfile::{Entry, Holds, Lines, Malformed, Source, alternatives};
use mksum_sums::utf16::Text;
use std::io::{BufReader, Cursor};

/// A list that is read, its last entry, and the facts of the last choice, which most lists have alone.
struct List {
    lines: Lines<BufReader<Text<Cursor<Vec<u8>>>>>,
    entry: Option<Entry>,
    facts: Option<(Choice, bool, String)>,
}

/// The length of an answer about entries in bytes, after which no other is added: a call costs as much as reading some lines.
const ENOUGH: usize = 1 << 16;

static LISTS: OneThread<RefCell<Pool<List>>> = OneThread(RefCell::new(Pool::new()));

fn lists<T>(act: impl FnOnce(&mut Pool<List>) -> T) -> T {
    act(&mut LISTS.0.borrow_mut())
}

/// Returns the choice of a format, perhaps with another hash, another leaf and another salt. Empty parts are those of the format.
fn choice([format, hash, leaf, salt]: [&[u8]; 4]) -> Result<Choice, Refusal> {
    let refuse = |why: String| Refusal::new(Class::Argument, why);
    let mut choice = match text_of(format)? {
        "" => Choice::default(),
        format => format.parse()?,
    };
    if !hash.is_empty() {
        let name = text_of(hash)?;
        let hash =
            Algorithm::from_name(name).ok_or_else(|| refuse(format!("unknown hash '{}'", name::printable(name))))?;
        choice = choice.with_hash(hash)?;
    }
    if !leaf.is_empty() {
        let leaf = parse_size(text_of(leaf)?).map_err(|error| refuse(error.to_string()))?;
        choice = choice.with_leaf(leaf)?;
    }
    if !salt.is_empty() {
        let text = format!("{}:salt={}", choice.spec(), text_of(salt)?);
        choice = text.parse()?;
    }
    Ok(choice)
}

/// Returns the facts of a choice, one a line: its text, its format's text, the tag of its lines, whether it is of directories.
fn facts(choice: &Choice) -> String {
    let spec = choice.spec();
    format!("{choice}\n{spec}\n{}\n{}", spec.tag(), choice.directory().is_some())
}

/// Returns a list in memory. `given` is the format of lines without one, `bag` the version of the bag that it is a manifest of.
fn opened(bytes: Vec<u8>, given: [&[u8]; 4], path: &[u8], bag: &[u8]) -> Result<List, Refusal> {
    let given = if given.iter().all(|part| part.is_empty()) { None } else { Some(choice(given)?) };
    let mut source = Source::new(End::Newline, given.as_ref());
    if !path.is_empty() {
        let path = name::lossy_path(path);
        source = source.at(&path);
        if !bag.is_empty() {
            source = source.in_bag(&path, text_of(bag)?);
        }
    }
    let lines = Lines::new(BufReader::new(Text::new(Cursor::new(bytes))), source);
    Ok(List { lines, entry: None, facts: None })
}

impl List {
    /// Returns the next entries: the length of a text in four bytes, the text, and the paths of entries one after the other. The text has a
    /// line for each, its fields with tabs between them:
    ///
    /// - `entry`, the facts of its choice, the other formats that it may be of, the digits of its sum, the claimed root, the start and
    ///   end of its range or two empty fields, whether one space stands before its path, whether its part size has to be found, the
    ///   line's number, and the length of its path. An entry whose part size has to be found is the last one;
    /// - `malformed`, the number of the line, what is wrong as a word, and as a sentence;
    /// - `failed`, and why the list cannot be read;
    /// - `end`, and the program whose signature the list holds.
    fn next(&mut self) -> Vec<u8> {
        let (mut text, mut paths) = (String::new(), Vec::new());
        while self.add(&mut text, &mut paths) && text.len() + paths.len() < ENOUGH {}
        [&(text.len() as u32).to_le_bytes(), text.as_bytes(), &paths].concat()
    }

    /// Appends the next entry. Returns whether another one may follow.
    fn add(&mut self, text: &mut String, paths: &mut Vec<u8>) -> bool {
        let next = self.lines.next_entry();
        let number = self.lines.number();
        let (line, goes_on) = match next {
            Ok(Some(Ok(entry))) => {
                let guesses = entry.choice.guesses(&entry.claimed);
                let claimed = entry.claimed.text(entry.choice.spec());
                let [start, end] = entry.range.map_or_else(Default::default, |range| {
                    [range.start.to_string(), range.end.map(|end| end.to_string()).unwrap_or_default()]
                });
                let (one_space, len) = (entry.one_space, entry.path.len());
                let facts = self.facts(&entry.choice, entry.guessed);
                let line =
                    format!("entry\t{facts}\t{claimed}\t{start}\t{end}\t{one_space}\t{guesses}\t{number}\t{len}\n");
                paths.extend_from_slice(&entry.path);
                self.entry = Some(entry);
                (line, !guesses)
            }
            Ok(Some(Err(malformed))) => {
                let kind = match malformed {
                    Malformed::NoFormat => "format",
                    Malformed::NoPath => "path",
                    Malformed::Crc => "crc",
                    _ => "",
                };
                (format!("malformed\t{number}\t{kind}\t{malformed}\n"), true)
            }
            Ok(None) => {
                let holds = match self.lines.holds() {
                    Some(Holds::Pgp) => "pgp",
                    Some(Holds::Signify) => "signify",
                    None => "",
                };
                (format!("end\t{holds}\n"), false)
            }
            Err(error) => (format!("failed\t{error}\n"), false),
        };
        *text += &line;
        goes_on
    }

    /// Returns the facts of an entry's choice, the other formats that it may be of, and the digits of its sum.
    fn facts(&mut self, choice: &Choice, guessed: bool) -> &str {
        if self.facts.as_ref().is_none_or(|(last, was_guessed, _)| (last, *was_guessed) != (choice, guessed)) {
            let spec = choice.spec();
            let others = if guessed { alternatives(spec).join(", ") } else { String::new() };
            let text = format!("{}\t{others}\t{}", facts(choice).replace('\n', "\t"), 2 * spec.hash().size());
            self.facts = Some((choice.clone(), guessed, text));
        }
        self.facts.as_ref().map_or("", |(_, _, text)| text)
    }

    /// Returns the formats in which a file of `len` bytes may have the last entry's root, one a line: the format, a tab, the root.
    fn candidates(&self, len: u64) -> Result<String, Refusal> {
        let entry = self.entry.as_ref().ok_or_else(|| Refusal::new(Class::Argument, "there is no entry yet"))?;
        let specs = entry.choice.candidates(len, &entry.claimed);
        let lines: Vec<_> = specs.iter().map(|spec| format!("{spec}\t{}", entry.claimed.text(spec))).collect();
        Ok(lines.join("\n"))
    }
}

exports! {
    /// Answers the file that a list with the path in the input's first `len` bytes is about if its lines name none; nothing if its name
    /// says none.
    fn lone_file(len: u32) -> u32 {
        answer(|_| Ok(Source::new(End::Newline, None).at(&name::lossy_path(buffer(len).0)).lone().unwrap_or_default().to_vec()))
    }

    /// Answers the facts of a format with options of the command line, the fields of the input's first `len` bytes: see `choice`.
    fn choice_facts(len: u32) -> u32 {
        answer(|_| Ok(facts(&choice(fields(len)?)?)))
    }

    /// Opens the list in a block, which it empties. The input's first `len` bytes are the fields: the version of the bag whose manifest it
    /// is, the format of lines that name none as `choice` takes it, and the list's path. Answers its number, in four bytes.
    fn list(block: u32, len: u32) -> u32 {
        answer(|global| {
            let [bag, format, hash, leaf, salt, path] = fields(len)?;
            let list = opened(mem::take(global.blocks.get(block)), [format, hash, leaf, salt], path, bag)?;
            Ok(lists(|lists| lists.keep(list)).to_le_bytes())
        })
    }

    /// Answers the next entries of a list: see `List::next`.
    fn list_next(number: u32) -> u32 {
        answer(|_| Ok(lists(|lists| lists.get(number).next())))
    }

    /// Answers the formats in which a file of `len` bytes may have the root of a list's last entry: see `List::candidates`.
    fn list_candidates(number: u32, len: f64) -> u32 {
        answer(|_| lists(|lists| lists.get(number).candidates(len as u64)))
    }

    /// Frees a list.
    fn list_end(number: u32) {
        lists(|lists| drop(lists.take(number)));
    }

    /// Answers the line of a root, tagged or not. The input's first `len` bytes are its fields: the tag, the root, and the path.
    fn sum_line(len: u32, tagged: u32) -> u32 {
        answer(|_| {
            let [tag, root, path] = fields(len)?;
            let style = if tagged == 0 { Style::Untagged } else { Style::Tagged };
            Ok(line(style, End::Newline, text_of(tag)?, path, text_of(root)?))
        })
    }

    /// Answers the name in the input's first `len` bytes, escaped as a line of a list has it: with a backslash before it if it differs.
    fn name_escaped(len: u32) -> u32 {
        answer(|_| {
            let path = buffer(len).0;
            Ok(name::escaped(path).map_or_else(|| path.to_vec(), |escaped| [b"\\", &*escaped].concat()))
        })
    }

    /// Answers the name in the input's first `len` bytes as messages show it; what is no UTF-8 is U+FFFD.
    fn name_shown(len: u32) -> u32 {
        answer(|_| Ok(Shown(&name::lossy_path(buffer(len).0)).to_string()))
    }

    /// Answers whether the input's first `len` bytes are the path of a bag's manifest, by its name: `1` or nothing.
    fn is_manifest(len: u32) -> u32 {
        answer(|_| Ok(if Source::is_manifest(&name::lossy_path(buffer(len).0)) { "1" } else { "" }))
    }
}
