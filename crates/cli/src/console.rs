//! Standard output and standard error: whole lines, in order, with the progress line out of their way.

use crate::args::Color;
use crate::exit::{Exit, usage};
use crate::json;
use crate::output::write_output;
use crate::summary::{Summary, Verdict};
use console::{Term, colors_enabled, style};
use mksum_cli::name::{Named, Shown, visible};
use mksum_cli::url::masked;
use mksum_io::reason;
use serde::Serialize;
use std::fmt::Display;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

/// The output of a run, shared by its threads.
#[derive(Debug)]
pub struct Console {
    /// Whole lines that were not written yet.
    lines: Mutex<Vec<u8>>,
    /// Whether standard output is a terminal.
    terminal: bool,
    screen: Mutex<Screen>,
    /// Whether errors are printed as JSON too.
    json: AtomicBool,
    /// Whether everything is listed on a terminal, too.
    verbose: bool,
    /// Whether a good end has no last line.
    quiet: bool,
    /// Whether verdicts are coloured.
    coloured: bool,
    summary: Summary,
    /// Whether only the exit code is wanted.
    mute: AtomicBool,
    failed: AtomicBool,
    wrong_usage: AtomicBool,
}

/// The terminal of standard error, and the state of its last line.
#[derive(Debug)]
struct Screen {
    terminal: Term,
    /// Whether the progress line is on it.
    shown: bool,
}

impl Screen {
    /// Removes the progress line.
    ///
    /// The cursor stands at its beginning, and everything from there on is removed: also the rows that a narrower window has
    /// broken it into.
    fn clear(&mut self) {
        if mem::take(&mut self.shown) {
            // A line that cannot be removed is no reason to fail.
            let _ = self.terminal.clear_to_end_of_screen().and_then(|()| self.terminal.flush());
        }
    }
}

impl Default for Console {
    fn default() -> Self {
        Console {
            lines: Mutex::default(),
            terminal: io::stdout().is_terminal(),
            screen: Mutex::new(Screen { terminal: Term::buffered_stderr(), shown: false }),
            json: AtomicBool::new(false),
            verbose: false,
            quiet: false,
            coloured: false,
            summary: Summary::default(),
            mute: AtomicBool::new(false),
            failed: AtomicBool::new(false),
            wrong_usage: AtomicBool::new(false),
        }
    }
}

impl Console {
    /// The verdict that is coloured.
    const FAILED: &str = "FAILED";
    /// Lines are written when this many bytes are there.
    const FULL: usize = 64 << 10;
    /// The time that a line may wait for others.
    const WAIT: Duration = Duration::from_millis(100);
    /// The time that an interrupt waits for a line that is being written.
    const PATIENCE: Duration = Duration::from_millis(300);

    /// A console with these colours; a verbose one lists everything, also on a terminal; a quiet one has no last line if all is good.
    pub fn new(color: Color, verbose: bool, quiet: bool) -> Console {
        let console = Console { verbose, quiet, ..Console::default() };
        let coloured = match color {
            Color::Auto => console.terminal && colors_enabled(),
            Color::Always => true,
            Color::Never => false,
        };
        Console { coloured, ..console }
    }

    /// Prints errors also as JSON objects on standard output from now on.
    pub fn use_json(&self, json: bool) {
        self.json.store(json, Ordering::Relaxed);
    }

    /// Prints nothing from now on but why something could not be read: only the exit code is wanted.
    pub fn mute(&self) {
        self.mute.store(true, Ordering::Relaxed);
    }

    fn is_mute(&self) -> bool {
        self.mute.load(Ordering::Relaxed)
    }

    /// Whether there is no last line, since all is good and the run is quiet.
    pub fn is_silent(&self) -> bool {
        self.quiet && self.exit() == Exit::Good
    }

    /// Whether more than usual is wanted.
    #[cfg(feature = "catalogue")]
    pub fn is_verbose(&self) -> bool {
        self.verbose
    }

    /// Whether a person reads the output, who wants problems and a summary; a program wants a line for each file.
    pub fn is_brief(&self) -> bool {
        let listed = self.verbose || self.json.load(Ordering::Relaxed);
        self.terminal && !listed
    }

    /// Counts the result for a file, for the last line.
    pub fn count(&self, verdict: Verdict, number: u64) {
        self.summary.add(verdict, number);
    }

    /// Prints the last line for a person: the counts, and the bytes that were read.
    pub fn summarize(&self, read: u64) {
        if self.is_brief() && !self.is_silent() {
            self.flush();
            self.note(&self.summary.line(read));
        }
    }

    /// The time of the run for a person, ` in 3.1 s`; nothing otherwise.
    #[cfg(feature = "catalogue")]
    pub fn took(&self) -> String {
        if self.is_brief() { self.summary.took() } else { String::new() }
    }

    /// Prints `NAME: WORDS`, where `name` is as the caller's lines have it; the verdict FAILED is coloured.
    pub fn print_verdict(&self, name: &[u8], words: &str) {
        let (verdict, rest) = match words.strip_prefix(Self::FAILED) {
            Some(rest) if self.coloured => (style(Self::FAILED).red().bold().force_styling(true).to_string(), rest),
            _ => (String::new(), words),
        };
        let text = |bytes: &[u8]| if self.terminal { visible(bytes).into_owned() } else { bytes.to_vec() };
        self.append(&[&text(name)[..], b": ", verdict.as_bytes(), &text(rest.as_bytes()), b"\n"].concat());
    }

