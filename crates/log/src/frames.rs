//! Entries in a stream: lines, NUL-separated, or each with its length before it.

use crate::error::Error;
use crate::longest::LONGEST_ENTRY;
use crate::record::Record;
use std::io::{self, BufRead, Read};

/// How entries follow one another in a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Framing {
    /// Each ends with a newline, which does not belong to it; the last one may have none.
    #[default]
    Lines,
    /// Each ends with a NUL, which does not belong to it; the last one may have none.
    Null,
    /// Each has its length before it, two bytes, the higher first, as in an entry bundle.
    Framed,
}

impl Framing {
    /// Appends an entry to a stream.
    ///
    /// # Errors
    /// If the entry has the byte that ends entries, or is too long.
    pub fn write(self, entry: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        let end = match self {
            Framing::Lines => b'\n',
            Framing::Null => 0,
            Framing::Framed => {
                let len =
                    u16::try_from(entry.len()).map_err(|_| Error::TooLong { number: 1, len: entry.len() as u64 })?;
                out.extend(len.to_be_bytes());
                out.extend(entry);
                return Ok(());
            }
        };
        if entry.contains(&end) {
            let what = if end == 0 { "a NUL" } else { "a newline" };
            return Err(Error::Refused(format!(
                "an entry has {what} within: choose another framing (--framed takes all bytes)"
            )));
        }
        out.extend(entry);
        out.push(end);
        Ok(())
    }
}

/// The entries of a stream, each of at most 65,535 bytes; memory is needed for one of them.
#[derive(Debug)]
pub struct Entries<R> {
    reader: R,
    framing: Framing,
    takes_roots: bool,
    /// The entries that were read.
    number: u64,
    is_over: bool,
}

impl<R: BufRead> Entries<R> {
    /// The entries that a reader has.
    pub fn new(reader: R, framing: Framing) -> Entries<R> {
        Entries { reader, framing, takes_roots: false, number: 0, is_over: false }
    }

    /// Has the [line of the root](Record::entry) in the place of a longer entry, which is an error otherwise.
    #[must_use]
    pub fn takes_roots(self, takes_roots: bool) -> Entries<R> {
        Entries { takes_roots, ..self }
    }

    fn ended(&mut self, end: u8) -> Result<Option<Vec<u8>>, Error> {
        let (mut entry, number) = (Vec::new(), self.number);
        let most = LONGEST_ENTRY as u64 + 1;
        self.reader.by_ref().take(most).read_until(end, &mut entry).map_err(|error| failed(number, &error))?;
        if entry.is_empty() {
            return Ok(None);
        }
        if entry.last() == Some(&end) {
            entry.pop();
        } else if entry.len() as u64 == most {
            return self.long(&entry, end).map(Some);
        }
        Ok(Some(entry))
    }

    /// Reads on to the end of an entry that is too long, of which the first bytes were read.
    fn long(&mut self, first: &[u8], end: u8) -> Result<Vec<u8>, Error> {
        let (mut record, number) = (Record::default(), self.number);
        let wrong =
            |error: mksum::Error| Error::Source { name: format!("entry {}", number + 1), why: error.to_string() };
        record.update(first).map_err(wrong)?;
        loop {
            let buffer = match self.reader.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read.map_err(|error| failed(number, &error))?,
            };
            let (bytes, is_end) = match buffer.iter().position(|byte| *byte == end) {
                Some(at) => (&buffer[..at], true),
                None => (buffer, buffer.is_empty()),
            };
            record.update(bytes).map_err(wrong)?;
            let len = (bytes.len() + 1).min(buffer.len());
            self.reader.consume(len);
            if is_end {
                break;
            }
        }
        match self.takes_roots {
            true => Ok(record.entry()),
            false => Err(Error::TooLong { number: number + 1, len: record.len() }),
        }
    }

    fn framed(&mut self) -> Result<Option<Vec<u8>>, Error> {
        let (mut len, number) = (Vec::new(), self.number);
        self.reader.by_ref().take(2).read_to_end(&mut len).map_err(|error| failed(number, &error))?;
        let len = match len[..] {
            [] => return Ok(None),
            [high, low] => u16::from_be_bytes([high, low]),
            _ => return Err(self.malformed("ends within its length of two bytes")),
        };
        let mut entry = Vec::new();
        self.reader.by_ref().take(len.into()).read_to_end(&mut entry).map_err(|error| failed(number, &error))?;
        match entry.len() == usize::from(len) {
            true => Ok(Some(entry)),
            false => Err(self.malformed(&format!("has {} of {len} bytes, and then the input ends", entry.len()))),
        }
    }

    fn malformed(&self, why: &str) -> Error {
        Error::malformed("a stream of entries with their lengths", format!("entry {} {why}", self.number + 1))
    }
}

fn failed(number: u64, error: &io::Error) -> Error {
    Error::Source { name: format!("entry {}", number + 1), why: error.to_string() }
}

impl<R: BufRead> Iterator for Entries<R> {
    type Item = Result<Vec<u8>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let entry = match self.framing {
            Framing::Lines => self.ended(b'\n'),
            Framing::Null => self.ended(0),
            Framing::Framed => self.framed(),
        };
        self.is_over = !matches!(entry, Ok(Some(_)));
        self.number += 1;
        entry.transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8], framing: Framing) -> Result<Vec<Vec<u8>>, Error> {
        Entries::new(bytes, framing).collect()
    }

    #[test]
    fn entries_are_separated_and_never_too_long() {
        assert_eq!(all(b"a\n\nb", Framing::Lines).unwrap(), [&b"a"[..], b"", b"b"]);
        assert_eq!(all(b"a\nb\0\0", Framing::Null).unwrap(), [&b"a\nb"[..], b""]);
        assert_eq!(all(b"\0\x01a\0\0", Framing::Framed).unwrap(), [&b"a"[..], b""]);
        assert!(all(b"\0", Framing::Framed).is_err() && all(b"\0\x02a", Framing::Framed).is_err());
        for (len, more) in [(65_535, "\n"), (65_535, ""), (65_536, "\n"), (65_536, ""), (200_000, "\nb\n")] {
            let text = format!("x\n{}{more}", "a".repeat(len));
            match all(text.as_bytes(), Framing::Lines) {
                Ok(entries) => assert_eq!((len, entries[1].len()), (65_535, len)),
                Err(Error::TooLong { number, len: found }) => assert_eq!((number, found), (2, len as u64)),
                Err(error) => panic!("{error}"),
            }
            if len > LONGEST_ENTRY {
                let taken = Entries::new(text.as_bytes(), Framing::Lines).takes_roots(true);
                let taken = taken.collect::<Result<Vec<_>, _>>().unwrap();
                let mut entry = Record::default();
                entry.update("a".repeat(len).as_bytes()).unwrap();
                assert_eq!((taken[0].as_slice(), taken[1].clone()), (&b"x"[..], entry.entry()));
                assert_eq!(taken.len(), 2 + usize::from(more.len() > 1));
            }
        }
    }

    #[test]
    fn what_is_written_is_read() {
        for framing in [Framing::Lines, Framing::Null, Framing::Framed] {
            let mut out = Vec::new();
            for entry in [&b"one"[..], b"", b"two"] {
                framing.write(entry, &mut out).unwrap();
            }
            assert_eq!(all(&out, framing).unwrap(), [&b"one"[..], b"", b"two"], "{framing:?}");
        }
        assert!(Framing::Lines.write(b"a\nb", &mut Vec::new()).is_err());
        assert!(Framing::Null.write(b"a\0b", &mut Vec::new()).is_err());
    }
}
