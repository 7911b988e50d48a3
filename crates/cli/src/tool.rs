//! The environment of a run: formats, options for reading, output.

use crate::args::{Choices, Directories, Given, Io};
use crate::console::Console;
use crate::exit::{Exit, usage};
use crate::gpu;
use crate::nice;
use crate::progress::Progress;
use crate::walk::Rules;
use mksum::SpecError;
use mksum::accelerator::Accelerator;
use mksum_cli::choice::Choice;
use mksum_cli::sum::End;
use mksum_io::{Mode, Objects, Options, Throttle};
use std::sync::Arc;
use std::time::Instant;

/// The environment of a run.
#[derive(Debug)]
pub struct Tool {
    /// The formats as they were chosen: one or more.
    pub formats: Vec<Choice>,
    /// Options for reading.
    pub options: Options,
    /// The output.
    pub console: Arc<Console>,
    /// The end of a line, read or written.
    pub end: End,
    progress: bool,
}

impl Tool {
    /// The environment that the flags ask for.
    ///
    /// # Errors
    /// If a format does not allow the hash, leaf or salt, or this machine lacks something.
    pub fn new(given: Given<'_>, end: End) -> Result<Tool, String> {
        let (choices, reading) =
            (given.choices.cloned().unwrap_or_default(), given.reading.cloned().unwrap_or_default());
        let common = given.common;
        mksum_lanes::cpu::active().map_err(|error| format!("{}: {error}", mksum_lanes::cpu::VARIABLE))?;
        let formats = match &choices.formats[..] {
            [] => vec![Choice::default()],
            given => given.to_vec(),
        };
        let formats = formats.into_iter().map(|choice| changed(choice, &choices)).collect::<Result<_, _>>();
        if reading.io_nice {
            nice::to_idle()?;
        }
        let mode = match reading.io {
            Io::Auto => Mode::Auto,
            Io::Buffered => Mode::Buffered,
            Io::Direct => Mode::Direct,
        };
        let throttle = reading.throttle.map(|rate| Arc::new(Throttle::new(rate)));
        // Whoever writes a list, a plan or a directory cannot make its reader wait: only what the command line names is waited for.
        let mut options = Options { mode, throttle, objects: stores(), pipes: false, ..Options::new() };
        if let Some(threads) = reading.threads {
            options.threads = threads.into();
        }
        let formats = formats.map_err(|error: SpecError| error.to_string())?;
        let console = Arc::new(Console::new(common.color, common.verbose, common.quiet));
        Ok(Tool { formats, options, console, end, progress: !common.no_progress && !common.quiet })
    }

    /// The same on a device: see [`gpu::open`].
    ///
    /// # Errors
    /// If there is no such device.
    pub fn on(&self, device: &str) -> Result<Tool, String> {
        let device = gpu::open(device, &self.console)?;
        let accelerator = device.map(|device| device as Arc<dyn Accelerator>);
        let options = Options { accelerator, ..self.options.clone() };
        Ok(Tool { options, formats: self.formats.clone(), console: self.console.clone(), ..*self })
    }

    /// The choice of files that the flags ask for, in the stores of this run; the exit if a glob is not valid.
    pub fn rules(&self, args: &Directories) -> Result<Rules, Exit> {
        Rules::new(args, self.options.objects.clone()).map_err(|why| usage(&why))
    }

    /// Shows progress from now on. `lengths` has the length of each file that will be read, if it is known: they are looked up
    /// only if the work takes a while.
    pub fn progress<L>(&self, lengths: impl FnOnce() -> L + Send + 'static) -> Option<Progress>
    where
        L: Iterator<Item = Option<u64>>,
    {
        self.progress_until(None, lengths)
    }

    /// The same for a run that ends at a deadline.
    pub fn progress_until<L>(
        &self,
        deadline: Option<Instant>,
        lengths: impl FnOnce() -> L + Send + 'static,
    ) -> Option<Progress>
    where
        L: Iterator<Item = Option<u64>>,
    {
        if !self.progress {
            return None;
        }
        Progress::start(&self.console, &self.options.meter, deadline, lengths)
    }
}

/// The stores that this build has clients of.
fn stores() -> Option<Arc<dyn Objects>> {
    #[cfg(feature = "stores")]
    return Some(Arc::new(mksum_stores::Stores::new()));
    #[cfg(not(feature = "stores"))]
    None
}

/// A format with the flags that change every format.
fn changed(mut choice: Choice, args: &Choices) -> Result<Choice, SpecError> {
    if let Some(hash) = args.algorithm {
        choice = choice.with_hash(hash)?;
    }
    if let Some(leaf) = args.leaf {
        choice = choice.with_leaf(leaf)?;
    }
    args.options.iter().try_fold(choice, |choice, (option, value)| choice.with_option(option, value.clone()))
}
