//! The rows of plans and ledgers: one JSON object a line.

use crate::json;
use base64ct::{Base64, Encoding};
use mksum::ordered::ordered;
use mksum::outboard::{KeptLayout, OutboardError};
use mksum::{Digest, Hash, Spec, Subtree};
use mksum_cli::name;
use mksum_io::Input;
use mksum_io::reason;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufRead, Read};
use std::iter;
use std::ops::Range;

/// The version of the schema.
pub const SCHEMA: u32 = 1;

/// What is wrong with a plan whose end was cut off.
pub const NO_END: &str = "the plan is incomplete: its last row, of the kind \"end\", is missing";

/// What is wrong with a row of a ledger in a plan.
pub const OF_LEDGER: &str = "a row of a ledger: a plan has rows without digests";

/// What is wrong with the last line of a writer that was killed.
pub const INCOMPLETE: &str = "the line is incomplete: its writer was stopped";

/// The longest line, in bytes: names of files and objects are shorter, and so are the units of a part in base64.
const LONGEST: u64 = 8 << 20;

/// The kept digests of one part at most, in bytes.
const MOST_KEPT: u64 = 4 << 20;

/// A part of an input, planned or hashed. Its texts are those of the line: a copy of each would cost as much as reading them.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Row<'a> {
    /// `range` in a plan, `digest` in a ledger.
    pub kind: Kind,
    pub schema: u32,
    #[serde(borrow)]
    path: Cow<'a, str>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    path_base64: Option<Text<'a>>,
    /// The version of the input: an ETag, an mtime.
    #[serde(borrow)]
    pub version: Cow<'a, str>,
    /// The length of the input, in bytes.
    pub size: u64,
    #[serde(borrow)]
    pub format: Cow<'a, str>,
    /// The first byte of the part.
    pub offset: u64,
    /// The length of the part, in bytes.
    pub length: u64,
    /// The levels of the part above the leaves.
    pub level: u32,
    /// If outboards are wanted: the longest that a kept subtree is, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<u64>,
    /// In a plan: the number of its task, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<u64>,
    /// In a ledger: the digest, in hex.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Text<'a>>,
    /// In a ledger: the digests of the kept subtrees in the part, in base64, where they are more than `digest` says.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub units: Option<Text<'a>>,
}

/// A text of a line: `serde` borrows it within an `Option` only as a type of its own.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq, Hash)]
pub struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl Text<'_> {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn into_owned(self) -> Text<'static> {
        Text(Cow::Owned(self.0.into_owned()))
    }
}

/// The last row of a plan.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct End {
    pub kind: Kind,
    pub schema: u32,
    /// The number of rows before it.
    pub rows: u64,
    pub objects: u64,
    /// The bytes of all inputs.
    pub bytes: u64,
    pub tasks: u64,
}

/// What a row is.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A part to be hashed.
    Range,
    /// A part that was hashed.
    Digest,
    /// The end of a plan.
    End,
}

