//! `mksum log`: append-only logs with proofs.

mod print;
mod read;
#[cfg(feature = "catalogue")]
mod record;
mod trust;
mod witness;
mod write;
mod wrong;

use crate::args::{Log, LogAction};
use crate::exit::Ended;
use crate::tool::Tool;

#[cfg(feature = "catalogue")]
pub use record::Record;

/// Runs the command.
pub fn run(tool: &Tool, args: &Log) -> Ended {
    let json = args.action.log_common().json;
    tool.console.use_json(json);
    let done = match &args.action {
        LogAction::Init { directory, origin, secret, .. } => {
            write::init(tool, directory, origin.as_deref(), secret.as_deref(), json)
        }
        LogAction::Append { directory, framing, unique, roots, linger, common } => {
            let (framing, linger) = (framing.framing(), *linger);
            let how = write::Appending { framing, unique: *unique, takes_roots: *roots, linger };
            write::append(tool, directory, how, common)
        }
        LogAction::Checkpoint { log, add: Some(line), trust, .. } => write::add(tool, log, line, trust, json),
        LogAction::Checkpoint { log, witness: Some(url), trust, .. } => witness::ask(tool, log, url, trust, json),
        LogAction::Checkpoint { log, trust, .. } => read::checkpoint(tool, log, trust, json),
        LogAction::Prove { log, index, from, trust, .. } => read::prove(tool, log, (*index, *from), trust, json),
        LogAction::Check { proof, trust, entry, old, .. } => {
            read::check(tool, proof, trust, (entry.as_ref(), old.as_ref()), json)
        }
        LogAction::Follow { log, directory, trust, .. } => read::follow(tool, log, directory, trust, json),
        LogAction::Fsck { log, trust, .. } => read::fsck(tool, log, trust, json),
        LogAction::Import { directory, file, chain, .. } => {
            write::import(tool, directory, file, chain.as_deref(), json)
        }
        LogAction::Export { log, framing, trust, .. } => read::export(tool, log, framing.framing(), trust, json),
    };
    done.map_err(|wrong| wrong.report(tool))?;
    Ok(tool.console.exit())
}
