//! Bencode (BEP 3): bytes read strictly, since an info-hash is over their one canonical form, and written.

use std::collections::BTreeMap;

/// The lists and dictionaries that lie in one another, at most: those of a file tree are as deep as its paths.
const DEEPEST: usize = 256;
/// The values of a file, at most: each takes at least two bytes of it, but more memory.
const MOST: usize = 1 << 21;

/// A value, read from the bytes of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// A whole number.
    Integer(i64),
    /// A string of bytes.
    Bytes(&'a [u8]),
    /// A list.
    List(Vec<Value<'a>>),
    /// A dictionary.
    Dict(Dict<'a>),
}

/// A dictionary, whose keys ascend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dict<'a> {
    entries: Vec<(&'a [u8], Value<'a>)>,
    /// The dictionary's bytes in the file.
    pub raw: &'a [u8],
}

impl<'a> Value<'a> {
    /// Reads the only value of a file.
    ///
    /// # Errors
    /// If it is not canonical bencode, is nested deeper than 256, or has more than 2^21 values: the offset in bytes and the reason, as words.
    pub fn read(bytes: &'a [u8]) -> Result<Value<'a>, String> {
        let mut reader = Reader { bytes, at: 0, left: MOST };
        let value = reader.value(0)?;
        match reader.at == bytes.len() {
            true => Ok(value),
            false => reader.fail("expected the end of the file"),
        }
    }

    /// The string, if it is one.
    pub fn bytes(&self) -> Option<&'a [u8]> {
        if let Value::Bytes(bytes) = self { Some(bytes) } else { None }
    }

    /// The dictionary, if it is one.
    pub fn dict(&self) -> Option<&Dict<'a>> {
        if let Value::Dict(dict) = self { Some(dict) } else { None }
    }

    /// The number, if it is one from 0 on.
    pub fn number(&self) -> Option<u64> {
        if let Value::Integer(number) = self { u64::try_from(*number).ok() } else { None }
    }

    /// The values of a list, if it is one.
    pub fn list(&self) -> Option<&[Value<'a>]> {
        if let Value::List(values) = self { Some(values) } else { None }
    }
}

impl<'a> Dict<'a> {
    /// The value of a key.
    pub fn get(&self, key: &[u8]) -> Option<&Value<'a>> {
        let found = self.entries.binary_search_by(|(other, _)| (*other).cmp(key)).ok()?;
        Some(&self.entries[found].1)
    }

    /// The entries, by ascending keys.
    pub fn entries(&self) -> &[(&'a [u8], Value<'a>)] {
        &self.entries
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    left: usize,
}

impl<'a> Reader<'a> {
    fn fail<T>(&self, why: &str) -> Result<T, String> {
        Err(format!("byte {}: {why}", self.at))
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.bytes.get(self.at).copied();
        self.at += usize::from(byte.is_some());
        byte
    }

    fn value(&mut self, depth: usize) -> Result<Value<'a>, String> {
        if depth > DEEPEST {
            return self.fail("lists and dictionaries are nested more than 256 deep");
        }
        self.left = match self.left.checked_sub(1) {
            Some(left) => left,
            None => return self.fail("more than 2,097,152 values"),
        };
        let start = self.at;
        match self.bytes.get(self.at) {
            Some(b'i') => {
                self.at += 1;
                self.digits(b'e').map(Value::Integer)
            }
            Some(b'l') => {
                self.at += 1;
                let mut values = Vec::new();
                while self.bytes.get(self.at) != Some(&b'e') {
                    values.push(self.value(depth + 1)?);
                }
                self.at += 1;
                Ok(Value::List(values))
            }
            Some(b'd') => {
                self.at += 1;
                let mut entries: Vec<(&[u8], _)> = Vec::new();
                while self.bytes.get(self.at) != Some(&b'e') {
                    let key = self.string()?;
                    if entries.last().is_some_and(|(before, _)| *before >= key) {
                        return self.fail("the keys of a dictionary must ascend");
                    }
                    entries.push((key, self.value(depth + 1)?));
                }
                self.at += 1;
                Ok(Value::Dict(Dict { entries, raw: &self.bytes[start..self.at] }))
            }
            Some(b'0'..=b'9') => self.string().map(Value::Bytes),
            Some(_) => self.fail("expected i, l, d or the length of a string"),
            None => self.fail("the file ends within a value"),
        }
    }

    fn string(&mut self) -> Result<&'a [u8], String> {
        if !self.bytes.get(self.at).is_some_and(u8::is_ascii_digit) {
            return self.fail("expected the length of a string");
        }
        let len = self.digits(b':')?;
        let end = usize::try_from(len).ok().and_then(|len| self.at.checked_add(len));
        match end.and_then(|end| self.bytes.get(self.at..end)) {
            Some(string) => {
                self.at += string.len();
                Ok(string)
            }
            None => self.fail(&format!("a string of {len} bytes goes past the end of the file")),
        }
    }

    /// The number before `end`.
    fn digits(&mut self, end: u8) -> Result<i64, String> {
        let start = self.at;
        loop {
            match self.next() {
                Some(byte) if byte == end => break,
                Some(b'0'..=b'9' | b'-') if self.at - start <= 20 => {}
                _ => return self.fail("expected a whole number"),
            }
        }
        let text = str::from_utf8(&self.bytes[start..self.at - 1]).unwrap_or_default();
        match text.parse::<i64>() {
            Ok(number) if number.to_string() == text => Ok(number),
            _ => self.fail("a number is too large, or has zeros before it"),
        }
    }
}

