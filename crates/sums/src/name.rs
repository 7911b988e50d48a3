//! File names: bytes that may be anything, as sum files escape them and as messages show them.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt::{self, Write};
use std::path::{Path, PathBuf};

/// The name's bytes: on Windows UTF-8, or WTF-8 if it is not Unicode.
pub fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}

/// A thing with a name: a path, or the URL of an object.
pub trait Named {
    /// The name's bytes as they are printed: of a URL without its secrets.
    fn shown(&self) -> Cow<'_, [u8]>;
}

impl Named for Path {
    fn shown(&self) -> Cow<'_, [u8]> {
        bytes(self).into()
    }
}

impl Named for PathBuf {
    fn shown(&self) -> Cow<'_, [u8]> {
        bytes(self).into()
    }
}

/// The name's bytes as they stand in sum files.
///
/// On Windows with slashes, which are separators there too, so that other systems can read them. In paths that begin with two
/// backslashes (`\\?\C:\a`, `\\server\share`) slashes can have another meaning.
pub fn listed<T: Named + ?Sized>(name: &T) -> Cow<'_, [u8]> {
    let name = name.shown();
    match cfg!(windows) && !name.starts_with(br"\\") {
        true => Cow::Owned(name.iter().map(|&byte| if byte == b'\\' { b'/' } else { byte }).collect()),
        false => name,
    }
}

/// The path that these bytes name, unless no file of this system can have such a name.
pub fn path(bytes: &[u8]) -> Option<PathBuf> {
    if bytes.is_empty() || bytes.contains(&0) {
        return None;
    }
    os_string(bytes).map(PathBuf::from)
}

#[cfg(unix)]
fn os_string(bytes: &[u8]) -> Option<OsString> {
    use std::os::unix::ffi::OsStringExt;
    Some(OsString::from_vec(bytes.into()))
}

#[cfg(windows)]
fn os_string(bytes: &[u8]) -> Option<OsString> {
    use std::os::windows::ffi::OsStringExt;
    Some(OsString::from_wide(&wide(bytes)?))
}

#[cfg(not(any(unix, windows)))]
fn os_string(bytes: &[u8]) -> Option<OsString> {
    String::from_utf8(bytes.into()).ok().map(OsString::from)
}

/// The UTF-16 units of a name in WTF-8: in UTF-8, but half a pair alone has the three bytes that it would have if it were a
/// letter. `None` for other bytes.
#[cfg(any(windows, test))]
fn wide(mut bytes: &[u8]) -> Option<Vec<u16>> {
    let mut units = Vec::new();
    loop {
        match str::from_utf8(bytes) {
            Ok(text) => {
                units.extend(text.encode_utf16());
                return Some(units);
            }
            Err(error) => {
                let (valid, rest) = bytes.split_at(error.valid_up_to());
                units.extend(str::from_utf8(valid).ok()?.encode_utf16());
                let &[0xed, second @ 0xa0..=0xbf, third @ 0x80..=0xbf, ..] = rest else { return None };
                units.push(0xd000 | u16::from(second & 0x3f) << 6 | u16::from(third & 0x3f));
                bytes = &rest[3..];
            }
        }
    }
}

/// The name as a line of a sum file can hold it, if that is another than the name itself (coreutils, "cksum": a line
/// with such a name begins with a backslash).
pub fn escaped(name: &[u8]) -> Option<Vec<u8>> {
    let letter = |byte| match byte {
        b'\n' => Some(b'n'),
        b'\r' => Some(b'r'),
        b'\\' => Some(b'\\'),
        _ => None,
    };
    name.iter().any(|&byte| letter(byte).is_some()).then(|| {
        let escape = |&byte: &u8| match letter(byte) {
            Some(letter) => vec![b'\\', letter],
            None => vec![byte],
        };
        name.iter().flat_map(escape).collect()
    })
}

/// The name that was escaped so; `None` if nothing is.
pub fn unescaped(escaped: &[u8]) -> Option<Vec<u8>> {
    let mut name = Vec::with_capacity(escaped.len());
    let mut bytes = escaped.iter();
    while let Some(&byte) = bytes.next() {
        name.push(match byte {
            b'\\' => match bytes.next()? {
                b'n' => b'\n',
                b'r' => b'\r',
                b'\\' => b'\\',
                _ => return None,
            },
            byte => byte,
        });
    }
    Some(name)
}

/// A name in a message: as it is where that is harmless, else quoted as shells read it back (`$'a\nb'`).
///
/// A name can hold control sequences that rewrite a terminal, or letters that turn the line around.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a, T: ?Sized>(pub &'a T);

