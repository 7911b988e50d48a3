//! `mksum status`: what differs from a catalogue, without reading any content.

use super::findings::Findings;
use super::{DRY, open, report, shown_path};
use crate::args::{Catalogued, Checks, Status};
use crate::exit::Ended;
use crate::figures::{bytes, grouped, size};
use crate::summary::counted;
use crate::tool::Tool;
use mksum_catalogue::{Access, Catalogue, Check, Coverage, Error, State, status};
use mksum_cli::name::Shown;
use mksum_io::Facts;
use std::path::Path;

/// `mksum update --dry-run`: what an update would do, as far as it is known without reading any content.
pub fn run_dry(tool: &Tool, args: &Catalogued) -> Ended {
    tool.console.use_json(args.json);
    let Some(catalogue) = open(tool, &args.directory, args.catalogue.as_ref(), Access::Read) else {
        return Ok(tool.console.exit());
    };
    let status = match status(&catalogue, &args.directory, &tool.options) {
        Ok(status) => status,
        Err(error) => {
            report(tool, &error);
            return Ok(tool.console.exit());
        }
    };
    let (mut found, mut len) = (Findings::new(tool, args.json, &args.directory), 0);
    for finding in status.differ {
        found.count(&finding);
        if matches!(finding.state, State::New | State::Changed | State::Incomplete) {
            let facts = Facts::of(&shown_path(&args.directory, &finding.path));
            len += facts.map_or(0, |facts| facts.size);
        }
        found.print(finding, None);
    }
    let counts = counted(&found.counts(&[]), "nothing has changed");
    tool.console.flush();
    let read = bytes(len);
    tool.console.note(&format_args!("{}: {counts}: {read} would be read{DRY}", Shown(catalogue.path())));
    Ok(tool.console.exit())
}

/// Prints a line for each file and link that differs; fails if there is one.
pub fn run(tool: &Tool, Status { catalogued: args, checks: form }: &Status) -> Ended {
    tool.console.use_json(args.json);
    if let Some(form) = form {
        return checks(tool, args, *form);
    }
    let _progress = tool.progress(|| [None].into_iter());
    if let Some(catalogue) = open(tool, &args.directory, args.catalogue.as_ref(), Access::Read)
        && let Err(error) = show(tool, args.json, &args.directory, &catalogue)
    {
        report(tool, &error);
    }
    Ok(tool.console.exit())
}

/// Prints how much was verified, and when.
fn checks(tool: &Tool, args: &Catalogued, form: Checks) -> Ended {
    let coverage =
        open(tool, &args.directory, args.catalogue.as_ref(), Access::Read).map(|catalogue| catalogue.coverage());
    match coverage {
        None => {}
        Some(Err(error)) => report(tool, &error),
        Some(Ok(coverage)) if args.json => tool.console.print_json(&args.directory, &coverage),
        Some(Ok(coverage)) => tool.console.print(
            match form {
                Checks::Text => words(&args.directory, &coverage),
                Checks::Prometheus => metrics(&args.directory, &coverage),
            }
            .as_bytes(),
        ),
    }
    Ok(tool.console.exit())
}

/// How much was verified, and when, as a line.
fn words(directory: &Path, coverage: &Coverage) -> String {
    let Coverage { files, bytes, verified_files, verified_bytes, oldest, newest } = coverage;
    let share = 100.0 * *verified_bytes as f64 / (*bytes).max(1) as f64;
    let times = match (oldest, newest) {
        (Some(oldest), Some(newest)) => format!("; oldest check {}, newest {}", oldest.day, newest.day),
        _ => String::new(),
    };
    let (verified_files, files, bytes) = (grouped(*verified_files), grouped(*files), size(*bytes));
    format!("{}: {share:.1} % of {bytes} verified ({verified_files} of {files} files){times}\n", Shown(directory))
}

/// The same as metrics (Prometheus's text format, version 0.0.4).
fn metrics(directory: &Path, coverage: &Coverage) -> String {
    let seconds = |check: &Option<Check>| check.as_ref().map(|check| check.seconds.unsigned_abs());
    let rows = [
        ("files", "Files that have roots in the catalogue.", Some(coverage.files)),
        ("bytes", "Length of these files.", Some(coverage.bytes)),
        ("verified_files", "Files that were verified since they were kept.", Some(coverage.verified_files)),
        ("verified_bytes", "Bytes that were verified since they were kept.", Some(coverage.verified_bytes)),
        ("oldest_check_timestamp_seconds", "Time of the least recent verification.", seconds(&coverage.oldest)),
        ("newest_check_timestamp_seconds", "Time of the most recent verification.", seconds(&coverage.newest)),
    ];
    let directory = directory.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    let metric = |(name, help, value): (&str, &str, Option<u64>)| {
        let name = format!("mksum_catalogue_{name}");
        let value = value?;
        Some(format!("# HELP {name} {help}\n# TYPE {name} gauge\n{name}{{directory=\"{directory}\"}} {value}\n"))
    };
    rows.into_iter().filter_map(metric).collect()
}

fn show(tool: &Tool, json: bool, directory: &Path, catalogue: &Catalogue) -> Result<(), Error> {
    let mksum_catalogue::Status { differ, same, unknown } = status(catalogue, directory, &tool.options)?;
    let mut found = Findings::new(tool, json, directory);
    for finding in differ {
        found.count(&finding);
        found.print(finding, None);
        tool.console.fail();
    }
    found.end(catalogue, &[], &[(unknown, "not known"), (same, "unchanged")], "no files");
    Ok(())
}
