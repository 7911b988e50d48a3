//! The command `serve` in a build that has no server.

use crate::args::Serve as Args;
use crate::exit::{Ended, refuse};
use crate::tool::Tool;

/// Refuses the command.
pub fn run(_: &Tool, _: &Args) -> Ended {
    refuse(&"this build of mksum has no server: build it with the feature serve")
}
