//! URLs of objects: told from paths once, and printed without their secrets.

use crate::name::{Named, Shown};
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::path::{Component, Path};

/// The schemes of URLs that are inputs.
const SCHEMES: [&str; 8] = ["s3", "gs", "az", "abfss", "hdfs", "store", "http", "https"];

/// The separators between the key of an object and its version. A key may have question marks of its own.
const VERSIONS: [&str; 3] = ["?versionId=", "?versionid=", "?generation="];

/// The replacement for a secret in a printed URL.
pub const MASK: &str = "***";

/// The last words of the names of fields that are secrets: `X-Amz-Signature`, `sig`, `access_token`.
const SECRETS: [&str; 9] =
    ["accesskeyid", "api-key", "api_key", "apikey", "credential", "password", "secret", "signature", "token"];

/// The URL of an object: `s3://`, `gs://`, `az://`, `abfss://`, `hdfs://`, `http://` or `https://`, and the rest; `store://` for a store
/// that a program has given to this process.
///
/// Its text has its secrets; whatever prints it has [masked] ones.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Url(String);

impl Url {
    /// The URL that a text is; `None` if it is a path.
    ///
    /// ```
    /// use mksum_sums::url::Url;
    ///
    /// assert!(Url::parse("s3://bucket/key").is_some());
    /// assert!(Url::parse("s3:/bucket/key").is_none());
    /// assert_eq!(Url::parse("https://me:secret@host/a").unwrap().to_string(), "https://me:***@host/a");
    /// ```
    pub fn parse(text: &str) -> Option<Url> {
        let (scheme, _) = text.split_once("://")?;
        SCHEMES.contains(&scheme).then(|| Url(text.into()))
    }

    /// The text, with its secrets.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The scheme, and what is after `://`.
    pub fn parts(&self) -> (&str, &str) {
        self.0.split_once("://").expect("the scheme was read")
    }

    fn is_web(&self) -> bool {
        is_web(self.parts().0)
    }

    /// Whether a secret of it is masked: it was printed.
    pub fn is_masked(&self) -> bool {
        secrets(&self.0).any(|secret| &self.0[secret] == MASK)
    }

    /// A name for files about it: what is after the scheme, without the user if there is a password, and without the query or
    /// fragment if a secret is in it.
    pub fn file_path(&self) -> String {
        let (scheme, rest) = self.parts();
        let start = scheme.len() + 3;
        let (authority, rest) = rest.split_at(authority_len(rest));
        let [mut user, mut fields] = [false; 2];
        secrets(&self.0).for_each(|secret| match secret.start < start + authority.len() {
            true => user = true,
            false => fields = true,
        });
        let host = authority.rsplit_once('@').filter(|_| user).map_or(authority, |(_, host)| host);
        let rest = rest.split(['?', '#']).next().filter(|_| fields).unwrap_or(rest);
        format!("{host}{rest}")
    }

    /// The URL of something below it: of an object with this key, or of a file of a web server with this path.
    #[must_use]
    pub fn join(&self, below: &Path) -> Url {
        let mut text = self.0.trim_end_matches('/').to_string();
        for part in below.components() {
            if let Component::Normal(name) = part {
                text.push('/');
                match self.is_web() {
                    true => percent_encode(name.as_encoded_bytes(), &mut text),
                    false => text += &name.to_string_lossy(),
                }
            }
        }
        Url(text).of_key()
    }

    /// The URL of the folder that the object is in, without the object's version and a web server's query.
    ///
    /// ```
    /// use mksum_sums::url::Url;
    ///
    /// let folder = |url: &str| Url::parse(url).unwrap().folder().to_string();
    /// assert_eq!(folder("https://host/a/b?x=/y#z"), "https://host/a");
    /// assert_eq!(folder("https://host"), "https://host");
    /// assert_eq!(folder("s3://bucket/a?b/c?versionId=1"), "s3://bucket/a?b");
    /// ```
    #[must_use]
    pub fn folder(&self) -> Url {
        let text = self.version().map_or(&*self.0, |(before, _)| before);
        let text = if self.is_web() { text.split(['?', '#']).next().unwrap_or(text) } else { text };
        let start = self.parts().0.len() + 3;
        let end = text[start..].rfind('/').map_or(text.len(), |at| start + at);
        Url(text[..end].into())
    }

