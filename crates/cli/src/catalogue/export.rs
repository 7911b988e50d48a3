//! `mksum export`: the entries of a catalogue as a sum file, a BagIt manifest or JSON.

use super::sources::path_of;
use super::{explained, report};
use crate::args::{Export, Form};
use crate::exit::{Exit, usage};
use crate::json;
use crate::tool::Tool;
use mksum::Spec;
use mksum_catalogue::{Access, Catalogue, Error, Known, place};
use mksum_cli::sum::{self, End, Style};
use mksum_io::EntryKind;
use serde::Serialize;
use std::collections::BTreeMap;

/// Prints the entries.
pub fn run(tool: &Tool, args: &Export) -> Exit {
    let path = if args.from.is_dir() { place(&args.from) } else { args.from.clone() };
    let catalogue = match Catalogue::open(&path, Access::Read, &mut || {}) {
        Ok(catalogue) => catalogue,
        Err(error) => {
            report(tool, &explained(error, &args.from, &path));
            return tool.console.exit();
        }
    };
    let mut specs: Vec<Spec> = match args.choices.any() {
        true => tool.formats.iter().map(|choice| choice.spec().clone()).collect(),
        false => catalogue.formats().cloned().collect(),
    };
    if let Some(missing) = specs.iter().find(|spec| !catalogue.formats().any(|own| own == *spec)) {
        return usage(&format_args!(
            "the catalogue has no roots in {missing}: 'mksum keep -r -f {missing} DIR' adds them"
        ));
    }
    if args.to == Form::Bagit {
        if !args.choices.any() {
            specs.retain(|spec| spec.family().tag.is_some());
        }
        specs.truncate(1);
        if specs.first().is_none_or(|spec| spec.family().tag.is_none()) {
            return usage(&"a BagIt manifest has plain sums: keep the directory with -f sha512 or -f sha256");
        }
    }
    let mut count = 0_u64;
    let written = catalogue.into_known().try_for_each(|known| {
        let known = known?;
        let listed = match args.to {
            Form::Sums => known.kind == EntryKind::File,
            // A manifest lists the payload (RFC 8493, 2.1.3).
            Form::Bagit => known.kind == EntryKind::File && known.path.starts_with(b"data/"),
            Form::Json => true,
        };
        if listed {
            count += 1;
            write(tool, args.to, &specs, &known);
            let has = |spec: &&Spec| known.roots.iter().any(|(own, _)| own == *spec);
            let lacking = specs.iter().find(|spec| args.to != Form::Json && !has(spec));
            if let Some(spec) = lacking {
                let how = format_args!("it has no root in {spec}, so it is not in the list: run 'mksum update' first");
                tool.console.error(&path_of(&known), &how);
            }
        }
        Ok::<_, Error>(())
    });
    match written {
        Err(error) => report(tool, &error),
        Ok(()) if count == 0 && args.to == Form::Bagit => {
            tool.console.error(&args.from, &"it has no files below data/, which a BagIt manifest lists");
        }
        Ok(()) => {}
    }
    tool.console.exit()
}

/// An entry, as JSON.
#[derive(Serialize)]
struct Entry {
    kind: &'static str,
    r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    length: Option<u64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    roots: BTreeMap<String, String>,
}

fn write(tool: &Tool, form: Form, specs: &[Spec], known: &Known) {
    let size = known.size.unwrap_or(0);
    let roots = known.roots.iter().filter(|(spec, _)| specs.contains(spec));
    let mut roots = roots.map(|(spec, digest)| (spec, spec.root_with_digest(*digest, size).to_string()));
    match form {
        Form::Sums => roots.for_each(|(spec, root)| {
            tool.console.print(&sum::line(Style::Tagged, End::Newline, &spec.tag(), &known.path, &root));
        }),
        Form::Bagit => {
            if let Some((_, root)) = roots.next() {
                tool.console.print(&[root.as_bytes(), b"  ", &*percent_encoded(&known.path), b"\n"].concat());
            }
        }
        Form::Json => {
            let r#type = match known.kind {
                EntryKind::Directory => "directory",
                EntryKind::Link => "link",
                _ => "file",
            };
            let roots = roots.map(|(spec, root)| (spec.to_string(), root)).collect();
            tool.console
                .print(&json::line(&path_of(known), Entry { kind: "entry", r#type, length: known.size, roots }));
        }
    }
}

/// A path as a line of a manifest can hold it (RFC 8493, 2.1.3).
fn percent_encoded(path: &[u8]) -> Vec<u8> {
    let encode = |&byte: &u8| match byte {
        b'\n' => b"%0A".to_vec(),
        b'\r' => b"%0D".to_vec(),
        b'%' => b"%25".to_vec(),
        byte => vec![byte],
    };
    path.iter().flat_map(encode).collect()
}
