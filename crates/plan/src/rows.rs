//! The rows of plans and ledgers: one JSON object each.

use crate::error::{RowError, SCHEMA};
use base64ct::{Base64, Encoding};
use crc_fast::CrcAlgorithm;
use mksum::outboard::KeptLayout;
use mksum::{Digest, Hash, Spec, Subtree};
use mksum_io::Input;
use mksum_sums::name::{self, Shown};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::ops::Range;

/// The kept digests of one part at most, in bytes.
const MOST_KEPT: u64 = 4 << 20;

/// A part of an input, planned or hashed. Its texts are those of the line: a copy of each would cost as much as reading them.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Row<'a> {
    /// `range` in a plan, `digest` in a ledger.
    pub kind: Kind,
    /// The version of the schema.
    pub schema: u32,
    /// The path of the input, with U+FFFD in the place of bytes that are not UTF-8.
    #[serde(borrow)]
    pub path: Cow<'a, str>,
    /// The path's exact bytes in base64, if they are not UTF-8.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub path_base64: Option<Text<'a>>,
    /// The version of the input: an ETag, an mtime.
    #[serde(borrow)]
    pub version: Cow<'a, str>,
    /// The length of the input, in bytes.
    pub size: u64,
    /// The format, as text.
    #[serde(borrow)]
    pub format: Cow<'a, str>,
    /// The first byte of the part.
    pub offset: u64,
    /// The length of the part, in bytes.
    pub length: u64,
    /// The levels of the part above the leaves.
    pub level: u32,
    /// If outboards are wanted: the longest that a kept subtree is, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<u64>,
    /// In a plan: the number of its task, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<u64>,
    /// In a ledger: the digest, in hex.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Text<'a>>,
    /// In a ledger: the digests of the kept subtrees in the part, in base64, where they are more than `digest` says.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub units: Option<Text<'a>>,
    /// In a ledger: the [check](Row::checksum) of the other fields.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub crc32: Option<Text<'a>>,
}

/// A text of a line: `serde` borrows it within an `Option` only as a type of its own.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq, Hash)]
pub struct Text<'a>(#[serde(borrow)] pub Cow<'a, str>);

impl Text<'_> {
    pub(crate) fn into_owned(self) -> Text<'static> {
        Text(Cow::Owned(self.0.into_owned()))
    }
}

impl From<String> for Text<'_> {
    fn from(text: String) -> Self {
        Text(text.into())
    }
}

/// The last row of a plan.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct End {
    /// [`Kind::End`].
    pub kind: Kind,
    /// The version of the schema.
    pub schema: u32,
    /// The number of rows before it.
    pub rows: u64,
    /// The number of inputs.
    pub objects: u64,
    /// The bytes of all inputs.
    pub bytes: u64,
    /// The number of tasks.
    pub tasks: u64,
}

/// What a row is.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A part to be hashed.
    Range,
    /// A part that was hashed.
    Digest,
    /// The end of a plan.
    End,
}

