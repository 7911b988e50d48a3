//! Links that a web server has for an object, in its headers (RFC 8288).

use mksum_io::{Link, Url};

/// The links in the values of `Link` headers, whose targets are relative to `base`. What is malformed is left out, and so is a target that is
/// not on a web server, or without TLS where the object has it.
pub fn links(base: &Url, text: &str) -> Vec<Link> {
    let Ok(base) = url::Url::parse(base.as_str()) else { return Vec::new() };
    let (mut found, mut rest) = (Vec::new(), text);
    while let Some((target, after)) = rest.split_once('<').and_then(|(_, after)| after.split_once('>')) {
        let parameters;
        (parameters, rest) = of_one(after);
        let value = |wanted: &str| parameters.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.clone());
        let target = base.join(target.trim()).ok().filter(|target| match target.scheme() {
            "https" => true,
            "http" => base.scheme() == "http",
            _ => false,
        });
        let url = target.and_then(|target| Url::parse(target.as_str()));
        // An anchor has it be a link of something else (RFC 8288, 3.2).
        if let (Some(url), Some(relations), None) = (url, value("rel"), value("anchor")) {
            let relations = relations.split_ascii_whitespace().map(str::to_ascii_lowercase).collect();
            found.push(Link { url, relations, media_type: value("type").map(|value| value.to_ascii_lowercase()) });
        }
    }
    found
}

/// The parameters of one link, with names in lower case, and the text after it.
fn of_one(text: &str) -> (Vec<(String, String)>, &str) {
    let (mut parameters, mut rest) = (Vec::new(), text);
    loop {
        rest = rest.trim_start();
        let Some(after) = rest.strip_prefix(';') else { return (parameters, rest) };
        let end = after.find(['=', ';', ',']).unwrap_or(after.len());
        let name = after[..end].trim().to_ascii_lowercase();
        let mut value = String::new();
        rest = &after[end..];
        if let Some(after) = rest.strip_prefix('=') {
            let after = after.trim_start();
            rest = match after.strip_prefix('"') {
                Some(quoted) => {
                    let mut characters = quoted.char_indices();
                    loop {
                        match characters.next() {
                            None => break "",
                            Some((at, '"')) => break &quoted[at + 1..],
                            Some((_, '\\')) => value.extend(characters.next().map(|(_, character)| character)),
                            Some((_, character)) => value.push(character),
                        }
                    }
                }
                None => {
                    let end = after.find([';', ',']).unwrap_or(after.len());
                    value = after[..end].trim().into();
                    &after[end..]
                }
            };
        }
        // The first of a name counts.
        if !parameters.iter().any(|(known, _)| *known == name) {
            parameters.push((name, value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(base: &str, text: &str) -> Vec<(String, String, Option<String>)> {
        let found = links(&Url::parse(base).unwrap(), text);
        found.into_iter().map(|link| (link.url.as_str().into(), link.relations.join(" "), link.media_type)).collect()
    }

    #[test]
    fn links_are_read_as_servers_write_them() {
        let text = concat!(
            r#"<a.meta4>; rel=describedby; type="application/metalink4+xml", "#,
            r#"<https://m.example/b>;REL="duplicate Other";pri=1;geo=de , <//n.example/c?x=1,2>; title="a \", <b>; \\"; rel=duplicate"#
        );
        let found = read("https://h.example/pub/a", text);
        let kind = Some("application/metalink4+xml".to_string());
        assert_eq!(
            found,
            [
                ("https://h.example/pub/a.meta4".into(), "describedby".into(), kind),
                ("https://m.example/b".into(), "duplicate other".into(), None),
                ("https://n.example/c?x=1,2".into(), "duplicate".into(), None),
            ]
        );
        // Without TLS only where the object is without it; never elsewhere than on web servers, and nothing about another object.
        let targets = "<http://m/a>;rel=a, <file:///etc/passwd>;rel=a, <s3://b/k>;rel=a, <x>;rel=a;anchor=\"#b\", <y>";
        assert_eq!(read("https://h/a", targets), []);
        assert_eq!(read("http://h/a", targets), [("http://m/a".into(), "a".into(), None)]);
        for wrong in [
            "",
            "a",
            "<",
            "<a",
            "<a>",
            "<a>;",
            "<a>;rel",
            "<a>;rel=\"",
            "<a>;rel=\"b\\",
            "<http://[>;rel=a",
            "<>;=;=,;\u{e9}",
        ] {
            assert!(read("https://h/a", wrong).iter().all(|(_, relations, _)| relations.len() < 2), "{wrong}");
        }
    }
}
