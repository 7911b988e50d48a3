//! The path of a request, as names of files.

/// The decoded names in the path of a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// The bytes of each name: none is empty, `.` or `..`, or has a slash or NUL.
    pub names: Vec<Vec<u8>>,
    /// Whether the path ends in a slash, as that of a directory.
    pub is_folder: bool,
}

impl Names {
    /// Decodes the path of a URL (RFC 3986, 2.1).
    ///
    /// # Errors
    /// If it is not absolute, an escape is malformed, or a name could lead out of a directory: the reason.
    pub fn parse(path: &str) -> Result<Names, &'static str> {
        let path = path.strip_prefix('/').ok_or("the path does not begin with a slash")?;
        let is_folder = path.is_empty() || path.ends_with('/');
        let parts = match path {
            "" => Vec::new(),
            path => path.strip_suffix('/').unwrap_or(path).split('/').collect(),
        };
        let names = parts.into_iter().map(name).collect::<Result<_, _>>()?;
        Ok(Names { names, is_folder })
    }
}

fn name(part: &str) -> Result<Vec<u8>, &'static str> {
    let name = decoded(part).ok_or("a % in the path is not followed by two hex digits")?;
    // On Windows, these lead to other directories, drives and streams.
    let is_foreign = |byte: &u8| *byte == 0 || *byte == b'/' || (cfg!(windows) && b"\\:".contains(byte));
    match name.is_empty() || name == b"." || name == b".." || name.iter().any(is_foreign) {
        true => Err("a name in the path is empty, '.' or '..', or has a character that no name has"),
        false => Ok(name),
    }
}

fn decoded(part: &str) -> Option<Vec<u8>> {
    let (mut bytes, mut out) = (part.bytes(), Vec::with_capacity(part.len()));
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'%' => {
                let digit = |byte: u8| char::from(byte).to_digit(16);
                (digit(bytes.next()?)? * 16 + digit(bytes.next()?)?) as u8
            }
            byte => byte,
        });
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_decoded_once_and_never_lead_up() {
        let of = |path| Names::parse(path).map(|Names { names, is_folder }| (names, is_folder));
        let names = |names: &[&[u8]]| names.iter().map(|name| name.to_vec()).collect::<Vec<_>>();
        assert_eq!(of("/"), Ok((names(&[]), true)));
        assert_eq!(of("/a%20b/%C3%A9%ff"), Ok((names(&[b"a b", b"\xc3\xa9\xff"]), false)));
        assert_eq!(of("/a/"), Ok((names(&[b"a"]), true)));
        assert_eq!(of("/..%252e/...").map(|found| found.0), Ok(names(&[b"..%2e", b"..."])));
        for path in [
            "",
            "a",
            "*",
            "//",
            "//a",
            "/a//b",
            "/..",
            "/../a",
            "/a/..",
            "/%2e%2e/a",
            "/%2E./a",
            "/.",
            "/a/./b",
            "/a%2fb",
            "/a%00b",
            "/%",
            "/%4",
            "/%zz",
            "/%+4",
        ] {
            assert!(of(path).is_err(), "{path}");
        }
        assert_eq!(of("/a%5Cb").is_err(), cfg!(windows));
    }
}