impl<'a> Row<'a> {
    /// A part of the input at `path`, to be hashed.
    pub fn new(path: &'a Input, (version, size): (&'a str, u64), spec: &Spec, node: Subtree, task: u64) -> Row<'a> {
        let path = path.as_os_str();
        let base64 = || Text(Base64::encode_string(path.as_encoded_bytes()).into());
        let path_base64 = path.to_str().is_none().then(base64);
        Row {
            kind: Kind::Range,
            schema: SCHEMA,
            // With its secrets, if it is a URL that has some: the maps must open it.
            path: path.to_string_lossy(),
            path_base64,
            version: version.into(),
            size,
            format: spec.to_string().into(),
            offset: node.start,
            length: node.len,
            level: node.level,
            unit: None,
            task: Some(task),
            digest: None,
            units: None,
        }
    }

    /// The row of another part of the same input.
    pub fn with_part(&self, node: Subtree) -> Row<'a> {
        Row { offset: node.start, length: node.len, level: node.level, ..self.clone() }
    }

    /// The same, hashed: with the digests of its units, if it [has](Row::has_units) any.
    pub fn hashed(&self, digest: &Digest, units: &[u8]) -> Row<'a> {
        let units = (!units.is_empty()).then(|| Text(Base64::encode_string(units).into()));
        Row { kind: Kind::Digest, task: None, digest: Some(Text(digest.to_string().into())), units, ..self.clone() }
    }

    /// The same, without its line.
    pub fn into_owned(self) -> Row<'static> {
        Row {
            path: Cow::Owned(self.path.into_owned()),
            path_base64: self.path_base64.map(Text::into_owned),
            version: Cow::Owned(self.version.into_owned()),
            format: Cow::Owned(self.format.into_owned()),
            digest: self.digest.map(Text::into_owned),
            units: self.units.map(Text::into_owned),
            ..self
        }
    }

    /// Its input.
    pub fn input(&self) -> Option<Input> {
        match &self.path_base64 {
            None => Some(Input::place(&*self.path)),
            Some(text) => name::path(&Base64::decode_vec(text.as_str()).ok()?).map(Input::place),
        }
    }

    /// The part of the tree.
    pub fn node(&self) -> Subtree {
        Subtree { start: self.offset, len: self.length, level: self.level }
    }

    /// Whether both are of the same input.
    pub fn is_beside(&self, other: &Row<'_>) -> bool {
        (&self.path, &self.path_base64) == (&other.path, &other.path_base64)
    }

    /// Whether it is all of its input: then its digest is the root's.
    pub fn is_whole(&self) -> bool {
        self.offset == 0 && self.length == self.size
    }

    /// The nodes of its input that an outboard keeps; `None` if no outboard is wanted.
    ///
    /// # Errors
    /// If the tree has no such part or units, or the part too many: as words.
    pub fn layout(&self, spec: &Spec) -> Result<Option<KeptLayout>, String> {
        let Some(unit) = self.unit else { return Ok(None) };
        if self.size > 0 {
            // Only of nodes of the tree it is known what is below them, and the row may have come from anywhere.
            self.check_part(spec)?;
        }
        let layout =
            KeptLayout::new(spec.shape(), self.size, unit).ok_or_else(|| OutboardError::Unit(unit).to_string())?;
        let kept = self.kept_node(spec).map_or(0, |node| layout.under(node));
        if self.has_units(spec) && kept.saturating_mul(spec.hash().size() as u64) > MOST_KEPT {
            let what = format!("{} would have {kept} kept digests of units of {unit} bytes", self.range());
            return Err(format!("{what}: choose a shorter --range or a longer --keep-leaf"));
        }
        Ok(Some(layout))
    }

    /// Whether its units say more than its digest: if it is longer than one, or is an input whose root is not the digest of a unit.
    pub fn has_units(&self, spec: &Spec) -> bool {
        let Some(unit) = self.unit else { return false };
        let is_more = || {
            let several = KeptLayout::new(spec.shape(), self.size, unit).is_some_and(|layout| layout.count() > 1);
            let top = Digest::new(&[0; Hash::MAX_SIZE][..spec.hash().size()]);
            several || spec.seal(top, self.size).digest() != top
        };
        self.length > unit || (self.is_whole() && self.length > 0 && is_more())
    }

    /// The node that it is of the tree of its input; `None` of an empty input.
    pub fn kept_node(&self, spec: &Spec) -> Option<Subtree> {
        match self.is_whole() {
            true => (self.size > 0).then(|| spec.shape().root(self.size)),
            false => Some(self.node()),
        }
    }

    /// The digests of its units, one after the other.
    ///
    /// # Errors
    /// If they are not base64: as words.
    pub fn units(&self) -> Result<Vec<u8>, String> {
        let text = self.units.as_ref().map_or("", Text::as_str);
        Base64::decode_vec(text).map_err(|_| "its units are not base64".into())
    }

    /// Whether its numbers make sense.
    pub fn is_sound(&self) -> bool {
        let end = self.offset.checked_add(self.length);
        end.is_some_and(|end| end <= self.size) && self.size <= mksum::MAX_LEN && self.level <= 64
    }

    /// Refuses a part that the tree of its input does not have, with the reason.
    pub fn check_part(&self, spec: &Spec) -> Result<(), String> {
        match spec.has_part(self.size, self.node()) {
            true => Ok(()),
            false => Err(self.no_part(spec)),
        }
    }

    /// That its tree does not have this part, in words.
    pub fn no_part(&self, spec: &Spec) -> String {
        format!("{} are not a subtree of {} bytes in {spec}", self.range(), self.size)
    }

    /// The line, with its end.
    pub fn line(&self) -> Vec<u8> {
        let mut line = serde_json::to_vec(self).expect("strings and numbers");
        line.push(b'\n');
        line
    }

    /// The bytes of it, for messages.
    pub fn range(&self) -> String {
        format!("bytes {}..{}", self.offset, self.offset.saturating_add(self.length))
    }
}