/// A value to be written.
#[derive(Clone, Debug)]
pub enum Made {
    /// A whole number.
    Integer(u64),
    /// A string of bytes.
    Bytes(Vec<u8>),
    /// A list.
    List(Vec<Made>),
    /// A dictionary.
    Dict(BTreeMap<Vec<u8>, Made>),
}

impl Made {
    /// A dictionary of these entries.
    pub fn dict<const N: usize>(entries: [(&str, Made); N]) -> Made {
        Made::Dict(entries.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }

    /// A string.
    pub fn text(text: &str) -> Made {
        Made::Bytes(text.into())
    }

    /// Sets the value of a key, if this is a dictionary.
    pub fn set(&mut self, key: &str, value: Made) {
        if let Made::Dict(entries) = self {
            entries.insert(key.into(), value);
        }
    }

    /// Encodes the value.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write(&mut out);
        out
    }

    fn write(&self, out: &mut Vec<u8>) {
        let string = |out: &mut Vec<u8>, bytes: &[u8]| {
            out.extend(format!("{}:", bytes.len()).bytes());
            out.extend(bytes);
        };
        match self {
            Made::Integer(number) => out.extend(format!("i{number}e").bytes()),
            Made::Bytes(bytes) => string(out, bytes),
            Made::List(values) => {
                out.push(b'l');
                values.iter().for_each(|value| value.write(out));
                out.push(b'e');
            }
            Made::Dict(entries) => {
                out.push(b'd');
                for (key, value) in entries {
                    string(out, key);
                    value.write(out);
                }
                out.push(b'e');
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_canonical_form_is_read() {
        for good in ["i0e", "i-1e", "0:", "1:a", "le", "de", "d1:ai1e1:bl1:cee", "i9223372036854775807e"] {
            assert!(Value::read(good.as_bytes()).is_ok(), "{good}");
        }
        for wrong in [
            "",
            "i01e",
            "i-0e",
            "ie",
            "i1",
            "i+1e",
            "01:a",
            "-1:a",
            "2:a",
            "l",
            "d1:a",
            "d1:ae",
            "d1:bi1e1:ai1ee",
            "d1:ai1e1:ai1ee",
            "i1ei2e",
            "di1ei1ee",
            "x",
            "i9223372036854775808e",
            "99999999999999999999:",
            "i--1e",
            "1:",
        ] {
            assert!(Value::read(wrong.as_bytes()).is_err(), "{wrong}");
        }
        let deep = |levels: usize| [vec![b'l'; levels], vec![b'e'; levels]].concat();
        assert!(Value::read(&deep(DEEPEST)).is_ok() && Value::read(&deep(DEEPEST + 2)).is_err());
        assert!(Value::read(&[&b"l"[..], &b"0:".repeat(MOST), b"e"].concat()).is_err());
    }

    #[test]
    fn what_is_written_is_read() {
        let made =
            Made::dict([("b", Made::List(vec![Made::Integer(7), Made::text("x")])), ("a", Made::Bytes(vec![0, 255]))]);
        let bytes = made.encode();
        assert_eq!(bytes, b"d1:a2:\0\xff1:bli7e1:xee");
        let read = Value::read(&bytes).unwrap();
        let dict = read.dict().unwrap();
        assert_eq!((dict.raw, dict.get(b"a").unwrap().bytes()), (&bytes[..], Some(&b"\0\xff"[..])));
    }
}
