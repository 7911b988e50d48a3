//! Names in the pages of listings that the client of a store cannot express: it would refuse the whole page for one of them.

use bytes::Bytes;
use std::borrow::Cow;

/// What stands before such a name, and in the place of its slashes: characters that Unicode has for no text.
const MARK: char = '\u{fdd0}';
const SLASH: char = '\u{fdd1}';
/// What stands before the letter of a control character (`^I` is a tab).
const CONTROL: char = '\u{fdd2}';
/// The bit in which a control character differs from its letter.
const CARET: u8 = 0x40;

/// The elements that have names: those of S3 and Google, and those of Azure.
const ELEMENTS: [(&str, &str); 2] = [("<Key>", "</Key>"), ("<Name>", "</Name>")];

/// Returns a page of a listing in which the names that have an empty part, `.`, `..` or a control character are single parts:
/// [`name`] reads them.
pub fn marked(page: Bytes) -> Bytes {
    let Ok(text) = str::from_utf8(&page) else { return page };
    let mut found = Cow::Borrowed(text);
    for (open, close) in ELEMENTS {
        if text.split(open).skip(1).any(|rest| rest.split_once(close).is_some_and(|(name, _)| !is_plain(name))) {
            found = with_marks(&found, open, close).into();
        }
    }
    match found {
        Cow::Borrowed(_) => page,
        Cow::Owned(text) => text.into(),
    }
}

fn with_marks(text: &str, open: &str, close: &str) -> String {
    let mut parts = text.split(open);
    let mut out = parts.next().unwrap_or_default().to_string();
    for part in parts {
        out += open;
        match part.split_once(close) {
            Some((name, rest)) if !is_plain(name) => {
                out.push(MARK);
                for letter in decoded(name).chars() {
                    match letter {
                        '/' => out.push(SLASH),
                        control if control.is_ascii_control() => {
                            out.extend([CONTROL, char::from(control as u8 ^ CARET)])
                        }
                        letter => out.push(letter),
                    }
                }
                out += close;
                out += rest;
            }
            _ => out += part,
        }
    }
    out
}

/// Whether the client keeps a name as it is, but for a slash at its end.
fn is_plain(name: &str) -> bool {
    let name = decoded(name);
    let name = name.strip_suffix('/').unwrap_or(&name);
    name.split('/').all(|part| !matches!(part, "" | "." | ".."))
        && !name.contains(|letter: char| letter.is_ascii_control())
}

/// A name whose control characters, slashes and dots are not written by their numbers (`&#9;`, `&#x9;`).
fn decoded(name: &str) -> Cow<'_, str> {
    let mut parts = name.split("&#");
    let first = parts.next().unwrap_or_default();
    if first.len() == name.len() {
        return name.into();
    }
    let mut out = first.to_string();
    for part in parts {
        let letter = part.split_once(';').and_then(|(number, rest)| {
            let code = match number.strip_prefix('x') {
                Some(digits) => u8::from_str_radix(digits, 16),
                None => number.parse(),
            };
            let letter = code.ok().map(char::from)?;
            (letter.is_ascii_control() || matches!(letter, '/' | '.')).then_some((letter, rest))
        });
        match letter {
            Some((letter, rest)) => {
                out.push(letter);
                out += rest;
            }
            None => {
                out += "&#";
                out += part;
            }
        }
    }
    out.into()
}

/// The name of an object, and whether it is one that the client cannot ask for.
pub fn name(location: &str) -> (Cow<'_, str>, bool) {
    let Some(marked) = location.strip_prefix(MARK) else { return (location.into(), false) };
    let (mut name, mut letters) = (String::new(), marked.chars());
    while let Some(letter) = letters.next() {
        match letter {
            SLASH => name.push('/'),
            CONTROL => {
                name.extend(letters.next().and_then(|letter| Some(char::from(u8::try_from(letter).ok()? ^ CARET))))
            }
            letter => name.push(letter),
        }
    }
    (name.into(), true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_the_client_refuses_are_marked() {
        let page =
            |names: &[&str]| names.iter().map(|name| format!("<Key>{name}</Key><Size>1</Size>")).collect::<String>();
        let plain = page(&["a", "a/b", "a/", "a..b/.c", "a&#39;b"]);
        assert_eq!(marked(Bytes::from(plain.clone())), plain.as_bytes());
        for wrong in ["a//b", "/a", "a/./b", "../a", "a//", "//"] {
            let found = marked(page(&["x/y", wrong, "z"]).into());
            let found = str::from_utf8(&found).unwrap();
            let names: Vec<_> = found.split("<Key>").skip(1).map(|part| part.split_once('<').unwrap().0).collect();
            assert_eq!((names[0], names[2]), ("x/y", "z"));
            assert_eq!(name(names[1]), (wrong.into(), true));
            assert!(object_store::path::Path::parse(names[1]).is_ok_and(|path| path.as_ref() == names[1]), "{wrong}");
        }
        for (written, wrong) in [
            ("a\tb", "a\tb"),
            ("a/&#x9;/&#10;", "a/\t/\n"),
            ("&#127;&#x1F;", "\u{7f}\u{1f}"),
            ("a&#47;&#x2f;b", "a//b"),
            ("a/&#46;/b", "a/./b"),
        ] {
            let found = with_marks(&page(&[written]), "<Key>", "</Key>");
            let marked = found["<Key>".len()..].split_once('<').unwrap().0;
            assert_eq!(name(marked), (wrong.into(), true));
            assert!(object_store::path::Path::parse(marked).is_ok(), "{written}");
        }
        for plain in ["&#", "&#;", "&#x;", "&#39;", "&#300;", "&#99999999999;", "&#x9", "&#+9"] {
            assert_eq!(decoded(plain), plain);
        }
        assert_eq!(name("a/b"), ("a/b".into(), false));
        let invalid = Bytes::from_static(b"<Key>a//b\xff</Key>");
        assert_eq!(marked(invalid.clone()), invalid);
    }
}
