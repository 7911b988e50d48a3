//! `mksum join`: the root of subtrees whose digests were computed apart.

use crate::args::Join;
use crate::exit::{Exit, usage};
use crate::tool::Tool;
use base64ct::{Base64, Encoding};
use mksum::{Format, NodeHash, Role, Root, Shape, Spec, Subtree, Subtrees, Visitor};
use mksum_cli::name::Shown;
use mksum_cli::sum::{self, Style};
use mksum_io::reason;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// Prints the root.
pub fn run(tool: &Tool, args: &Join) -> Exit {
    let [choice] = &tool.formats[..] else { return usage(&"digests are joined in one --format") };
    let path = args.file.as_deref().unwrap_or(Path::new("-"));
    match joined(path, choice.spec()) {
        Ok((root, count)) if args.json => {
            let format = root.spec().to_string();
            let record = Record { format, length: root.len(), root: root.to_string(), subtrees: count };
            let mut line = serde_json::to_vec(&record).expect("strings and numbers");
            line.push(b'\n');
            tool.console.print(&line);
        }
        Ok((root, _)) => {
            let format = root.spec().to_string();
            tool.console.print(&sum::line(Style::Tagged, tool.end, &format, b"-", &root.to_string()));
        }
        Err((Some(number), reason)) => {
            tool.console.fail();
            tool.console.tell(&format_args!("{}: {number}: {reason}", Shown(path)));
        }
        Err((None, reason)) => tool.console.error(path, &reason),
    }
    tool.console.exit()
}

#[derive(Serialize)]
struct Record {
    format: String,
    length: u64,
    root: String,
    subtrees: u64,
}

/// A line as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    offset: u64,
    length: u64,
    digest: String,
    /// Above the leaves, where a ragged edge has several nodes over the same bytes; the lowest if it is left out.
    level: Option<u32>,
}

/// A subtree that was computed apart.
struct Entry {
    /// The line that tells it, from 1.
    number: u64,
    node: Subtree,
    digest: Vec<u8>,
}

/// Why there is no root, and the number of the line that is to blame, if one is.
type Refusal = (Option<u64>, String);

/// The longest line that is read, in bytes.
const LONGEST: u64 = 4096;

fn joined(path: &Path, spec: &Spec) -> Result<(Root, u64), Refusal> {
    let mut entries = read(path, spec)?;
    if entries.is_empty() {
        return Err((None, "there is no subtree in it".into()));
    }
    entries.sort_by_key(|entry| (entry.node.start, entry.number));
    let mut end = 0;
    for entry in &entries {
        let (start, number) = (entry.node.start, Some(entry.number));
        if start > end {
            return Err((number, format!("nobody has the bytes {end}..{start} before it")));
        }
        if start < end {
            return Err((number, format!("it overlaps what lies before it: bytes {start}..{end} are there twice")));
        }
        end = entry.node.end();
    }
    let known = Known { by_node: entries.iter().map(|entry| (entry.node, &entry.digest[..])).collect() };
    match spec.visit(Whole(&known, end)) {
        Ok(digest) => Ok((spec.sealed(end, digest), entries.len() as u64)),
        // What is asked for and not there lies under the subtree that is not one.
        Err(mksum::Error::Missing(node)) => {
            let at = entries.partition_point(|entry| entry.node.start <= node.start).saturating_sub(1);
            let Entry { number, node, .. } = &entries[at];
            let reason = format!(
                "bytes {}..{} are no subtree of an input of {end} bytes in {spec}: {}",
                node.start,
                node.end(),
                borders(spec.shape())
            );
            Err((Some(*number), reason))
        }
        Err(error) => Err((None, format!("{spec}: {error}"))),
    }
}

/// What the borders of subtrees are.
fn borders(shape: Shape) -> String {
    match shape {
        Shape::Even { leaf, arity, .. } => {
            format!(
                "it must have {leaf} bytes times a power of {arity}, and begin at a multiple of that; only the last may be shorter"
            )
        }
        Shape::Flat { leaf } => format!("it must be a leaf of {leaf} bytes; only the last may be shorter"),
        Shape::Halved { .. } => "the input is halved until a piece is short enough".into(),
    }
}

fn read(path: &Path, spec: &Spec) -> Result<Vec<Entry>, Refusal> {
    let fail = |error: io::Error| (None, reason(&error));
    let reader: Box<dyn Read> = match path.as_os_str() == "-" {
        true => Box::new(io::stdin()),
        false => Box::new(File::open(path).map_err(fail)?),
    };
    let (mut reader, mut entries, mut number, mut line) = (BufReader::new(reader), Vec::new(), 0, Vec::new());
    loop {
        line.clear();
        let len = reader.by_ref().take(LONGEST).read_until(b'\n', &mut line).map_err(fail)?;
        if len == 0 {
            return Ok(entries);
        }
        number += 1;
        if len as u64 == LONGEST && !line.ends_with(b"\n") {
            return Err((Some(number), format!("the line is longer than {LONGEST} bytes")));
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let Line { offset, length, digest, level } =
            serde_json::from_slice(&line).map_err(|error| (Some(number), said(&error)))?;
        let size = spec.hash().size();
        // S3 tells digests in base64.
        let decoded = match digest.len() {
            hex if hex == 2 * size => base16ct::mixed::decode_vec(&digest).ok(),
            _ => Base64::decode_vec(&digest).ok(),
        };
        let digest = decoded.filter(|digest| digest.len() == size).ok_or_else(|| {
            let (name, shown) = (spec.hash().name(), digest.chars().take(80).collect::<String>());
            (Some(number), format!("'{shown}' is no digest of {name}: expected {} hex digits", 2 * size))
        })?;
        if length == 0 || offset.checked_add(length).is_none_or(|end| end > mksum::MAX_LEN) {
            return Err((
                Some(number),
                format!("{length} bytes at {offset} are no subtree: there must be 1 to 2^63 in all"),
            ));
        }
        let shape = spec.shape();
        let lowest = match shape {
            Shape::Flat { .. } => 0,
            Shape::Halved { longest } if length <= longest => 0,
            _ => shape.root(length).level,
        };
        let node = Subtree { start: offset, len: length, level: level.unwrap_or(lowest) };
        entries.push(Entry { number, node, digest });
    }
}

/// A JSON error without its place: a line is all there is.
fn said(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.split(" at line ").next().unwrap_or_default();
    format!("not an object with \"offset\", \"length\" and \"digest\": {text}")
}

/// Digests that somebody computed.
struct Known<'a> {
    by_node: BTreeMap<Subtree, &'a [u8]>,
}

impl<const N: usize, H: NodeHash<Digest = [u8; N]>> Subtrees<H> for Known<'_> {
    fn digest(&self, format: &Format<H>, node: Subtree, role: Role) -> Result<Option<[u8; N]>, mksum::Error> {
        // A part that is all of an input is its root, unless roots are marked.
        let known = self.by_node.get(&node).filter(|_| role == Role::Inner || !format.nodes.marks_root());
        Ok(known.map(|digest| (*digest).try_into().expect("its length was checked")))
    }
}

struct Whole<'a>(&'a Known<'a>, u64);

impl Visitor for Whole<'_> {
    type Output = Result<Vec<u8>, mksum::Error>;

    fn visit<const N: usize, H: NodeHash<Digest = [u8; N]>>(self, format: &Format<H>) -> Self::Output {
        Ok(format.root(self.0, self.1)?.into())
    }
}