    /// The URL of the object that has this whole key in the bucket, container or file system of `self`.
    #[must_use]
    pub fn with_key(&self, key: &str) -> Url {
        let (scheme, rest) = self.parts();
        let root = rest.split('/').next().unwrap_or_default();
        Url(format!("{scheme}://{root}/{key}")).of_key()
    }

    /// Returns this URL with all that follows as its key: an empty version is appended if the end of the key reads as a version.
    fn of_key(mut self) -> Url {
        if self.version().is_some() {
            self.0 += VERSIONS[0];
        }
        self
    }

    /// The text without the version, and the version that it names: after `?versionId=` or `?generation=`. An empty version only ends
    /// the key, which may end in what reads as a version itself.
    pub fn key_and_version(&self) -> (&str, Option<&str>) {
        match self.version() {
            Some((key, version)) => (key, Some(version).filter(|version| !version.is_empty())),
            None => (&self.0, None),
        }
    }

    fn version(&self) -> Option<(&str, &str)> {
        let has_versions = !self.is_web() && !["hdfs", "store"].contains(&self.parts().0);
        VERSIONS.iter().filter(|_| has_versions).find_map(|mark| self.0.rsplit_once(mark))
    }

    /// The key below a prefix, as a listing has it.
    pub fn below(&self, prefix: &Url) -> &str {
        let key = self.key_and_version().0;
        key.strip_prefix(prefix.0.trim_end_matches('/')).map_or(key, |below| below.trim_start_matches('/'))
    }
}

impl Named for Url {
    fn shown(&self) -> Cow<'_, [u8]> {
        match without(&self.0, secrets(&self.0)) {
            Cow::Borrowed(text) => text.as_bytes().into(),
            Cow::Owned(text) => text.into_bytes().into(),
        }
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Shown(self), f)
    }
}

impl fmt::Debug for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Shown(self), f)
    }
}

/// A text without the secrets of the URLs in it: `https://me:secret@host/a?sig=x` is `https://me:***@host/a?sig=***`.
pub fn masked(text: &str) -> Cow<'_, str> {
    let ends = |letter: char| letter.is_whitespace() || "'\"<>".contains(letter);
    // A URL ends where the next begins: after it, or in its path.
    let starts = text.match_indices("://").map(|(mark, _)| {
        let before = text[..mark].rfind(|letter: char| !letter.is_alphanumeric() && !"+-.".contains(letter));
        let start = before.map_or(0, |at| at + text[at..].chars().next().map_or(0, char::len_utf8));
        start..text[mark + 3..].find(ends).map_or(text.len(), |len| mark + 3 + len)
    });
    without(text, starts.flat_map(|url| secrets(&text[url.clone()]).map(move |secret| shifted(secret, url.start))))
}

fn shifted(range: Range<usize>, by: usize) -> Range<usize> {
    range.start + by..range.end + by
}

/// A text with masks in the place of these ranges, in whatever order they come.
fn without(text: &str, secrets: impl Iterator<Item = Range<usize>>) -> Cow<'_, str> {
    let mut secrets: Vec<_> = secrets.collect();
    secrets.sort_by_key(|secret| secret.start);
    let (mut out, mut done) = (String::new(), 0);
    for secret in secrets {
        if secret.start >= done {
            out += &text[done..secret.start];
            out += MASK;
        }
        done = done.max(secret.end);
    }
    match out.is_empty() {
        true => text.into(),
        false => (out + &text[done..]).into(),
    }
}

/// The password of a URL, and the fields of a web server's query or fragment that are secrets.
fn secrets(url: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", ""));
    let end = url.len() - rest.len() + authority_len(rest);
    let user = url[..end].rsplit_once('@').map_or("", |(user, _)| user);
    let from = url.len() - rest.len();
    let password = user.get(from..).and_then(|user| user.find(':')).map(|colon| from + colon + 1..user.len());
    let query = url[end..].find(['?', '#']).filter(|_| is_web(scheme)).map_or(url.len(), |at| end + at);
    let mut at = query;
    let fields = url[query..].split_inclusive(['?', '#', '&']).filter_map(move |field| {
        let start = at;
        at += field.len();
        let field = field.trim_end_matches(['?', '#', '&']);
        let (name, _) = field.split_once('=')?;
        let is_secret = |name: String| name == "sig" || SECRETS.iter().any(|secret| name.ends_with(secret));
        is_secret(name.to_ascii_lowercase()).then(|| start + name.len() + 1..start + field.len())
    });
    password.into_iter().chain(fields)
}

fn is_web(scheme: &str) -> bool {
    scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")
}

