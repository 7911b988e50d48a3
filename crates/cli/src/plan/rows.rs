//! The rows of plans and ledgers: one JSON object a line.

use base64ct::{Base64, Encoding};
use mksum::ordered::ordered;
use mksum::{Digest, Spec, Subtree};
use mksum_cli::name;
use mksum_io::reason;
use serde::{Deserialize, Serialize};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufRead, Read};
use std::iter;
use std::path::{Path, PathBuf};

/// The version of the schema.
pub const SCHEMA: u32 = 1;

/// The longest line, in bytes: names of files and objects are shorter.
const LONGEST: u64 = 1 << 16;

/// A part of an input, planned or hashed.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Row {
    /// `range` in a plan, `digest` in a ledger.
    pub kind: Kind,
    pub schema: u32,
    path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path_base64: Option<String>,
    /// The version of the input: an ETag, an mtime.
    pub version: String,
    /// The length of the input, in bytes.
    pub size: u64,
    pub format: String,
    /// The first byte of the part.
    pub offset: u64,
    /// The length of the part, in bytes.
    pub length: u64,
    /// The levels of the part above the leaves.
    pub level: u32,
    /// In a plan: the number of its task, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<u64>,
    /// In a ledger: the digest, in hex.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
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

impl Row {
    /// A part of the input at `path`, to be hashed.
    pub fn new(path: &Path, (version, size): (&str, u64), spec: &Spec, node: Subtree, task: u64) -> Row {
        let path_base64 = path.to_str().is_none().then(|| Base64::encode_string(name::bytes(path)));
        Row {
            kind: Kind::Range,
            schema: SCHEMA,
            path: name::lossy(path).into_owned(),
            path_base64,
            version: version.into(),
            size,
            format: spec.to_string(),
            offset: node.start,
            length: node.len,
            level: node.level,
            task: Some(task),
            digest: None,
        }
    }

    /// The same, hashed.
    pub fn hashed(&self, digest: &Digest) -> Row {
        Row { kind: Kind::Digest, task: None, digest: Some(digest.to_string()), ..self.clone() }
    }

    /// Where its input is.
    pub fn path(&self) -> Option<PathBuf> {
        match &self.path_base64 {
            None => Some(PathBuf::from(&self.path)),
            Some(text) => name::path(&Base64::decode_vec(text).ok()?),
        }
    }

    /// The part of the tree.
    pub fn node(&self) -> Subtree {
        Subtree { start: self.offset, len: self.length, level: self.level }
    }

    /// Whether both are of the same input.
    pub fn is_beside(&self, other: &Row) -> bool {
        (&self.path, &self.path_base64) == (&other.path, &other.path_base64)
    }

    /// Whether it is all of its input: then its digest is the root's.
    pub fn is_whole(&self) -> bool {
        self.offset == 0 && self.length == self.size
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
            false => Err(format!("{} are not a subtree of {} bytes in {spec}", self.range(), self.size)),
        }
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
pub enum Line {
    Row(Box<Row>),
    End(End),
    /// It cannot be read: the reason.
    Wrong(String),
}

/// The lines of a plan or ledger.
pub struct Lines<R> {
    reader: R,
    pub number: u64,
    /// The line as it is, without its end.
    pub text: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    pub fn new(reader: R) -> Self {
        Lines { reader, number: 0, text: Vec::new() }
    }

    /// The next line that is not empty; `None` at the end.
    ///
    /// A writer that was killed leaves the beginning of a line, and the next one writes after it: so where a line cannot be read, the
    /// last row that begins in it is read.
    pub fn read(&mut self) -> Result<Option<Line>, String> {
        let Some(ended) = self.advance()? else { return Ok(None) };
        let (line, from) = parse(&self.text, ended);
        self.text.drain(..from);
        Ok(Some(line))
    }

    /// Reads the next line that is not empty; whether it had an end, `None` after the last.
    fn advance(&mut self) -> Result<Option<bool>, String> {
        loop {
            self.text.clear();
            let len = self.reader.by_ref().take(LONGEST).read_until(b'\n', &mut self.text);
            let len = len.map_err(|error: io::Error| reason(&error))?;
            if len == 0 {
                return Ok(None);
            }
            self.number += 1;
            if self.text.last() != Some(&b'\n') && len as u64 == LONGEST {
                return Err(format!("{}: the line is longer than {LONGEST} bytes", self.number));
            }
            let ended = self.text.pop_if(|byte| *byte == b'\n').is_some();
            if !self.text.trim_ascii().is_empty() {
                return Ok(Some(ended));
            }
        }
    }
}

/// Lines that are parsed together.
struct Batch {
    bytes: Vec<u8>,
    /// The number of each line, where it ends in `bytes`, and whether it had an end.
    lines: Vec<(u64, usize, bool)>,
}

impl Batch {
    /// The bytes of a batch, about.
    const BYTES: usize = 1 << 18;

    /// The next lines; none after the last.
    fn read<R: BufRead>(from: &mut Lines<R>) -> Result<Option<Batch>, String> {
        let mut batch = Batch { bytes: Vec::with_capacity(Self::BYTES), lines: Vec::new() };
        while batch.bytes.len() < Self::BYTES {
            let Some(ended) = from.advance()? else { break };
            batch.bytes.extend_from_slice(&from.text);
            batch.lines.push((from.number, batch.bytes.len(), ended));
        }
        Ok((!batch.lines.is_empty()).then_some(batch))
    }

