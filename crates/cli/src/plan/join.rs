//! `mksum join --plan`: prints the roots of all inputs of a plan, and writes their outboards.

use super::wrong::WrongLines;
use super::{ledger, lines};
use crate::args::Join as Args;
use crate::exit::Ended;
use crate::failure::Failure;
use crate::json;
use crate::kept::batch::{Batch, Waiting};
use crate::print::report;
use crate::tool::Tool;
use mksum_cli::name::{self as names, Shown};
use mksum_cli::sum::{self, Style};
use mksum_io::outboard::{Changes, Kept, Remote};
use mksum_io::{Error, Input, Url};
use mksum_plan::{Joined, Outcome, Units, Wanted, join, outboard_path};
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Prints a line for each input.
pub fn run(tool: &Tool, args: &Args, plan: &Path) -> Ended {
    let ledgers: Vec<PathBuf> = args.files.iter().map(|ledger| ledger.as_os_str().into()).collect();
    let ledgers = if ledgers.is_empty() { vec!["-".into()] } else { ledgers };
    let (units, wanted) = match args.outboards {
        Some(_) => (Units::Held, Wanted::Outboards),
        None => (Units::Ignored, Wanted::Roots),
    };
    let Some(ledger) = ledger(tool, &ledgers, units) else { return Ok(tool.console.exit()) };
    let Some(lines) = lines(tool, plan) else { return Ok(tool.console.exit()) };
    let printed = |(joined, target): Waits<'_>, url: Option<&Url>, _: &Kept| {
        print(tool, args, &joined, Some(&url.map_or(target, Input::from)));
    };
    let mut outboards = args.outboards.as_ref().map(|place| Outboards {
        tool,
        place: place.as_ref(),
        changes: if args.accept_changes { Changes::Accept } else { Changes::Refuse },
        batch: Batch::new(tool, &printed),
        taken: HashSet::new(),
    });
    let mut wrong = WrongLines::new(tool, plan);
    let read = join(lines, &ledger, (wanted, tool.options.threads), &mut |outcome| match outcome {
        Outcome::Joined(joined) => match &mut outboards {
            None => print(tool, args, &joined, None),
            Some(outboards) => {
                if let Err(failure) = outboards.add(joined) {
                    report(&tool.console, &failure);
                }
            }
        },
        Outcome::Refused(path, why) => tool.console.error(&path, &why),
        Outcome::Wrong(number, why) => wrong.add(number, &why),
    });
    wrong.end();
    if let Some(mut outboards) = outboards {
        outboards.batch.commit();
    }
    if let Err(why) = read {
        tool.console.error(plan, &why);
    }
    Ok(tool.console.exit())
}

/// Prints a root, and the path or URL of its outboard.
fn print(tool: &Tool, args: &Args, joined: &Joined<'_>, outboard: Option<&Input>) {
    let Joined { path, root, rows, .. } = joined;
    if args.json {
        let outboard = outboard.map(names::lossy);
        let record = json::Root { subtrees: Some(*rows), outboard: outboard.as_deref(), ..json::Root::new(root) };
        return tool.console.print_json(path, record);
    }
    let (tag, path) = (root.spec().tag(), names::listed(path));
    tool.console.print(&sum::line(Style::Tagged, tool.end, &tag, &path, &root.to_string()));
}

/// An input, and the path of its outboard.
type Waits<'a> = (Joined<'a>, Input);

/// Where the outboards of a join are written.
struct Outboards<'a> {
    tool: &'a Tool,
    /// The directory or URL that they are below; otherwise each is beside its input.
    place: Option<&'a Input>,
    changes: Changes,
    batch: Batch<'a, Waits<'a>>,
    /// The paths of those below `place`, where two inputs may have the same.
    taken: HashSet<Input>,
}

impl<'a> Outboards<'a> {
    /// Writes the outboard of an input; its root is printed when the outboard is at its place.
    fn add(&mut self, mut joined: Joined<'a>) -> Result<(), Failure> {
        let refuse = |path: &Input, why: &str| Failure::refused(path, why);
        let target = outboard_path(&joined.path, self.place).ok_or_else(|| {
            let why = "its path leads upwards (..), so it has no place below another directory: leave DIR out";
            refuse(&joined.path, why)
        })?;
        if self.place.is_some() && !self.taken.insert(target.clone()) {
            let why =
                format!("its outboard would be {}, which is that of another input: leave DIR out", Shown(&target));
            return Err(refuse(&joined.path, &why));
        }
        let remote = Remote::of(&target, &self.tool.options)?;
        let path = remote.as_ref().map_or_else(|| PathBuf::from(target.as_os_str()), Remote::copy);
        if let (None, Some(_), Some(folder)) = (&remote, self.place, path.parent()) {
            fs::create_dir_all(folder).map_err(|error| Error::Write { path: folder.into(), error })?;
        }
        let Some(kept) = joined.kept.take() else { return Ok(()) };
        let written = kept.write(&joined.root, &path, self.changes);
        let pending = written.map_err(|error| match error {
            // The copy of an object has a path that nobody knows.
            Error::Refused { refusal, .. } => Error::refused(&target, refusal),
            error => error,
        })?;
        let Some(pending) = pending else {
            return Err(refuse(&joined.path, "its units do not make its root: hash it again into a new ledger"));
        };
        self.batch.add(Waiting { pending, remote, about: (joined, target) });
        Ok(())
    }
}