impl<'a> Row<'a> {
    /// A part of the input at `path`, to be hashed.
    pub fn new(path: &'a Input, (version, size): (&'a str, u64), spec: &Spec, node: Subtree) -> Row<'a> {
        let path = path.as_os_str();
        let base64 = || Base64::encode_string(path.as_encoded_bytes()).into();
        Row {
            kind: Kind::Range,
            schema: SCHEMA,
            // With its secrets, if it is a URL that has some: the maps must open it.
            path: path.to_string_lossy(),
            path_base64: path.to_str().is_none().then(base64),
            version: version.into(),
            size,
            format: spec.to_string().into(),
            offset: node.start,
            length: node.len,
            level: node.level,
            unit: None,
            task: None,
            digest: None,
            units: None,
            crc32: None,
        }
    }

    /// The row of another part of the same input.
    pub(crate) fn with_part(&self, node: Subtree) -> Row<'a> {
        Row { offset: node.start, length: node.len, level: node.level, ..self.clone() }
    }

    /// The same, hashed: with the digests of its units, if it [has](Row::has_units) any, and its check.
    pub fn hashed(&self, digest: &Digest, units: &[u8]) -> Row<'a> {
        let units = (!units.is_empty()).then(|| Base64::encode_string(units).into());
        let digest = Some(digest.to_string().into());
        let row = Row { kind: Kind::Digest, task: None, digest, units, crc32: None, ..self.clone() };
        Row { crc32: Some(row.checksum().into()), ..row }
    }

    /// The check of a row of a ledger: a CRC-32 of its fields in hex, as `spec/plan.md` says.
    pub fn checksum(&self) -> String {
        let text = |text: &Option<Text<'a>>| text.as_ref().map_or("", |text| &text.0).to_owned();
        let number = |number: Option<u64>| number.map_or_else(String::new, |number| number.to_string());
        let Row { schema, path, version, size, format, offset, length, level, .. } = self;
        let [path_base64, digest, units] = [&self.path_base64, &self.digest, &self.units].map(text);
        let unit = number(self.unit);
        let input = format!("{path}\n{path_base64}\n{version}\n{size}\n{format}\n");
        let fields = format!("digest\n{schema}\n{input}{offset}\n{length}\n{level}\n{unit}\n{digest}\n{units}\n");
        format!("{:08x}", crc_fast::checksum(CrcAlgorithm::Crc32IsoHdlc, fields.as_bytes()))
    }

    /// Refuses a row whose numbers make no sense; of a ledger, one whose fields have another check than it says, or that has none.
    ///
    /// # Errors
    /// If so: [`RowError::Schema`], [`RowError::Outside`], [`RowError::Unchecked`] and [`RowError::Damaged`].
    pub fn check(&self) -> Result<(), RowError> {
        if self.schema != SCHEMA {
            return Err(RowError::Schema(self.schema));
        }
        match (&self.crc32, &self.digest) {
            (None, None) if self.kind != Kind::Digest => {}
            (None, _) => return Err(RowError::Unchecked(self.range())),
            (Some(found), _) => {
                let expected = self.checksum();
                if found.0 != expected {
                    let found = found.0.escape_debug().take(64).collect();
                    return Err(RowError::Damaged { range: self.range(), found, expected });
                }
            }
        }
        let end = self.offset.checked_add(self.length);
        let within = end.is_some_and(|end| end <= self.size) && self.size <= mksum::MAX_LEN && self.level <= 64;
        match within && (self.length > 0 || self.size == 0) {
            true => Ok(()),
            false => Err(RowError::Outside { range: self.range(), size: self.size }),
        }
    }

    /// The same, without its line.
    pub fn into_owned(self) -> Row<'static> {
        Row {
            path: Cow::Owned(self.path.into_owned()),
            path_base64: self.path_base64.map(Text::into_owned),
            version: Cow::Owned(self.version.into_owned()),
            format: Cow::Owned(self.format.into_owned()),
            digest: self.digest.map(Text::into_owned),
            units: self.units.map(Text::into_owned),
            crc32: self.crc32.map(Text::into_owned),
            ..self
        }
    }

    /// Where its input is; `None` if no file of this system can have this path.
    pub fn path(&self) -> Option<Input> {
        match &self.path_base64 {
            None => Some(Input::place(&*self.path)),
            Some(text) => name::path(&Base64::decode_vec(&text.0).ok()?).map(Input::place),
        }
    }

    /// The path for messages: without passwords, and harmless to a terminal.
    pub fn name(&self) -> String {
        self.path().map_or_else(|| "?".into(), |path| Shown(&path).to_string())
    }

    /// The format.
    ///
    /// # Errors
    /// If it is unknown.
    pub fn spec(&self) -> Result<Spec, RowError> {
        Ok(self.format.parse()?)
    }

    /// The part of the tree.
    pub fn node(&self) -> Subtree {
        Subtree { start: self.offset, len: self.length, level: self.level }
    }

    /// The bytes of the part, half-open.
    pub fn range(&self) -> Range<u64> {
        self.offset..self.offset.saturating_add(self.length)
    }

    /// Whether it is all of its input: then its digest is the root's.
    pub fn is_whole(&self) -> bool {
        self.offset == 0 && self.length == self.size
    }

    /// The nodes of its input that an outboard keeps; `None` if no outboard is wanted.
    ///
    /// # Errors
    /// If the tree has no such part or units, or the part too many.
    pub fn layout(&self, spec: &Spec) -> Result<Option<KeptLayout>, RowError> {
        let Some(unit) = self.unit else { return Ok(None) };
        if self.size > 0 {
            // Only of nodes of the tree it is known what is below them, and the row may have come from anywhere.
            self.check_part(spec)?;
        }
        let layout = KeptLayout::new(spec.shape(), self.size, unit).ok_or(RowError::Unit(unit))?;
        let kept = self.kept_node(spec).map_or(0, |node| layout.under(node));
        if self.has_units(spec) && kept.saturating_mul(spec.hash().size() as u64) > MOST_KEPT {
            return Err(RowError::TooManyKept { range: self.range(), kept, unit });
        }
        Ok(Some(layout))
    }

    /// Whether its units say more than its digest: if it is longer than one, or is an input whose root is not the digest of a unit.
    pub fn has_units(&self, spec: &Spec) -> bool {
        let Some(unit) = self.unit else { return false };
        let is_more = || {
            let several = KeptLayout::new(spec.shape(), self.size, unit).is_some_and(|layout| layout.count() > 1);
            let top = Digest::new(&[0; Hash::MAX_SIZE][..spec.hash().size()]);
            several || spec.seal(top, self.size).digest() != top
        };
        self.length > unit || (self.is_whole() && self.length > 0 && is_more())
    }

    /// The node that it is of the tree of its input; `None` of an empty input.
    pub fn kept_node(&self, spec: &Spec) -> Option<Subtree> {
        match self.is_whole() {
            true => (self.size > 0).then(|| spec.shape().root(self.size)),
            false => Some(self.node()),
        }
    }

    /// The digest of a row of a ledger.
    ///
    /// # Errors
    /// If it is not 1 to 64 bytes in hex.
    pub fn digest(&self) -> Result<Digest, RowError> {
        let mut bytes = [0; Hash::MAX_SIZE];
        let hex = self.digest.as_ref().map_or("", |digest| &digest.0);
        let digest = base16ct::lower::decode(hex, &mut bytes).ok().filter(|digest| !digest.is_empty());
        digest.map(Digest::new).ok_or(RowError::Digest)
    }

    /// The digests of its units, one after the other.
    ///
    /// # Errors
    /// If they are not base64.
    pub fn units(&self) -> Result<Vec<u8>, RowError> {
        let text = self.units.as_ref().map_or("", |units| &units.0);
        Base64::decode_vec(text).map_err(|_| RowError::Units)
    }

    /// Refuses a part that the tree of its input does not have.
    ///
    /// # Errors
    /// If so: [`RowError::Part`].
    pub fn check_part(&self, spec: &Spec) -> Result<(), RowError> {
        match spec.has_part(self.size, self.node()) {
            true => Ok(()),
            false => Err(RowError::Part { range: self.range(), size: self.size, spec: spec.clone() }),
        }
    }

    /// The line, with its end.
    pub fn line(&self) -> Vec<u8> {
        line(self)
    }
}

impl End {
    /// The line, with its end.
    pub fn line(&self) -> Vec<u8> {
        line(self)
    }
}

fn line(fields: &impl Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(fields).expect("strings and numbers");
    line.push(b'\n');
    line
}