    /// The number of each line, the line, and whether it had an end.
    fn lines(&self) -> impl Iterator<Item = (u64, &[u8], bool)> {
        let starts = iter::once(0).chain(self.lines.iter().map(|(_, end, _)| *end));
        starts.zip(&self.lines).map(|(start, &(number, end, ended))| (number, &self.bytes[start..end], ended))
    }
}

impl<R: BufRead + Send> Lines<R> {
    /// Hands over the number of each line, the line, and what `of` makes of it, in order: lines are parsed on so many threads.
    ///
    /// # Errors
    /// If the lines cannot be read, or `take` refuses one.
    pub fn each<T: Send>(
        mut self,
        threads: usize,
        of: impl Fn(Line) -> T + Sync,
        mut take: impl FnMut(u64, &[u8], T) -> Result<(), String>,
    ) -> Result<(), String> {
        let mut ended = false;
        let batches = iter::from_fn(|| {
            let batch = if ended { Ok(None) } else { Batch::read(&mut self) };
            ended = batch.is_err();
            batch.transpose()
        });
        let parsed = |(): &mut (), batch: Result<Batch, String>| -> Result<(Batch, Vec<T>), String> {
            let batch = batch?;
            let items = batch.lines().map(|(_, text, ended)| of(parse(text, ended).0)).collect();
            Ok((batch, items))
        };
        ordered(
            threads,
            2 * threads,
            batches,
            || (),
            parsed,
            |results| {
                for result in results {
                    let (batch, items) = result?;
                    for ((number, text, _), item) in batch.lines().zip(items) {
                        take(number, text, item)?;
                    }
                }
                Ok(())
            },
        )
    }
}

/// The beginning of each row.
const START: &[u8] = b"{\"kind\":";

/// The row that was read from a line.
pub fn row(text: &[u8]) -> Option<Row> {
    match parse(text, true).0 {
        Line::Row(row) => Some(*row),
        _ => None,
    }
}

/// What a line is, and where in it that begins: of one that cannot be read, the last row that begins in it.
fn parse(text: &[u8], ended: bool) -> (Line, usize) {
    let first = line(text, ended);
    if let Line::Wrong(_) = first
        && let Some(at) = text.windows(START.len()).rposition(|bytes| bytes == START).filter(|&at| at > 0)
        && let later @ (Line::Row(_) | Line::End(_)) = line(&text[at..], ended)
    {
        return (later, at);
    }
    (first, 0)
}

fn line(text: &[u8], ended: bool) -> Line {
    #[derive(Deserialize)]
    struct Any {
        kind: Kind,
        schema: u32,
    }
    let wrong = |error: serde_json::Error| {
        let text = error.to_string();
        Line::Wrong(match ended {
            true => format!("not a row of a plan or ledger: {}", text.split(" at line ").next().unwrap_or_default()),
            false => "the line is not whole: its writer was stopped".into(),
        })
    };
    // Nearly all are rows, read at once.
    if let Ok(row) = serde_json::from_slice::<Row>(text)
        && row.schema == SCHEMA
        && row.kind != Kind::End
        && row.is_sound()
    {
        return Line::Row(Box::new(row));
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
        _ => match serde_json::from_slice::<Row>(text) {
            Ok(row) if !row.is_sound() => {
                Line::Wrong(format!("{} of {} bytes: not within the input", row.range(), row.size))
            }
            Ok(row) => Line::Row(Box::new(row)),
            Err(error) => wrong(error),
        },
    }
}

/// Numbers for texts, which are equal if the texts are.
#[derive(Clone, Debug, Default)]
pub struct Keys(RandomState, RandomState);

impl Keys {
    /// The number of a value: 128 bits, so that two of 2^40 values are equal with a chance of 2^-49.
    pub fn of(&self, value: &impl std::hash::Hash) -> u128 {
        u128::from(self.0.hash_one(value)) << 64 | u128::from(self.1.hash_one(value))
    }

    /// The part that a row is about, whatever its version is.
    fn part(&self, row: &Row) -> u128 {
        self.of(&(&row.path, &row.path_base64, &row.format, row.offset, row.length, row.level))
    }

    /// The part and the version that a row is about.
    pub fn row(&self, row: &Row) -> (u128, u64) {
        (self.part(row), self.version(row))
    }

    /// The version of the input.
    fn version(&self, row: &Row) -> u64 {
        self.0.hash_one((&row.version, row.size))
    }

    /// The input.
    pub fn input(&self, row: &Row) -> u128 {
        self.of(&(&row.path, &row.path_base64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> Row {
        let spec: Spec = "blake3".parse().unwrap();
        Row::new(Path::new("a\nb"), ("v", 10), &spec, Subtree { start: 2, len: 8, level: 3 }, 7)
    }

    #[test]
    fn rows_are_read_as_they_are_written() {
        let line = row().line();
        assert!(line.starts_with(START) && line.ends_with(b"\n"));
        let mut lines = Lines::new(&line[..]);
        let Ok(Some(Line::Row(read))) = lines.read() else { panic!("a row") };
        assert_eq!((*read, lines.number), (row(), 1));
        assert!(lines.read().unwrap().is_none());
    }

    #[test]
    fn a_line_whose_writer_was_killed_is_not_a_row_at_any_length() {
        let line = row().hashed(&Digest::new(&[7; 32])).line();
        for cut in 1..line.len() - 1 {
            let mut lines = Lines::new(&line[..cut]);
            assert!(matches!(lines.read(), Ok(Some(Line::Wrong(_)))), "{cut}");
            // The next writer's first line follows it.
            let both = [&line[..cut], &line[..]].concat();
            let Ok(Some(Line::Row(read))) = Lines::new(&both[..]).read() else { panic!("{cut}") };
            assert_eq!(read.line(), line);
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