impl<T: Named + ?Sized> fmt::Display for Shown<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &*self.0.shown();
        if let Ok(text) = str::from_utf8(name)
            && !text.is_empty()
            && text.chars().all(harmless)
        {
            return f.write_str(text);
        }
        f.write_str("$'")?;
        for part in name.utf8_chunks() {
            for letter in part.valid().chars() {
                match letter {
                    '\n' => f.write_str("\\n")?,
                    '\r' => f.write_str("\\r")?,
                    '\t' => f.write_str("\\t")?,
                    '\\' | '\'' => write!(f, "\\{letter}")?,
                    letter if harmless(letter) => f.write_char(letter)?,
                    letter if letter.is_ascii() => write!(f, "\\x{:02x}", u32::from(letter))?,
                    letter => write!(f, "\\u{:04x}", u32::from(letter))?,
                }
            }
            part.invalid().iter().try_for_each(|byte| write!(f, "\\x{byte:02x}"))?;
        }
        f.write_char('\'')
    }
}

/// Whether a letter prints as itself: no control, nothing invisible, nothing that changes the direction.
fn harmless(letter: char) -> bool {
    !letter.is_control()
        && !matches!(letter, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
}

/// Text from elsewhere in a message: what could harm a terminal is escaped.
pub fn printable(text: &str) -> String {
    text.chars()
        .map(|letter| if harmless(letter) { letter.into() } else { letter.escape_unicode().to_string() })
        .collect()
}

/// Lines as a terminal is to have them: whatever could move its cursor, change its colours or turn the line around is
/// escaped, but for newlines and zero bytes, which end lines.
pub fn visible(lines: &[u8]) -> Cow<'_, [u8]> {
    if lines.iter().all(|byte| byte.is_ascii() && (!byte.is_ascii_control() || b"\n\0".contains(byte))) {
        return Cow::Borrowed(lines);
    }
    let mut out = String::with_capacity(lines.len());
    for part in lines.utf8_chunks() {
        for letter in part.valid().chars() {
            match letter {
                '\n' | '\0' => out.push(letter),
                letter if harmless(letter) => out.push(letter),
                // As JSON has them, where they may stand too.
                letter => letter.encode_utf16(&mut [0; 2]).iter().for_each(|unit| {
                    let _ = write!(out, "\\u{unit:04x}");
                }),
            }
        }
        part.invalid().iter().for_each(|byte| {
            let _ = write!(out, "\\x{byte:02x}");
        });
    }
    Cow::Owned(out.into_bytes())
}

/// The path that these bytes name, with U+FFFD in the place of what no path of this system has: for messages.
pub fn lossy_path(bytes: &[u8]) -> PathBuf {
    String::from_utf8_lossy(bytes).into_owned().into()
}

/// The name as text, with U+FFFD in the place of bytes that are not UTF-8.
pub fn lossy<T: Named + ?Sized>(name: &T) -> Cow<'_, str> {
    match name.shown() {
        Cow::Borrowed(bytes) => String::from_utf8_lossy(bytes),
        Cow::Owned(bytes) => String::from_utf8_lossy(&bytes).into_owned().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_windows_are_read_back_if_they_are_not_unicode() {
        assert_eq!(wide("aü😀".as_bytes()).unwrap(), "aü😀".encode_utf16().collect::<Vec<_>>());
        assert_eq!(wide(b"a\xed\xa0\x80b\xed\xbf\xbf").unwrap(), [0x61, 0xd800, 0x62, 0xdfff]);
        for bytes in [&b"\xff"[..], b"a\xed", b"\xed\xa0", b"\xed\xa0a", b"\xed\x9f\xbf\xc0"] {
            assert_eq!(wide(bytes), None);
        }
    }

    #[test]
    fn escapes_are_coreutils() {
        assert_eq!(escaped(b"plain name"), None);
        assert_eq!(escaped(b"a\nb\\c\rd").unwrap(), b"a\\nb\\\\c\\rd");
        assert_eq!(unescaped(b"a\\nb\\\\c\\rd").unwrap(), b"a\nb\\c\rd");
        assert_eq!(unescaped(b"a\\tb"), None);
        assert_eq!(unescaped(b"ends in \\"), None);
    }

    #[test]
    fn lines_on_a_terminal_cannot_move_its_cursor() {
        let shown = |lines: &str| String::from_utf8(visible(lines.as_bytes()).into_owned()).unwrap();
        assert_eq!(shown("blake3 (Grüße) = 00\n\0"), "blake3 (Grüße) = 00\n\0");
        assert_eq!(
            shown("(a\x1b]0;title\x07\r\t\u{9b}2J\u{202e}b)\n"),
            "(a\\u001b]0;title\\u0007\\u000d\\u0009\\u009b2J\\u202eb)\n"
        );
        assert_eq!(&*visible(b"a\x9b2J\xff\n"), br"a\x9b2J\xff".iter().chain(b"\n").copied().collect::<Vec<_>>());
    }

    #[test]
    fn messages_cannot_move_the_cursor() {
        let shown = |name: &[u8]| Shown(&path(name).unwrap()).to_string();
        assert_eq!(shown("Grüße (1).txt".as_bytes()), "Grüße (1).txt");
        assert_eq!(shown(b"a\x1b[2Jb"), r"$'a\x1b[2Jb'");
        assert_eq!(shown("a\u{202e}b".as_bytes()), r"$'a\u202eb'");
        #[cfg(unix)]
        assert_eq!(shown(b"it's\n\xff"), r"$'it\'s\n\xff'");
    }
}
