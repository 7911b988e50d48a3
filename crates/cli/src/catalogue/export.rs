//! `mksum export`: the entries of a catalogue as a sum file, a BagIt manifest or JSON.

use super::{explained, path_of, report};
use crate::args::{Export, Form};
use crate::exit::{Ended, refuse};
use crate::json;
use crate::tool::Tool;
use chrono::{SecondsFormat, Utc};
use mksum::Spec;
use mksum_catalogue::{Access, Catalogue, Error, Exported, Known, Manifest, Unlisted, export, place};
use mksum_cli::pieces::mhl;
use mksum_io::EntryKind;
use serde::Serialize;
use std::collections::BTreeMap;

/// Prints the entries.
pub fn run(tool: &Tool, args: &Export) -> Ended {
    let path = if args.from.is_dir() { place(&args.from) } else { args.from.clone() };
    let catalogue = match Catalogue::open(&path, Access::Read, &mut || {}) {
        Ok(catalogue) => catalogue,
        Err(error) => {
            report(tool, &explained(error, &args.from, &path));
            return Ok(tool.console.exit());
        }
    };
    let manifest = match args.to {
        Form::Bagit => Manifest::Bagit,
        Form::Mhl => Manifest::Mhl,
        Form::Sums | Form::Json => Manifest::Sums,
    };
    let asked: Vec<Spec> = match args.choices.any() {
        true => tool.formats.iter().map(|choice| choice.spec().clone()).collect(),
        false => Vec::new(),
    };
    let specs = match manifest.formats(&catalogue, &asked) {
        Ok(specs) => specs,
        Err(Unlisted::Lacks(spec)) => {
            return refuse(&format_args!(
                "the catalogue has no roots in {spec}: 'mksum keep -r -f {spec} DIR' adds them"
            ));
        }
        Err(Unlisted::NoSum) => {
            return refuse(&match manifest {
                Manifest::Mhl => {
                    "ASC MHL has c4, sha1, md5, xxh128, xxh3 and xxh64: keep the directory with -f xxh64 or another"
                }
                _ => "a BagIt manifest has plain sums: keep the directory with -f sha512 or -f sha256",
            });
        }
    };
    let written = match args.to {
        Form::Json => objects(tool, catalogue, &specs),
        Form::Sums | Form::Bagit | Form::Mhl => lines(tool, args, (catalogue, manifest), &specs),
    };
    if let Err(error) = written {
        report(tool, &error);
    }
    Ok(tool.console.exit())
}

fn lines(
    tool: &Tool,
    args: &Export,
    (catalogue, manifest): (Catalogue, Manifest),
    specs: &[Spec],
) -> Result<(), Error> {
    if manifest == Manifest::Mhl {
        let (host, time) = (hostname(), Utc::now().to_rfc3339_opts(SecondsFormat::Secs, true));
        tool.console.print(&mhl::begin(("mksum", env!("CARGO_PKG_VERSION")), &host, &time));
    }
    let count = export(catalogue, manifest, specs, &mut |exported| {
        match exported {
            Exported::Line(line) => tool.console.print(&line),
            Exported::Unwritten(known) => {
                tool.console.error(&path_of(&known.path), &"its path is not UTF-8, so it is not in the manifest");
            }
            Exported::Lacks(known, spec) => {
                let how = format_args!("it has no root in {spec}, so it is not in the list: run 'mksum update' first");
                tool.console.error(&path_of(&known.path), &how);
            }
        }
        true
    })?;
    if manifest == Manifest::Mhl {
        tool.console.print(mhl::END);
    }
    if count == 0 && manifest == Manifest::Bagit {
        tool.console.error(&args.from, &"it has no files below data/, which a BagIt manifest lists");
    }
    Ok(())
}

/// The name of this machine.
fn hostname() -> String {
    #[cfg(unix)]
    return rustix::system::uname().nodename().to_string_lossy().into_owned();
    #[cfg(not(unix))]
    return std::env::var("COMPUTERNAME").unwrap_or_else(|_| "unknown".into());
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

fn objects(tool: &Tool, catalogue: Catalogue, specs: &[Spec]) -> Result<(), Error> {
    let unread = catalogue.check_list()?;
    catalogue.into_known().try_for_each(|known| -> Result<(), Error> {
        let known = known?;
        tool.console.print(&json::line(&path_of(&known.path), entry(specs, &known)));
        Ok(())
    })?;
    unread.map_or(Ok(()), Err)
}

fn entry(specs: &[Spec], known: &Known) -> Entry {
    let r#type = match known.kind {
        EntryKind::Directory => "directory",
        EntryKind::Link => "link",
        _ => "file",
    };
    let roots = known.roots.iter().filter(|(spec, _)| specs.contains(spec));
    let text = |spec: &Spec, digest| spec.root_with_digest(digest, known.size.unwrap_or(0)).to_string();
    let roots = roots.map(|(spec, digest)| (spec.to_string(), text(spec, *digest))).collect();
    Entry { kind: "entry", r#type, length: known.size, roots }
}