/// What a line is.
pub enum Line<'a> {
    Row(Row<'a>),
    End(End),
    /// It cannot be read: the reason.
    Wrong(String),
}

/// The lines of a plan or ledger.
///
/// A writer that was killed leaves the beginning of a line, and the next one writes after it: so where a line cannot be read, the last
/// row that begins in it is read.
pub struct Lines<R> {
    reader: R,
    /// The number of lines that were read.
    pub number: u64,
    text: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    pub fn new(reader: R) -> Self {
        Lines { reader, number: 0, text: Vec::new() }
    }

    /// The next line that is not empty, as soon as it is there; `None` at the end.
    pub fn read(&mut self) -> Result<Option<Line<'_>>, String> {
        loop {
            self.text.clear();
            let read = self.reader.by_ref().take(LONGEST).read_until(b'\n', &mut self.text);
            if read.map_err(|error: io::Error| reason(&error))? == 0 {
                return Ok(None);
            }
            self.number += 1;
            let (text, ended) = ending(&self.text);
            if !ended && self.text.len() as u64 == LONGEST {
                return Err(too_long(self.number));
            }
            if !text.trim_ascii().is_empty() {
                break;
            }
        }
        let (text, ended) = ending(&self.text);
        Ok(Some(parse(text, ended).0))
    }

    /// The next lines, whole; `None` after the last.
    fn batch(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut bytes = Vec::with_capacity(BATCH as usize);
        self.reader.by_ref().take(BATCH).read_to_end(&mut bytes)?;
        if !bytes.ends_with(b"\n") {
            self.reader.by_ref().take(LONGEST).read_until(b'\n', &mut bytes)?;
        }
        Ok((!bytes.is_empty()).then_some(bytes))
    }
}

/// A line without its end, and whether it had one.
fn ending(line: &[u8]) -> (&[u8], bool) {
    line.strip_suffix(b"\n").map_or((line, false), |text| (text, true))
}

fn too_long(number: u64) -> String {
    format!("{number}: the line is longer than {LONGEST} bytes")
}

/// The bytes that a thread parses at a time, about.
const BATCH: u64 = 1 << 18;

/// What was made of lines that lie one after another.
struct Parsed<T> {
    bytes: Vec<u8>,
    items: Vec<Item<T>>,
    /// The number of all lines.
    lines: u64,
    /// The number of the first line that is too long: those after it were not parsed.
    too_long: Option<u64>,
}

/// What was made of a line.
struct Item<T> {
    /// Its number in the batch, from 1.
    number: u64,
    /// Where its row is.
    text: Range<usize>,
    made: T,
}

impl<T> Parsed<T> {
    fn new(bytes: Vec<u8>, mut of: impl FnMut(Line<'_>) -> T) -> Self {
        let (mut items, mut lines, mut start) = (Vec::new(), 0, 0);
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            lines += 1;
            let (text, ended) = ending(line);
            if text.len() as u64 >= LONGEST {
                return Parsed { bytes, items, lines, too_long: Some(lines) };
            }
            if !text.trim_ascii().is_empty() {
                let (line, from) = parse(text, ended);
                items.push(Item { number: lines, text: start + from..start + text.len(), made: of(line) });
            }
            start += line.len();
        }
        Parsed { bytes, items, lines, too_long: None }
    }
}

