//! The command `mount` on other systems than Linux, and in a build without it.

use crate::args::Mount as Args;
use crate::exit::{Exit, usage};
use crate::tool::Tool;

/// Refuses the command.
pub fn run(_: &Tool, _: &Args) -> Exit {
    match cfg!(target_os = "linux") {
        true => usage(&"this build of mksum mounts nothing: build it with the feature mount"),
        false => usage(&"mksum mount is for Linux: it needs FUSE"),
    }
}
