//! Names in the pages of listings that the client of a store cannot express: it would refuse the whole page for one of them.

use bytes::Bytes;
use std::borrow::Cow;

/// What stands before such a name, and in the place of its slashes: characters that Unicode has for no text.
const MARK: char = '\u{fdd0}';
const SLASH: &str = "\u{fdd1}";

/// The elements that have names: those of S3 and Google, and those of Azure.
const ELEMENTS: [(&str, &str); 2] = [("<Key>", "</Key>"), ("<Name>", "</Name>")];

/// Returns a page of a listing in which the names that have an empty part, `.` or `..` are single parts: [`name`] reads them.
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
                out += &name.replace('/', SLASH);
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
    let name = name.strip_suffix('/').unwrap_or(name);
    name.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

/// The name of an object, and whether it is one that the client cannot ask for.
pub fn name(location: &str) -> (Cow<'_, str>, bool) {
    match location.strip_prefix(MARK) {
        Some(name) => (name.replace(SLASH, "/").into(), true),
        None => (location.into(), false),
    }
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
        assert_eq!(name("a/b"), ("a/b".into(), false));
        let invalid = Bytes::from_static(b"<Key>a//b\xff</Key>");
        assert_eq!(marked(invalid.clone()), invalid);
    }
}