impl<R: BufRead + Send> Lines<R> {
    /// Hands over the number of each line, its row as text, and what `of` makes of it, in order: lines are parsed on so many threads,
    /// each with a memory of its own.
    ///
    /// # Errors
    /// If the lines cannot be read, or `take` refuses one.
    pub fn each<M: Default, T: Send>(
        mut self,
        threads: usize,
        of: impl Fn(&mut M, Line<'_>) -> T + Sync,
        mut take: impl FnMut(u64, &[u8], T) -> Result<(), String>,
    ) -> Result<(), String> {
        let mut failed = false;
        let batches = iter::from_fn(|| {
            let batch = if failed { Ok(None) } else { self.batch() };
            failed = batch.is_err();
            batch.transpose()
        });
        let parsed = |memory: &mut M, batch: io::Result<Vec<u8>>| -> io::Result<Parsed<T>> {
            Ok(Parsed::new(batch?, |line| of(memory, line)))
        };
        ordered(threads, 2 * threads, batches, M::default, parsed, |results| {
            let mut before = 0;
            for result in results {
                let Parsed { bytes, items, lines, too_long: long } = result.map_err(|error| reason(&error))?;
                for item in items {
                    take(before + item.number, &bytes[item.text], item.made)?;
                }
                if let Some(number) = long {
                    return Err(too_long(before + number));
                }
                before += lines;
            }
            Ok(())
        })
    }
}

/// The beginning of each row.
const START: &[u8] = b"{\"kind\":";

/// The row that was read from a line.
pub fn row(text: &[u8]) -> Option<Row<'_>> {
    match parse(text, true).0 {
        Line::Row(row) => Some(row),
        _ => None,
    }
}

/// What a line is, and where in it that begins: of one that cannot be read, the last row that begins in it.
fn parse(text: &[u8], ended: bool) -> (Line<'_>, usize) {
    let first = line(text, ended);
    if let Line::Wrong(_) = first
        && let Some(at) = text.windows(START.len()).rposition(|bytes| bytes == START).filter(|&at| at > 0)
        && let later @ (Line::Row(_) | Line::End(_)) = line(&text[at..], ended)
    {
        return (later, at);
    }
    (first, 0)
}

fn line(text: &[u8], ended: bool) -> Line<'_> {
    #[derive(Deserialize)]
    struct Any {
        kind: Kind,
        schema: u32,
    }
    let wrong = |error: serde_json::Error| {
        Line::Wrong(match ended {
            true => json::refusal(text, "a row of a plan or ledger", &error),
            false => INCOMPLETE.into(),
        })
    };
    // Nearly all are rows, read at once.
    if let Ok(row) = serde_json::from_slice::<Row<'_>>(text)
        && row.schema == SCHEMA
        && row.kind != Kind::End
        && row.is_sound()
    {
        return Line::Row(row);
    }
    let any: Any = match serde_json::from_slice(text) {
        Ok(any) => any,
        Err(error) => return wrong(error),
    };
    if any.schema != SCHEMA {
        return Line::Wrong(format!("a row of schema {}: this program knows schema {SCHEMA}", any.schema));
    }
    match any.kind {
        Kind::End => serde_json::from_slice(text).map_or_else(wrong, Line::End),
        _ => match serde_json::from_slice::<Row<'_>>(text) {
            Ok(row) if !row.is_sound() => {
                Line::Wrong(format!("{} of {} bytes: not within the input", row.range(), row.size))
            }
            Ok(row) => Line::Row(row),
            Err(error) => wrong(error),
        },
    }
}

/// Numbers for texts, which are equal if the texts are.
#[derive(Clone, Debug, Default)]
pub struct Keys(RandomState, RandomState);

/// The numbers of an input as a row has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InputKeys {
    pub path: u128,
    /// That of the version and the size.
    pub version: u64,
    pub format: u64,
}

/// The numbers of a row: those of its input, and that of its part, whatever its version is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowKeys {
    pub input: InputKeys,
    pub part: u128,
}

/// The row before, and the numbers of its input: mostly those of the next row too.
#[derive(Debug, Default)]
pub struct Before {
    path: String,
    path_base64: Option<Text<'static>>,
    version: String,
    size: u64,
    format: String,
    keys: Option<InputKeys>,
}

impl Before {
    /// The numbers of the row's input, if they are known.
    fn keys(&self, row: &Row<'_>) -> Option<InputKeys> {
        let same = self.path == row.path
            && self.version == row.version
            && self.size == row.size
            && self.format == row.format
            && self.path_base64 == row.path_base64;
        self.keys.filter(|_| same)
    }

