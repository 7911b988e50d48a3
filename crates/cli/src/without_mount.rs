//! The command `mount` on other systems than Linux, and in a build without it.

use crate::args::Mount as Args;
use crate::exit::{Ended, refuse};
use crate::tool::Tool;

/// Refuses the command.
pub fn run(_: &Tool, _: &Args) -> Ended {
    match cfg!(target_os = "linux") {
        true => refuse(&"this build of mksum mounts nothing: build it with the feature mount"),
        false => refuse(&"mksum mount is for Linux: it needs FUSE"),
    }
}