/// The length of the user and host at the beginning of a text.
fn authority_len(rest: &str) -> usize {
    rest.find(['/', '?', '#', '\'', '"', '<', '>']).unwrap_or(rest.len())
}

/// Appends a text as a segment of a URL's path, or as a part of its query (RFC 3986, 2.1).
pub fn percent_encode(name: &[u8], out: &mut String) {
    for &byte in name {
        match byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            true => out.push(byte.into()),
            false => *out += &format!("%{byte:02X}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn secrets_of_urls_are_not_printed() {
        for (text, expected) in [
            ("https://me:secret@host/a:b@c", "https://me:***@host/a:b@c"),
            ("a 's3://k:p@q@b' and http://u:@h?x", "a 's3://k:***@b' and http://u:***@h?x"),
            ("http://host:80/a@b", "http://host:80/a@b"),
            ("abfss://container@account/k", "abfss://container@account/k"),
            ("a:b@c", "a:b@c"),
            ("é://ü:ä@ö", "é://ü:***@ö"),
            ("://", "://"),
            (
                "at http://h/a?X-Amz-Date=1&X-Amz-Signature=2&x=3: 404",
                "at http://h/a?X-Amz-Date=1&X-Amz-Signature=***&x=3: 404",
            ),
            ("http://h/?sig=a%2Bb=#access_token=c", "http://h/?sig=***#access_token=***"),
            ("http://h/sig=1?design=2&config=3&TOKEN=4", "http://h/sig=1?design=2&config=3&TOKEN=***"),
            ("http://h/p/http://u:p@h/x?token=1", "http://h/p/http://u:***@h/x?token=***"),
            // Of a store, this is a key.
            ("s3://b/a?sig=1", "s3://b/a?sig=1"),
        ] {
            assert_eq!(masked(text), expected);
            assert_eq!(masked(expected), expected);
        }
        let shown = |text: &str| url(text).to_string();
        assert_eq!(shown("http://me:a b@h/?sig=c d"), "http://me:***@h/?sig=***");
        assert_eq!(format!("{:?}", url("http://me:secret@h/\u{202e}")), r"$'http://me:***@h/\u202e'");
        assert!(url("http://h/?sig=***").is_masked() && url("http://u:***@h/").is_masked());
        assert!(!url("http://h/?a=***").is_masked());
    }

    #[test]
    fn files_about_a_url_have_no_secret_in_their_names() {
        for (text, path) in [
            ("http://u:p@host", "host"),
            ("https://me:secret@host:80/a:b@c", "host:80/a:b@c"),
            ("https://me@host/a?b=c", "me@host/a?b=c"),
            ("https://h/a?X-Amz-Date=1&X-Amz-Signature=2", "h/a"),
            ("s3://bucket/a@b?sig=c", "bucket/a@b?sig=c"),
            ("abfss://container@account/a", "container@account/a"),
        ] {
            assert_eq!(url(text).file_path(), path);
        }
    }

    #[test]
    fn a_key_is_read_back_as_that_key() {
        let root = url("s3://b/x/y");
        for key in
            ["a", "a?versionId=1", "a?generation=1", "a?versionId=", "a?versionid=1?versionId=2", "?generation=?x"]
        {
            let url = root.with_key(key);
            assert_eq!(url.key_and_version(), (&*format!("s3://b/{key}"), None), "{url}");
            assert_eq!(root.join(Path::new(key)).key_and_version(), (&*format!("s3://b/x/y/{key}"), None));
        }
        assert_eq!(url("s3://b/a?x?versionId=v1").key_and_version(), ("s3://b/a?x", Some("v1")));
        assert_eq!(url("gs://b/a?generation=7").key_and_version(), ("gs://b/a", Some("7")));
        assert_eq!(url("hdfs://h/a?generation=7").key_and_version(), ("hdfs://h/a?generation=7", None));
        assert_eq!(root.with_key("x/y/a?versionId=1").below(&root), "a?versionId=1");
    }

    #[test]
    fn what_is_below_a_url_is_encoded_for_web_servers() {
        let below = |base: &str| url(base).join(Path::new("a/b c?é")).as_str().to_string();
        assert_eq!(below("https://host/x/"), "https://host/x/a/b%20c%3F%C3%A9");
        assert_eq!(below("s3://bucket/pre"), "s3://bucket/pre/a/b c?é");
        assert_eq!(below("gs://bucket"), "gs://bucket/a/b c?é");
    }
}
