//! Signatures within sum files: their lines are no entries.

/// The program whose signature a sum file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// PGP: a clear-signed text (RFC 9580, 7).
    Pgp,
    /// OpenBSD's signify: two lines before the list.
    Signify,
}

/// The place of a line in a sum file that may hold a signature.
#[derive(Debug, Default)]
pub(super) struct Frame {
    part: Part,
    any: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Part {
    /// Before the first line.
    #[default]
    Start,
    /// Behind the comment of signify.
    Comment,
    /// Among the lines of a list that holds none, or none before this line.
    Bare,
    /// Behind the lines of signify.
    Signify,
    /// Among the headers of PGP.
    Headers,
    /// Among the lines that PGP signed.
    Signed,
    /// Among the lines of PGP's signature.
    Signature,
    /// Behind it: what follows is not signed.
    After,
}

/// What a line is.
pub(super) enum Framed<'a> {
    /// A line of the list.
    Line(&'a [u8]),
    /// A part of a signature.
    Frame,
    /// A line that looks like one of the list, but outside of what PGP signed.
    Outside,
}

impl Frame {
    /// The signature that was seen so far.
    pub fn holds(&self) -> Option<Holds> {
        match self.part {
            Part::Start | Part::Comment | Part::Bare => None,
            Part::Signify => Some(Holds::Signify),
            Part::Headers | Part::Signed | Part::Signature | Part::After => Some(Holds::Pgp),
        }
    }

    /// What the next line is.
    pub fn next<'a>(&mut self, line: &'a [u8]) -> Framed<'a> {
        let is = |text: &str| line.trim_ascii_end() == text.as_bytes();
        let (part, framed) = match self.part {
            Part::Start if line.starts_with(b"untrusted comment:") => (Part::Comment, Framed::Frame),
            Part::Comment if line.len() == 100 && line.ends_with(b"=") && line.starts_with(b"RW") => {
                (Part::Signify, Framed::Frame)
            }
            Part::Start | Part::Comment | Part::Bare if is("-----BEGIN PGP SIGNED MESSAGE-----") => {
                // Lines before it are not signed, whatever gpg says of the rest.
                (Part::Headers, if self.any { Framed::Outside } else { Framed::Frame })
            }
            Part::Start | Part::Comment | Part::Bare => {
                self.any |= !line.trim_ascii().is_empty();
                (Part::Bare, Framed::Line(line))
            }
            Part::Signify => (Part::Signify, Framed::Line(line)),
            Part::Headers if line.trim_ascii().is_empty() => (Part::Signed, Framed::Frame),
            Part::Headers => (Part::Headers, Framed::Frame),
            Part::Signed if is("-----BEGIN PGP SIGNATURE-----") => (Part::Signature, Framed::Frame),
            // Lines that begin with a dash are escaped.
            Part::Signed => (Part::Signed, Framed::Line(line.strip_prefix(b"- ").unwrap_or(line))),
            Part::Signature if is("-----END PGP SIGNATURE-----") => (Part::After, Framed::Frame),
            Part::Signature => (Part::Signature, Framed::Frame),
            Part::After if line.trim_ascii().is_empty() => (Part::After, Framed::Frame),
            Part::After => (Part::After, Framed::Outside),
        };
        self.part = part;
        framed
    }
}
