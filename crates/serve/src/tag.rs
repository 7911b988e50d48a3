//! ETags (RFC 9110, 8.8.3).

use mksum::Root;
use std::fmt;

/// The version of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag {
    /// The text between the quotes: printable ASCII without quotes.
    opaque: String,
    is_weak: bool,
}

impl Tag {
    /// The strong tag of a file with this root: equal tags mean equal bytes.
    pub fn of_root(root: &Root) -> Tag {
        Tag::new(&format!("{}:{root}", root.spec()), false)
    }

    /// A weak tag: equal tags mean that the file is probably unchanged.
    pub fn weak(opaque: &str) -> Tag {
        Tag::new(opaque, true)
    }

    fn new(opaque: &str, is_weak: bool) -> Tag {
        let is_plain = |letter: &char| letter.is_ascii_graphic() && *letter != '"';
        Tag { opaque: opaque.chars().map(|letter| if is_plain(&letter) { letter } else { '_' }).collect(), is_weak }
    }

    /// Whether a list of tags in a header has this one: for `If-None-Match`, where weak ones count.
    pub fn is_in(&self, list: &str) -> bool {
        list.trim() == "*" || tags(list).any(|tag| tag.strip_prefix("W/").unwrap_or(tag) == self.quoted())
    }

    /// Whether a list of tags in a header has this one, and both are strong: for `If-Match` and `If-Range`.
    pub fn is_strongly_in(&self, list: &str) -> bool {
        !self.is_weak && tags(list).any(|tag| tag == self.quoted())
    }

    fn quoted(&self) -> String {
        format!("\"{}\"", self.opaque)
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_weak { "W/" } else { "" })?;
        f.write_str(&self.quoted())
    }
}

/// The tags of a list. Those of others may have commas: their parts are equal to none of ours, which have no quote at one end alone.
fn tags(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weak_tags_match_only_where_they_may() {
        let root = "sha256".parse::<mksum::Spec>().unwrap().root(b"abc").unwrap();
        let (strong, weak) = (Tag::of_root(&root), Tag::weak("1 2\"é"));
        let hex = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!((strong.to_string(), weak.to_string()), (format!("\"sha256:{hex}\""), "W/\"1_2__\"".into()));
        for (list, in_list, strongly) in [
            (strong.to_string(), true, true),
            (format!("\"a\", {strong},W/\"b\""), true, true),
            (format!("W/{strong}"), true, false),
            ("*".into(), true, false),
            ("\"a\"".into(), false, false),
            (String::new(), false, false),
        ] {
            assert_eq!((strong.is_in(&list), strong.is_strongly_in(&list)), (in_list, strongly), "{list}");
        }
        assert!(weak.is_in(&weak.to_string()) && !weak.is_strongly_in(&weak.to_string()));
        assert!(!weak.is_strongly_in("\"1_2__\""));
    }
}
