//! `mksum join`: the root of subtrees that were hashed elsewhere, or of directories that were kept elsewhere.

use crate::args::Join;
use crate::directory;
use crate::exit::{Ended, refuse};
use crate::json;
use crate::plan;
use crate::tool::Tool;
use crate::walk;
use base64ct::{Base64, Encoding};
use mksum::{ByOffset, Digest, Role, Root, Shape, Spec, Subtree, Subtrees};
use mksum_cli::sum::{self, Style};
use mksum_io::{Input, reason};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read};

/// Prints the root.
pub fn run(tool: &Tool, args: &Join) -> Ended {
    tool.console.use_json(args.json);
    if tool.formats.iter().any(|choice| choice.directory().is_some()) {
        return directory::join(tool, args);
    }
    if let Some(plan) = &args.plan {
        return plan::join::run(tool, args, plan);
    }
    if args.files.len() > 1 {
        return refuse(&"without --plan, one FILE has all digests; -f dir joins catalogues of directories");
    }
    let [choice] = &tool.formats[..] else { return refuse(&"digests are joined in one --format") };
    if let Err(reason) = choice.spec().supports(ByOffset::Parts) {
        return refuse(&reason);
    }
    let path = args.files.first().unwrap_or(&Input::Stdin);
    match joined(path, choice.spec()) {
        Ok((root, count)) if args.json => {
            tool.console.print_json(path, json::Root { subtrees: Some(count), ..json::Root::new(&root) });
        }
        Ok((root, _)) => {
            let tag = root.spec().tag();
            tool.console.print(&sum::line(Style::Tagged, tool.end, &tag, b"-", &root.to_string()));
        }
        Err((Some(number), reason)) => {
            tool.console.error(path, &format_args!("{number}: {reason}"));
        }
        Err((None, reason)) => tool.console.error(path, &reason),
    }
    Ok(tool.console.exit())
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

/// A subtree that was hashed elsewhere.
struct Entry {
    /// The number of its line, from 1.
    number: u64,
    node: Subtree,
    digest: Digest,
}

/// Why there is no root, and the number of the wrong line, if it is one line.
type Refusal = (Option<u64>, String);

/// The longest line that is read, in bytes.
const LONGEST: u64 = 4096;

/// What a line is.
const WANTED: &str = "an object with \"offset\", \"length\" and \"digest\"";

fn joined(path: &Input, spec: &Spec) -> Result<(Root, u64), Refusal> {
    let mut entries = read(path, spec)?;
    if entries.is_empty() {
        return Err((None, "there are no subtrees in it".into()));
    }
    entries.sort_by_key(|entry| (entry.node.start, entry.number));
    let mut end = 0;
    for entry in &entries {
        let (start, number) = (entry.node.start, Some(entry.number));
        if start > end {
            return Err((number, format!("bytes {end}..{start} before it are missing")));
        }
        if start < end {
            return Err((number, format!("it overlaps the subtree before it: both have bytes {start}..{end}")));
        }
        end = entry.node.end();
    }
    let known = Known { by_node: entries.iter().map(|entry| (entry.node, entry.digest)).collect() };
    match spec.root_from(&known, end) {
        Ok(root) => Ok((root, entries.len() as u64)),
        // A missing node lies under an entry that is not a subtree.
        Err(mksum::Error::Missing(node)) => {
            let at = entries.partition_point(|entry| entry.node.start <= node.start).saturating_sub(1);
            let Entry { number, node, .. } = &entries[at];
            let reason = format!(
                "bytes {}..{} are not a subtree of an input of {end} bytes in {spec}: {}",
                node.start,
                node.end(),
                borders(spec.shape())
            );
            Err((Some(*number), reason))
        }
        Err(error) => Err((None, format!("{spec}: {error}"))),
    }
}

/// The rule for the borders of subtrees, as words.
fn borders(shape: Shape) -> String {
    match shape {
        Shape::Even { leaf, arity, .. } => {
            format!(
                "it must have {leaf} bytes times a power of {arity}, and begin at a multiple of that; only the last may be shorter"
            )
        }
        Shape::Flat { leaf } => format!("it must be a leaf of {leaf} bytes; only the last may be shorter"),
        Shape::Halved { .. } => "this format halves the input until the pieces are short enough".into(),
    }
}

fn read(path: &Input, spec: &Spec) -> Result<Vec<Entry>, Refusal> {
    let fail = |error: io::Error| (None, reason(&error));
    let reader = walk::open(path).map_err(fail)?;
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
        let Line { offset, length, digest, level } = serde_json::from_slice(&line)
            .map_err(|error| (Some(number), mksum_plan::refusal(&line, WANTED, &error)))?;
        let size = spec.hash().size();
        // S3 writes digests in base64.
        let decoded = match digest.len() {
            hex if hex == 2 * size => base16ct::mixed::decode_vec(&digest).ok(),
            _ => Base64::decode_vec(&digest).ok(),
        };
        let digest = decoded.filter(|digest| digest.len() == size).ok_or_else(|| {
            let (name, shown) = (spec.hash().name(), digest.chars().take(80).collect::<String>());
            (Some(number), format!("'{shown}' is not a digest of {name}: expected {} hex digits", 2 * size))
        })?;
        if length == 0 || offset.checked_add(length).is_none_or(|end| end > mksum::MAX_LEN) {
            return Err((
                Some(number),
                format!("{length} bytes at {offset} are not a subtree: an input has 1 to 2^63 bytes"),
            ));
        }
        let shape = spec.shape();
        let lowest = match shape {
            Shape::Flat { .. } => 0,
            Shape::Halved { longest } if length <= longest => 0,
            _ => shape.root(length).level,
        };
        let node = Subtree { start: offset, len: length, level: level.unwrap_or(lowest) };
        entries.push(Entry { number, node, digest: Digest::new(&digest) });
    }
}

/// Digests that were computed elsewhere.
struct Known {
    by_node: BTreeMap<Subtree, Digest>,
}

impl Subtrees for Known {
    fn digest(&self, spec: &Spec, node: Subtree, role: Role) -> Result<Option<Digest>, mksum::Error> {
        // A part that is all of an input is its root, unless roots are marked.
        Ok(self.by_node.get(&node).filter(|_| role == Role::Inner || !spec.marks_root()).copied())
    }
}
