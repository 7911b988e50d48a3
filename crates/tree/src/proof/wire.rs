//! A proof as bytes: `spec/proofs.md`.

use super::{Claim, Proof, ProofError};
use crate::{Digests, Spec};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

impl Proof {
    /// The first bytes of every proof.
    pub const MAGIC: [u8; 8] = *b"mksumprf";
    /// The version that is written, and the only one that is read.
    pub const VERSION: u8 = 1;

    /// The proof as it is sent.
    pub fn to_bytes(&self) -> Vec<u8> {
        let format = self.spec.to_string();
        let (kind, part) = (u8::from(matches!(self.claim, Claim::Consistency(_))), self.claim.bytes());
        let mut bytes = Self::MAGIC.to_vec();
        bytes.extend([Self::VERSION, kind]);
        bytes.extend((format.len() as u16).to_le_bytes());
        bytes.extend(format.as_bytes());
        for number in [self.len, part.start, part.end] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(self.digests.as_bytes());
        bytes.extend(&self.edges);
        bytes
    }

    /// The bytes of a proof before its digests, without the format's name.
    const HEAD: u64 = 36;

    /// The number of bytes of a proof of `claim` about an input of `len` bytes: it is known before anything is hashed.
    ///
    /// # Errors
    /// As [`Claim::cut`].
    pub fn encoded_len(spec: &Spec, len: u64, claim: &Claim) -> Result<u64, ProofError> {
        let cut = claim.cut(spec, len)?;
        let edges: u64 = cut.edges().iter().map(|edge| edge.end - edge.start).sum();
        let sent = cut.pieces(usize::MAX).map_or(usize::MAX, |pieces| pieces.sent.len()) as u64;
        let digests = sent.saturating_mul(spec.hash().size() as u64);
        Ok((Self::HEAD + spec.to_string().len() as u64 + edges).saturating_add(digests))
    }

    /// Reads a proof: the whole of `bytes`, and nothing but what [`Proof::to_bytes`] writes.
    ///
    /// Takes time and memory for as many digests as there are bytes, whatever the header says.
    ///
    /// # Errors
    /// If the bytes are no proof, one digest or byte more or less than its header asks for, or its claim makes no sense.
    pub fn parse(bytes: &[u8]) -> Result<Proof, ProofError> {
        let mut rest = Reader { bytes, offset: 0 };
        let magic = rest.take(8, "the eight bytes 'mksumprf'")?;
        if magic != Self::MAGIC {
            return rest.refuse(8, "the eight bytes 'mksumprf'", format!("{}", magic.escape_ascii()));
        }
        let version = rest.take(1, "a version")?[0];
        if version != Self::VERSION {
            return rest.refuse(1, "version 1", format!("version {version}"));
        }
        let kind = rest.take(1, "a kind of proof")?[0];
        if kind > 1 {
            return rest.refuse(1, "0 (a range) or 1 (consistency)", kind.to_string());
        }
        let len = rest.take(2, "the length of a format's name")?;
        let len = u16::from_le_bytes([len[0], len[1]]).into();
        let name = rest.take(len, "a format's name")?;
        let spec = core::str::from_utf8(name).ok().and_then(|name| Some((name, name.parse::<Spec>().ok()?)));
        let spec = match spec {
            Some((name, spec)) if spec.to_string() == name => spec,
            _ => {
                let found = name[..name.len().min(80)].escape_ascii().to_string();
                return rest.refuse(len, "a format's name in its canonical form", found);
            }
        };
        let (len, start, end) = (rest.number("a length")?, rest.number("a start")?, rest.number("an end")?);
        if kind == 1 && start != 0 {
            return rest.refuse(16, "0, the start of every older input", start.to_string());
        }
        let claim = if kind == 0 { Claim::Range(start..end) } else { Claim::Consistency(end) };
        let cut = claim.cut(&spec, len)?;
        let (rest, size) = (&bytes[rest.offset..], spec.hash().size());
        let expected = cut.edges().iter().map(|edge| edge.end - edge.start).sum();
        let found = (rest.len() / size) as u64;
        let sent = cut.pieces(rest.len() / size).map_err(|_| ProofError::Count { expected: None, found })?.sent.len();
        let (digests, edges) = rest.split_at(sent * size);
        if edges.len() as u64 != expected {
            let offset = (bytes.len() - edges.len()) as u64;
            let expected = format!("{expected} bytes after {sent} digests of {size}");
            return Err(ProofError::Malformed { offset, expected, found: format!("{} bytes", edges.len()) });
        }
        Ok(Proof { spec, len, claim, digests: Digests::from_bytes(size, digests.into()), edges: edges.into() })
    }
}

/// Bytes that are read from the front.
struct Reader<'a> {
    bytes: &'a [u8],
    offset: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, len: usize, expected: &str) -> Result<&'a [u8], ProofError> {
        let Some(taken) = self.bytes[self.offset..].get(..len) else {
            let found = format!("the end, {} bytes on", self.bytes.len() - self.offset);
            return self.refuse(0, expected, found);
        };
        self.offset += len;
        Ok(taken)
    }

    fn number(&mut self, expected: &str) -> Result<u64, ProofError> {
        Ok(u64::from_le_bytes(self.take(8, expected)?.try_into().expect("eight bytes")))
    }

    /// Refuses what was taken `back` bytes before.
    fn refuse<T>(&self, back: usize, expected: &str, found: String) -> Result<T, ProofError> {
        Err(ProofError::Malformed { offset: (self.offset - back) as u64, expected: expected.into(), found })
    }
}
