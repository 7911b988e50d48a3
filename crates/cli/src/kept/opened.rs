//! Files and the outboards that they are compared with.

use super::report::{Report, Trust};
use super::{is_missing, needs_outboard, outboard_of, report_new};
use crate::args::Verify;
use crate::failure::Failure;
use crate::figures::grouped;
use crate::progress::left;
use crate::tool::Tool;
use mksum::outboard::{Foreign, ForeignLayout, Outboard, OutboardError, ReadAt};
use mksum::{Root, Spec};
use mksum_cli::published::Published;
use mksum_io::outboard::{self, Age, EXTENSION, Rounds, Stored};
use mksum_io::{Error, File, Input};

/// An outboard of this project or another.
pub type Any = Outboard<Box<dyn ReadAt>>;

/// A file and what it is compared with.
pub enum Opened {
    /// The open file, and the path and content of its outboard.
    Outboard(File, Input, Any),
    /// A file in a directory that has no outboard: it was reported.
    New,
    /// Another program's tree without digests, at this path: of a file that is a single leaf.
    SingleLeaf(File, Input, Spec),
}

/// Opens a file and its outboard.
pub fn opened(tool: &Tool, args: &Verify, path: &Input) -> Result<Opened, Failure> {
    let file = File::open(path, &tool.options)?;
    let layout = match &args.foreign {
        None => None,
        Some(format) => Some(format.layout(file.len()).map_err(|error| Error::from_join(error, path, format.spec()))?),
    };
    let extension = layout.as_ref().map_or(EXTENSION, ForeignLayout::extension);
    let place = outboard_of(path, args.outboard.as_ref(), extension);
    let stored = match Stored::open_with(&place, &tool.options) {
        Err(error) if is_missing(&error, &place) => {
            if args.directories.recursive {
                tool.options.meter.skip(file.len());
                report_new(tool, args.json, path, "outboard");
                return Ok(Opened::New);
            }
            return Err(Failure::Refused(path.into(), needs_outboard(path, &place)));
        }
        stored => stored?,
    };
    let outboard = match layout {
        Some(layout) => match Foreign::open(stored, layout.clone()) {
            Err(mksum::Error::Source(error)) if error.downcast_ref() == Some(&OutboardError::NoDigests) => {
                return Ok(Opened::SingleLeaf(file, place, layout.spec().clone()));
            }
            Err(error) => return Err(Error::from_outboard(error, &place).into()),
            Ok(foreign) => outboard::opened(Box::new(foreign) as Box<dyn ReadAt>, &place)?,
        },
        None => outboard::opened(Box::new(stored) as Box<dyn ReadAt>, &place)?,
    };
    Ok(Opened::Outboard(file, place, outboard))
}

/// What verifies a part of a file, and adds it to the report.
pub fn verify_part(
    tool: &Tool,
    path: &Input,
    outboard: (&Any, &Input),
    report: &mut Report<'_>,
) -> impl FnMut(&mut Rounds, usize) -> Result<u64, Error> {
    move |rounds, part| {
        let bytes =
            rounds.verify(part, File::open(path, &tool.options)?, outboard, &mut |finding| report.add(finding))?;
        report.verified += bytes;
        Ok(bytes)
    }
}

/// How much is verified, as words.
pub fn words(age: Age) -> String {
    match (age.never, age.oldest) {
        (0, Some(age)) => format!("all data was verified within the last {}", left(age.as_secs_f64().max(1.0))),
        (0, None) => "there is no data".into(),
        (1, _) => "1 byte is not verified yet".into(),
        (never, _) => format!("{} bytes are not verified yet", grouped(never)),
    }
}

/// The root on the command line.
pub fn claimed(given: &str, spec: &Spec) -> Result<mksum::ClaimedRoot, Failure> {
    let published = Published::read(given, Some(&spec.clone().into()));
    published.map(|published| published.root).map_err(|error| Failure::Usage(format!("--root: {error}")))
}

/// Where the root comes from that the file is compared with.
///
/// # Errors
/// If the given root is not that of the outboard.
pub fn trusted(given: Option<&str>, outboard: &Outboard<impl ReadAt>, place: &Input) -> Result<Trust, Failure> {
    let root: Root = outboard.root();
    let Some(given) = given else { return Ok(Trust::Outboard) };
    match root.matches(&claimed(given, outboard.spec())?) {
        true => Ok(Trust::Given),
        false => {
            let roots = format!("expected root {given}\n  found root    {root}");
            Err(Failure::refused(place, format_args!("this outboard is of another file:\n  {roots}")))
        }
    }
}