    fn replace(&mut self, row: &Row<'_>, keys: InputKeys) {
        let texts = [(&mut self.path, &row.path), (&mut self.version, &row.version), (&mut self.format, &row.format)];
        for (text, new) in texts {
            text.clear();
            text.push_str(new);
        }
        self.path_base64 = row.path_base64.clone().map(Text::into_owned);
        (self.size, self.keys) = (row.size, Some(keys));
    }
}

impl Keys {
    /// The number of a value: 128 bits, so that two of 2^40 values are equal with a chance of 2^-49.
    pub fn of(&self, value: &impl std::hash::Hash) -> u128 {
        u128::from(self.0.hash_one(value)) << 64 | u128::from(self.1.hash_one(value))
    }

    /// The numbers of a row, after the one in `before`, whose place it takes.
    pub fn row(&self, before: &mut Before, row: &Row<'_>) -> RowKeys {
        let input = before.keys(row).unwrap_or_else(|| {
            let keys = InputKeys {
                path: self.of(&(&row.path, &row.path_base64)),
                version: self.0.hash_one((&row.version, row.size)),
                format: self.0.hash_one(&row.format),
            };
            before.replace(row, keys);
            keys
        });
        RowKeys { input, part: self.of(&(input.path, input.format, row.offset, row.length, row.level)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> Row<'static> {
        let spec: Spec = "blake3".parse().unwrap();
        Row::new(&Input::place("a\nb"), ("v", 10), &spec, Subtree { start: 2, len: 8, level: 3 }, 7).into_owned()
    }

    #[test]
    fn rows_are_read_as_they_are_written() {
        let line = row().line();
        assert!(line.starts_with(START) && line.ends_with(b"\n"));
        let mut lines = Lines::new(&line[..]);
        let Ok(Some(Line::Row(read))) = lines.read() else { panic!("a row") };
        assert_eq!(read, row());
        assert_eq!(lines.number, 1);
        assert!(lines.read().unwrap().is_none());
    }

    #[test]
    fn a_line_whose_writer_was_killed_is_not_a_row_at_any_length() {
        let line = row().hashed(&Digest::new(&[7; 32]), &[1, 2, 3]).line();
        for cut in 1..line.len() - 1 {
            let mut lines = Lines::new(&line[..cut]);
            assert!(matches!(lines.read(), Ok(Some(Line::Wrong(_)))), "{cut}");
            // The next writer's first line follows it.
            let both = [&line[..cut], &line[..]].concat();
            let mut lines = Lines::new(&both[..]);
            let Ok(Some(Line::Row(read))) = lines.read() else { panic!("{cut}") };
            assert_eq!(read.line(), line);
        }
    }

    #[test]
    fn lines_are_handed_over_in_order_with_their_numbers() {
        let line = row().line();
        let blank = [&line[..], b"\n", &line[..], b" \n{\n", &line[..line.len() - 1]].concat();
        let long = [&line[..], &vec![b'x'; LONGEST as usize], b"\n", &line[..]].concat();
        let many = line.repeat(3 * BATCH as usize / line.len());
        for threads in [1, 3] {
            let each = |text: &[u8]| {
                let mut found = Vec::new();
                let of = |(): &mut (), line: Line<'_>| matches!(line, Line::Row(_));
                let end = Lines::new(text).each(threads, of, |number, text, is_row| {
                    found.push((number, is_row));
                    assert!(!is_row || text == &line[..line.len() - 1]);
                    Ok(())
                });
                (found, end)
            };
            assert_eq!(each(&blank), (vec![(1, true), (3, true), (5, false), (6, true)], Ok(())));
            assert_eq!(each(&long), (vec![(1, true)], Err(too_long(2))));
            let (found, end) = each(&many);
            assert!(end.is_ok() && found.iter().zip(1..).all(|(found, number)| *found == (number, true)));
            assert_eq!(found.len() * line.len(), many.len());
        }
    }

    #[test]
    fn rows_of_other_schemas_and_impossible_ones_are_refused() {
        for (from, to) in
            [("\"schema\":1", "\"schema\":2"), ("\"length\":8", "\"length\":9"), ("\"level\":3", "\"level\":65")]
        {
            let line = String::from_utf8(row().line()).unwrap().replace(from, to);
            assert!(matches!(Lines::new(line.as_bytes()).read(), Ok(Some(Line::Wrong(_)))), "{to}");
        }
    }
}
