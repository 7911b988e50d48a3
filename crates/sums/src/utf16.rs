//! Text in UTF-16, as Windows PowerShell writes it, read as UTF-8.

use std::io::{self, BufRead, ErrorKind, Read};

/// A reader of text: UTF-16 that begins with a byte order mark becomes UTF-8 without one; everything else is left as it is.
#[derive(Debug)]
pub struct Text<R> {
    reader: R,
    kind: Option<Kind>,
    /// Bytes in UTF-8 that were not handed out yet, the first of them last.
    waiting: Vec<u8>,
    /// A unit that was read in vain: the second half of a pair was expected.
    again: Option<u16>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Bytes,
    LittleEndian,
    BigEndian,
}

impl<R: BufRead> Text<R> {
    /// The text in `reader`, from its beginning on.
    pub fn new(reader: R) -> Self {
        Text { reader, kind: None, waiting: Vec::new(), again: None }
    }

    /// Reads the mark: the kind of text, and the bytes that are no mark.
    fn begin(&mut self) -> io::Result<Kind> {
        if let Some(kind) = self.kind {
            return Ok(kind);
        }
        let mut head = Vec::new();
        self.reader.by_ref().take(2).read_to_end(&mut head)?;
        let kind = match head[..] {
            [0xff, 0xfe] => Kind::LittleEndian,
            [0xfe, 0xff] => Kind::BigEndian,
            _ => {
                self.waiting = head.into_iter().rev().collect();
                Kind::Bytes
            }
        };
        self.kind = Some(kind);
        Ok(kind)
    }

    /// The next unit; `None` at the end.
    fn unit(&mut self, kind: Kind) -> io::Result<Option<u16>> {
        if let Some(unit) = self.again.take() {
            return Ok(Some(unit));
        }
        let mut unit = [0; 2];
        match self.reader.read(&mut unit[..1])? {
            0 => return Ok(None),
            _ => self.reader.read_exact(&mut unit[1..]).map_err(|error| match error.kind() {
                ErrorKind::UnexpectedEof => {
                    io::Error::new(ErrorKind::InvalidData, "UTF-16 text of an odd number of bytes")
                }
                _ => error,
            })?,
        }
        Ok(Some(if kind == Kind::BigEndian { u16::from_be_bytes(unit) } else { u16::from_le_bytes(unit) }))
    }

    /// The next letter; half a pair alone becomes U+FFFD.
    fn letter(&mut self, kind: Kind) -> io::Result<Option<char>> {
        let Some(first) = self.unit(kind)? else { return Ok(None) };
        let mut units = vec![first];
        if (0xd800..0xdc00).contains(&first) {
            units.extend(self.unit(kind)?);
        }
        let mut letters = char::decode_utf16(units.iter().copied());
        match letters.next() {
            Some(Ok(letter)) => Ok(Some(letter)),
            _ => {
                self.again = units.get(1).copied();
                Ok(Some(char::REPLACEMENT_CHARACTER))
            }
        }
    }
}

impl<R: BufRead> Read for Text<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let kind = self.begin()?;
        if kind == Kind::Bytes && self.waiting.is_empty() {
            return self.reader.read(buffer);
        }
        let mut done = 0;
        while done < buffer.len() {
            if self.waiting.is_empty() {
                // What is there is handed out before an error.
                let letter = if kind == Kind::Bytes { Ok(None) } else { self.letter(kind) };
                match letter {
                    Ok(Some(letter)) => {
                        let mut bytes = [0; 4];
                        self.waiting.extend(letter.encode_utf8(&mut bytes).bytes().rev());
                    }
                    Ok(None) => break,
                    Err(_) if done > 0 => break,
                    Err(error) => return Err(error),
                }
            }
            let Some(byte) = self.waiting.pop() else { break };
            buffer[done] = byte;
            done += 1;
        }
        Ok(done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    /// The text in some bytes, whatever the length of the reads.
    fn text(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        Text::new(bytes).read_to_end(&mut all)?;
        for most in 1..5 {
            let (mut pieces, mut reader) = (Vec::new(), Text::new(BufReader::with_capacity(most, bytes)));
            let mut buffer = vec![0; most];
            loop {
                match reader.read(&mut buffer)? {
                    0 => break,
                    more => pieces.extend_from_slice(&buffer[..more]),
                }
            }
            assert_eq!(pieces, all);
        }
        Ok(all)
    }

    #[test]
    fn utf_16_with_a_mark_is_read_and_all_else_left_alone() {
        let words = "a\r\nZürich 😀 \u{ffff}";
        let units = || [0xfeff].into_iter().chain(words.encode_utf16());
        let little: Vec<u8> = units().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = units().flat_map(u16::to_be_bytes).collect();
        assert_eq!(text(&little).unwrap(), words.as_bytes());
        assert_eq!(text(&big).unwrap(), words.as_bytes());
        for bytes in [&b""[..], b"a", b"\xff", b"\xff\xff", b"\xfe", words.as_bytes(), &[0; 9], &little[1..]] {
            assert_eq!(text(bytes).unwrap(), bytes);
        }
        // Half a pair, before a letter and at the end.
        assert_eq!(text(b"\xff\xfe\x00\xd8a\0\x00\xdc\x00\xd8").unwrap(), "\u{fffd}a\u{fffd}\u{fffd}".as_bytes());
        assert_eq!(text(b"\xff\xfea\0b").unwrap_err().to_string(), "UTF-16 text of an odd number of bytes");
    }
}
