//! `mksum log`: append-only logs with proofs.

mod read;
mod trust;
mod witness;
mod write;
mod wrong;

use crate::args::{Log, LogAction};
use crate::exit::Exit;
use crate::tool::Tool;
use wrong::Wrong;

/// Runs the command.
pub fn run(tool: &Tool, args: &Log) -> Exit {
    let done = match &args.action {
        LogAction::Init { directory, origin, secret, .. } => {
            write::init(tool, directory, origin.as_deref(), secret.as_deref())
        }
        LogAction::Append { directory, framing, unique, common } => {
            write::append(tool, directory, framing.framing(), *unique, common.quiet)
        }
        LogAction::Checkpoint { log, add: Some(line), trust, .. } => write::add(tool, log, line, trust),
        LogAction::Checkpoint { log, witness: Some(url), trust, .. } => witness::ask(tool, log, url, trust),
        LogAction::Checkpoint { log, trust, .. } => read::checkpoint(tool, log, trust),
        LogAction::Prove { log, index, from, trust, .. } => read::prove(tool, log, *index, *from, trust),
        LogAction::Check { proof, trust, entry, old, .. } => {
            read::check(tool, proof, trust, entry.as_ref(), old.as_ref())
        }
        LogAction::Follow { log, directory, trust, .. } => read::follow(tool, log, directory, trust),
        LogAction::Fsck { log, trust, .. } => read::fsck(tool, log, trust),
        LogAction::Import { directory, file, chain, .. } => write::import(tool, directory, file, chain.as_deref()),
        LogAction::Export { log, framing, trust, .. } => read::export(tool, log, framing.framing(), trust),
    };
    match done {
        Ok(()) => tool.console.exit(),
        Err(Wrong::Usage(why)) => crate::exit::usage(&why),
        Err(Wrong::Failed(place, why)) => {
            tool.console.error(&place, &why);
            tool.console.exit()
        }
        Err(Wrong::Untrusted(place, why)) => {
            tool.console.error(&place, &why);
            Exit::Unauthenticated
        }
    }
}
