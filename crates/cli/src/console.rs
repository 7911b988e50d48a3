//! Standard output and standard error: whole lines, in order, with the progress line out of their way.

use crate::exit::Exit;
use indicatif::ProgressBar;
use mksum_cli::name::Shown;
use mksum_io::reason;
use std::fmt::Display;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::mem;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

/// Where a run writes; shared by its threads.
#[derive(Debug)]
pub struct Console {
    /// Whole lines that were not written yet.
    lines: Mutex<Vec<u8>>,
    terminal: bool,
    bar: OnceLock<ProgressBar>,
    failed: AtomicBool,
}

impl Default for Console {
    fn default() -> Self {
        let terminal = io::stdout().is_terminal();
        Console { lines: Mutex::default(), terminal, bar: OnceLock::new(), failed: AtomicBool::new(false) }
    }
}

impl Console {
    /// Lines are written when this many bytes are there.
    const FULL: usize = 64 << 10;
    /// How long a line may wait for others.
    const WAIT: Duration = Duration::from_millis(100);
    /// How long an interrupt waits for a line that is being written.
    const PATIENCE: Duration = Duration::from_millis(300);

    /// Appends to standard output: whole lines.
    pub fn print(&self, lines: &[u8]) {
        let mut waiting = self.lock();
        waiting.extend_from_slice(lines);
        if self.terminal || waiting.len() >= Self::FULL {
            self.write(&mut waiting);
        }
    }

    /// Writes what waits.
    pub fn flush(&self) {
        let mut waiting = self.lock();
        self.write(&mut waiting);
    }

    /// Writes from now on what has waited for a while: for a run over many files, any of which may take long.
    pub fn flush_regularly(self: &Arc<Self>) {
        if self.terminal {
            return;
        }
        let console = Arc::clone(self);
        let flush = move || loop {
            thread::sleep(Self::WAIT);
            console.flush();
        };
        // Without the thread, lines come later.
        let _ = thread::Builder::new().name("flush".into()).spawn(flush);
    }

    /// Tells on standard error why something failed, and remembers it.
    pub fn error(&self, path: &Path, reason: &dyn Display) {
        self.fail();
        self.tell(&format_args!("{}: {reason}", Shown(path)));
    }

    /// Tells something on standard error.
    pub fn tell(&self, text: &dyn Display) {
        let line = format!("mksum: {text}\n");
        self.undisturbed(|| {
            // Nobody is left to tell if this fails.
            let _ = io::stderr().write_all(line.as_bytes());
        });
    }

    /// Remembers that something failed.
    pub fn fail(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }

    /// How the run ended.
    pub fn exit(&self) -> Exit {
        if self.failed.load(Ordering::Relaxed) { Exit::Failed } else { Exit::Good }
    }

    /// Keeps this progress line out of the way of others from now on.
    pub fn show(&self, bar: ProgressBar) {
        let _ = self.bar.set(bar);
    }

    /// Ends the process between two lines, with a clean terminal. What waits is not written: whoever would read it may
    /// be what the process waits for.
    pub fn interrupt(&self) -> ! {
        mksum_io::remove_unfinished();
        let asked = Instant::now();
        let _between_lines = loop {
            match self.lines.try_lock() {
                Err(TryLockError::WouldBlock) if asked.elapsed() < Self::PATIENCE => {
                    thread::sleep(Duration::from_millis(1));
                }
                Err(TryLockError::WouldBlock) => Exit::Interrupted.now(),
                Err(TryLockError::Poisoned(lines)) => break lines.into_inner(),
                Ok(lines) => break lines,
            }
        };
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
        Exit::Interrupted.now()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<u8>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, waiting: &mut Vec<u8>) {
        if waiting.is_empty() {
            return;
        }
        let lines = mem::take(waiting);
        let write = || {
            let mut out = io::stdout().lock();
            out.write_all(&lines).and_then(|()| out.flush())
        };
        let done = if self.terminal { self.undisturbed(write) } else { write() };
        match done {
            Ok(()) => {}
            // As other tools end in a pipe whose reader has seen enough.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Exit::Unread.now(),
            Err(error) => {
                self.tell(&format_args!("write error: {}", reason(&error)));
                Exit::Failed.now()
            }
        }
    }

    fn undisturbed<T>(&self, write: impl FnOnce() -> T) -> T {
        match self.bar.get() {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }
}
