//! A directory's page.

use mksum_sums::url::percent_encode;

/// An entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The bytes of its name.
    pub name: Vec<u8>,
    /// The length of a file, in bytes; `None` of a directory.
    pub len: Option<u64>,
}

impl Item {
    /// The entries that a page has at most: the page is made in memory.
    pub const MOST: usize = 10_000;
}

/// The page with the entries of the directory that a URL's path names.
pub fn page(path: &[Vec<u8>], items: &[Item]) -> String {
    let place: String = path.iter().map(|name| format!("/{}", text(name))).collect();
    let mut page = format!(
        "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>Index of {place}/</title></head><body>\n<h1>Index of \
         {place}/</h1>\n<ul>\n"
    );
    if !path.is_empty() {
        page += "<li><a href=\"../\">../</a></li>\n";
    }
    for Item { name, len } in items {
        let mut link = String::new();
        percent_encode(name, &mut link);
        let (slash, len) = match len {
            Some(len) => ("", format!(" {len}")),
            None => ("/", String::new()),
        };
        page += &format!("<li><a href=\"{link}{slash}\">{}{slash}</a>{len}</li>\n", text(name));
    }
    page += "</ul>\n";
    if items.len() == Item::MOST {
        page += &format!("<p>Only {} entries are listed.</p>\n", Item::MOST);
    }
    page + "</body></html>\n"
}

/// A name as text, which no browser takes for markup.
fn text(name: &[u8]) -> String {
    let mut out = String::new();
    for letter in String::from_utf8_lossy(name).chars() {
        match letter {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            letter if letter.is_control() => out.push('\u{fffd}'),
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_never_markup() {
        let item = |name: &[u8], len| Item { name: name.into(), len };
        let items = [item(b"\"><script>", Some(3)), item(b"javascript:x", None), item(b"a b\xff&\n", Some(0))];
        let page = page(&[b"<b>".to_vec()], &items);
        assert!(page.contains("<title>Index of /&lt;b&gt;/</title>"), "{page}");
        assert!(page.contains("<a href=\"%22%3E%3Cscript%3E\">&quot;&gt;&lt;script&gt;</a> 3<"), "{page}");
        assert!(page.contains("<a href=\"javascript%3Ax/\">javascript:x/</a><"), "{page}");
        assert!(page.contains("<a href=\"a%20b%FF%26%0A\">a b\u{fffd}&amp;\u{fffd}</a> 0<"), "{page}");
    }
}
