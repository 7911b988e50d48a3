//! The lines of plans and ledgers, parsed on several threads.

use crate::error::{Fault, RowError, SCHEMA, Unusable};
use crate::rows::{End, Kind, Row};
use mksum::ordered::ordered;
use serde::Deserialize;
use std::io::{self, BufRead, Read};
use std::iter;
use std::ops::Range;

/// The longest line, in bytes: names of files and objects are shorter, and so are the units of a part in base64.
const LONGEST: u64 = 8 << 20;

/// What a line is.
#[derive(Debug)]
pub enum Line<'a> {
    /// A row, whose [check](Row::check) is right.
    Row(Row<'a>),
    /// The end of a plan.
    End(End),
    /// A line that cannot be used: the reason.
    Wrong(RowError),
}

/// The lines of a plan or ledger.
///
/// A writer that was killed leaves the beginning of a line, and the next one writes after it: so where a line cannot be read, the last
/// row that begins in it is read.
#[derive(Debug)]
pub struct Lines<R> {
    reader: R,
    /// The number of lines that were read.
    pub number: u64,
    text: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    /// The lines that a reader has.
    pub fn new(reader: R) -> Self {
        Lines { reader, number: 0, text: Vec::new() }
    }

    /// The next line that is not empty, as soon as it is there; `None` at the end.
    ///
    /// # Errors
    /// If it cannot be read, or is too long.
    pub fn read(&mut self) -> Result<Option<Line<'_>>, Unusable> {
        loop {
            self.text.clear();
            let read = self.reader.by_ref().take(LONGEST).read_until(b'\n', &mut self.text);
            if read? == 0 {
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

fn too_long(number: u64) -> Unusable {
    Unusable::Line(number, Fault::TooLong(LONGEST))
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
    /// The line's number in the batch, from 1.
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
        mut take: impl FnMut(u64, &[u8], T) -> Result<(), Unusable>,
    ) -> Result<(), Unusable> {
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
                let Parsed { bytes, items, lines, too_long: long } = result?;
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
pub(crate) fn row(text: &[u8]) -> Option<Row<'_>> {
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
            true => RowError::Other(refusal(text, "a row of a plan or ledger", &error)),
            false => RowError::Incomplete,
        })
    };
    // Nearly all are rows, read at once.
    let error = match serde_json::from_slice::<Row<'_>>(text) {
        Ok(row) if row.schema == SCHEMA && row.kind != Kind::End => {
            return row.check().map_or_else(Line::Wrong, |()| Line::Row(row));
        }
        Ok(_) => None,
        Err(error) => Some(error),
    };
    let any: Any = match serde_json::from_slice(text) {
        Ok(any) => any,
        Err(error) => return wrong(error),
    };
    match (any.kind, error) {
        _ if any.schema != SCHEMA => Line::Wrong(RowError::Schema(any.schema)),
        (Kind::Range | Kind::Digest, Some(error)) => wrong(error),
        _ => serde_json::from_slice(text).map_or_else(wrong, Line::End),
    }
}

/// Why a line is not the JSON object that `what` says: with its beginning, or what is wrong with the object.
pub fn refusal(line: &[u8], what: &str, error: &serde_json::Error) -> String {
    /// The bytes of a line that are repeated at most.
    const MOST: usize = 32;
    let line = line.trim_ascii();
    if line.starts_with(b"{") {
        let text = error.to_string();
        return format!("not {what}: {}", text.split(" at line ").next().unwrap_or_default());
    }
    let more = if line.len() > MOST { "..." } else { "" };
    format!("not {what}: it begins with '{}{more}'", line[..line.len().min(MOST)].escape_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;
    use mksum::{Digest, Spec, Subtree};
    use mksum_io::Input;

    fn row() -> Row<'static> {
        let spec: Spec = "blake3".parse().unwrap();
        let node = Subtree { start: 2, len: 8, level: 3 };
        Row { task: Some(7), ..Row::new(&Input::place("a\nb"), ("v", 10), &spec, node).into_owned() }
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
                (found, end.err().map(|error| error.to_string()))
            };
            assert_eq!(each(&blank), (vec![(1, true), (3, true), (5, false), (6, true)], None));
            assert_eq!(each(&long), (vec![(1, true)], Some(too_long(2).to_string())));
            let (found, end) = each(&many);
            assert!(end.is_none() && found.iter().zip(1..).all(|(found, number)| *found == (number, true)));
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