    /// Appends to standard output: whole lines. On a terminal, characters that could harm it are escaped.
    pub fn print(&self, lines: &[u8]) {
        match self.terminal {
            true => self.append(&visible(lines)),
            false => self.append(lines),
        }
    }

    fn append(&self, lines: &[u8]) {
        if self.is_mute() {
            return;
        }
        let mut waiting = self.lock();
        waiting.extend_from_slice(lines);
        if self.terminal || waiting.len() >= Self::FULL {
            self.write(&mut waiting);
        }
    }

    /// Prints a JSON object about a file.
    pub fn print_json<T: Named + ?Sized>(&self, path: &T, fields: impl Serialize) {
        self.print(&json::line(path, fields));
    }

    /// Writes the lines that wait.
    pub fn flush(&self) {
        let mut waiting = self.lock();
        self.write(&mut waiting);
    }

    /// From now on, writes lines that have waited for a while: for a run over many files, any of which may take long.
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

    /// Reports on standard error why something failed, and remembers it.
    pub fn error<T: Named + ?Sized>(&self, path: &T, reason: &dyn Display) {
        self.fail();
        self.complain(&format_args!("{}: {reason}", Shown(path)));
        if self.json.load(Ordering::Relaxed) {
            self.print_json(path, json::Error::new(reason));
        }
    }

    /// Reports on standard error why a run ends here, and returns how it ends.
    pub fn fail_with<T: Named + ?Sized>(&self, path: &T, reason: &dyn Display) -> Exit {
        self.error(path, reason);
        self.exit()
    }

    /// Reports that something is not as expected, as an error, and remembers it.
    pub fn differ<T: Named + ?Sized>(&self, path: &T, reason: &dyn Display) {
        match self.is_mute() {
            true => self.fail(),
            false => self.error(path, reason),
        }
    }

    /// Refuses the command line, and remembers it.
    pub fn usage(&self, reason: &dyn Display) {
        self.wrong_usage.store(true, Ordering::Relaxed);
        self.undisturbed(|| usage(reason));
    }

    /// Prints a message on standard error.
    pub fn note(&self, text: &dyn Display) {
        if !self.is_mute() {
            self.complain(text);
        }
    }

    /// Prints a message on standard error, whatever is wanted.
    pub fn complain(&self, text: &dyn Display) {
        let line = format!("mksum: {text}\n");
        let line = String::from_utf8_lossy(&visible(masked(&line).as_bytes())).into_owned();
        self.undisturbed(|| {
            // Nothing can be done if this fails.
            let _ = io::stderr().write_all(line.as_bytes());
        });
    }

    /// Remembers that something failed.
    pub fn fail(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }

    /// The result of the run.
    pub fn exit(&self) -> Exit {
        match (self.wrong_usage.load(Ordering::Relaxed), self.failed.load(Ordering::Relaxed)) {
            (true, _) => Exit::Usage,
            (false, true) => Exit::Failed,
            (false, false) => Exit::Good,
        }
    }

    /// Shows a progress line in the place of the last one: `line` makes one of at most so many columns.
    pub fn show(&self, line: impl FnOnce(usize) -> String) {
        let mut screen = self.screen();
        let columns = screen.terminal.size_checked().map_or(80, |(_, columns)| usize::from(columns));
        // The last column stays empty: some terminals go to the next line after it.
        let line = line(columns.saturating_sub(1));
        screen.clear();
        screen.shown = true;
        let terminal = &screen.terminal;
        // The cursor goes back, so that the line can be removed wherever the terminal breaks it.
        let _ = terminal.write_str(&format!("{line}\r")).and_then(|()| terminal.flush());
    }

    /// Removes the progress line.
    pub fn clear(&self) {
        self.screen().clear();
    }

    /// Ends the process between two lines, with a clean terminal. Lines that wait are not written: their reader may be what
    /// the process waits for.
    pub fn interrupt(&self, exit: Exit) -> ! {
        mksum_io::remove_unfinished();
        let asked = Instant::now();
        let _between_lines = loop {
            match self.lines.try_lock() {
                Err(TryLockError::WouldBlock) if asked.elapsed() < Self::PATIENCE => {
                    thread::sleep(Duration::from_millis(1));
                }
                Err(TryLockError::WouldBlock) => exit.now(),
                Err(TryLockError::Poisoned(lines)) => break lines.into_inner(),
                Ok(lines) => break lines,
            }
        };
        if let Ok(mut screen) = self.screen.try_lock() {
            screen.clear();
        }
        exit.now()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<u8>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn screen(&self) -> MutexGuard<'_, Screen> {
        self.screen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, waiting: &mut Vec<u8>) {
        if waiting.is_empty() {
            return;
        }
        let lines = mem::take(waiting);
        let done = if self.terminal { self.undisturbed(|| write_output(&lines)) } else { write_output(&lines) };
        match done {
            Ok(()) => {}
            // Like other tools in a pipe whose reader has seen enough.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => self.end(Exit::Unread),
            Err(error) => {
                self.note(&format_args!("write error: {}", reason(&error)));
                self.end(Exit::Failed)
            }
        }
    }

    /// Ends the process, since its output cannot be written.
    fn end(&self, exit: Exit) -> ! {
        mksum_io::remove_unfinished();
        self.clear();
        exit.now()
    }

    fn undisturbed<T>(&self, write: impl FnOnce() -> T) -> T {
        let mut screen = self.screen();
        screen.clear();
        write()
    }
}
