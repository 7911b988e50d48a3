//! The commands for catalogues in a build that has none.

use crate::exit::{Exit, refuse};
use mksum_io::Input;
use std::path::PathBuf;

/// Whether `paths` are directories that have catalogues.
pub fn have_catalogues(_: &[Input], given: Option<&PathBuf>) -> Result<bool, Exit> {
    if given.is_some() { refused() } else { Ok(false) }
}

fn refused<T>() -> Result<T, Exit> {
    refuse(
        &"this build of mksum has no catalogues of directories: 'keep -r --beside' keeps an outboard beside each file",
    )
}

macro_rules! refused {
    ($($module:ident: $($function:ident($args:ident)),+;)+) => {
        $(pub mod $module {
            use crate::{args, exit::Ended, tool::Tool};
            $(
                /// Refuses the command.
                pub fn $function(_: &Tool, _: &args::$args) -> Ended {
                    super::refused()
                }
            )+
        })+
    };
}

refused! {
    keep: run(Keep), run_update(Update);
    status: run(Status);
    verify: run(Verify);
    repair: run(Repair);
    import: run(Import);
    export: run(Export);
}

pub mod leaves {
    use crate::exit::Exit;
    use crate::tool::Tool;
    use mksum::directory::{DirectorySpec, Entry, Leaves};
    use mksum_io::Input;
    use std::path::Path;

    /// No file is a catalogue.
    pub fn of(_: &Tool, _: &Path, _: &[DirectorySpec], _: &mut dyn FnMut(&Entry<'_>)) -> Option<Option<Vec<Leaves>>> {
        None
    }

    /// Refuses the command.
    pub fn of_parts(_: &Tool, _: &[Input], _: &[DirectorySpec]) -> Result<Vec<Leaves>, Exit> {
        super::refused()
    }
}

pub mod diff {
    use crate::{args, exit::Ended, tool::Tool};
    use mksum_io::Input;

    /// Whether an input is one that this compares.
    pub fn is_side(_: &Input) -> bool {
        false
    }

    /// Refuses the command.
    pub fn run(_: &Tool, _: &args::Diff) -> Ended {
        super::refused()
    }
}

pub mod get {
    use crate::exit::Exit;
    use crate::tool::Tool;
    use mksum::Root;
    use mksum_get::{Expected, List};
    use mksum_io::{Input, Options};

    /// No place is one of a catalogue.
    pub fn place_below(_: &Input) -> Input {
        Input::Stdin
    }

    /// Refuses the command.
    pub fn trusted(_: &Tool, _: (&[Input], &[Input]), _: &Expected, _: &Options) -> Result<(Root, List), Exit> {
        super::refused()
    }

    /// Refuses the command.
    #[cfg(all(feature = "mount", target_os = "linux"))]
    pub fn entries(_: &Tool, _: &Input, _: &Options) -> Result<List, Exit> {
        super::refused()
    }

    /// Refuses the command.
    pub fn files(_: &Tool, _: &Input, _: &Options) -> Result<List, Exit> {
        super::refused()
    }
}
