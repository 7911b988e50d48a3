//! The progress line on a terminal: bytes, files, speed, the time left and the current file, for work that takes a while.

use crate::console::Console;
use crate::figures::{grouped, size};
use console::{measure_text_width, truncate_str};
use mksum_io::{Input, Meter};
use std::collections::VecDeque;
use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// A progress line that is gone when this is dropped.
#[derive(Debug)]
pub struct Progress {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// The amount of work, as far as it is known.
#[derive(Debug, Default)]
struct Work {
    files: AtomicU64,
    /// Whether all files are counted; with `true`, their lengths are all known.
    counted: OnceLock<bool>,
}

impl Progress {
    /// Work that ends earlier shows nothing.
    const PATIENCE: Duration = Duration::from_millis(500);
    const TICK: Duration = Duration::from_millis(100);

    /// Shows how far `meter` is; `None` where standard error is not a terminal. `lengths` has the length of each file that
    /// will be read, if it is known; a run with a deadline ends there, whatever is left.
    pub fn start<L>(
        console: &Arc<Console>,
        meter: &Arc<Meter>,
        deadline: Option<Instant>,
        lengths: impl FnOnce() -> L + Send + 'static,
    ) -> Option<Progress>
    where
        L: Iterator<Item = Option<u64>>,
    {
        if !io::stderr().is_terminal() {
            return None;
        }
        let (stop, stopped) = mpsc::channel::<()>();
        let (console, meter) = (Arc::clone(console), Arc::clone(meter));
        let mut pace = Pace::new();
        let show = move || {
            if stopped.recv_timeout(Self::PATIENCE) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            // A large directory takes its time: the line need not wait for it.
            let work = Arc::new(Work::default());
            let (counter, expecting) = (Arc::clone(&work), Arc::clone(&meter));
            let count = move || {
                let mut known = true;
                for length in lengths() {
                    counter.files.fetch_add(1, Ordering::Relaxed);
                    known &= length.is_some();
                    expecting.expect(length.unwrap_or(0));
                }
                let _ = counter.counted.set(known);
            };
            // Without the thread there is no total.
            let _ = thread::Builder::new().name("total".into()).spawn(count);
            while stopped.recv_timeout(Self::TICK) == Err(RecvTimeoutError::Timeout) {
                let counted = work.counted.get();
                let state = pace.state(&meter, counted == Some(&true), deadline);
                let files = work.files.load(Ordering::Relaxed);
                let files = counted.map(|_| (meter.files().min(files), files)).filter(|(_, files)| *files > 1);
                let name = meter.name();
                match meter.listed() {
                    listed if listed > 0 && state.done == 0 && name.is_none() => {
                        console.show(|columns| end(&format!("{} entries listed", grouped(listed)), columns + 1));
                    }
                    _ => console.show(|columns| line(&State { files, ..state }, name.as_ref(), columns)),
                }
            }
            console.clear();
        };
        let thread = thread::Builder::new().name("progress".into()).spawn(show).ok()?;
        Some(Progress { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A line that could not be drawn is no reason to fail.
            let _ = thread.join();
        }
    }
}

/// The speed of the last seconds.
struct Pace {
    /// The bytes that were done at these times, the oldest first.
    seen: VecDeque<(Instant, u64)>,
}

/// The numbers of a progress line.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// In bytes, with those that need not be read.
    done: u64,
    /// In bytes, if it is known.
    total: Option<u64>,
    /// The files done, and all, if there are several.
    files: Option<(u64, u64)>,
    /// In bytes per second.
    speed: f64,
    /// In seconds, if it is known.
    left: Option<f64>,
}

impl Pace {
    /// The number of ticks that the speed is measured over: five seconds.
    const LATELY: usize = 50;

    fn new() -> Self {
        Pace { seen: VecDeque::from([(Instant::now(), 0)]) }
    }

    fn state(&mut self, meter: &Meter, counted: bool, deadline: Option<Instant>) -> State {
        let (now, read) = (Instant::now(), meter.bytes());
        let (then, before) = self.seen[0];
        let speed = read.saturating_sub(before) as f64 / (now - then).as_secs_f64().max(1e-9);
        self.seen.push_back((now, read));
        if self.seen.len() > Self::LATELY {
            self.seen.pop_front();
        }
        let done = read + meter.skipped();
        // A file may have grown since it was counted.
        let total = Some(meter.expected()).filter(|&total| counted && deadline.is_none() && total >= done.max(1));
        let left = match (deadline, total) {
            (Some(deadline), _) => Some(deadline.saturating_duration_since(now).as_secs_f64()),
            (None, Some(total)) if speed >= 1.0 => Some((total - done) as f64 / speed),
            _ => None,
        };
        State { done, total, files: None, speed, left }
    }
}

/// The line, in at most `columns` columns: where they do not suffice for everything, the less important parts are left out.
fn line(state: &State, name: Option<&Input>, columns: usize) -> String {
    /// The columns of the bar.
    const BAR: usize = 20;
    /// A shorter name says nothing.
    const NAME: usize = 12;
    let share = |total: u64, parts: u64| (u128::from(parts) * u128::from(state.done) / u128::from(total)) as usize;
    let bar = state.total.map(|total| format!("[{:<BAR$}] ", "=".repeat(share(total, BAR as u64))));
    let percent = state.total.map(|total| format!("{}% ", share(total, 100)));
    let done = match state.total {
        Some(total) => format!("{} of {}", size(state.done), size(total)),
        None => size(state.done),
    };
    let files = state.files.map(|(done, all)| format!(", {done} of {all} files"));
    let speed = Some(format!(", {}/s", size(state.speed as u64)));
    let left = state.left.map(|seconds| format!(", {} left", left(seconds)));
    // In the order of the line, each with its importance.
    let mut parts = [(bar, 1), (percent, 5), (Some(done), 6), (files, 3), (speed, 2), (left, 4)];
    let width = |parts: &[(Option<String>, u8)]| -> usize {
        parts.iter().filter_map(|(text, _)| text.as_deref()).map(measure_text_width).sum()
    };
    let mut importance = 1;
    while width(&parts) > columns && importance < 6 {
        parts.iter_mut().filter(|(_, own)| *own == importance).for_each(|(text, _)| *text = None);
        importance += 1;
    }
    let room = columns.saturating_sub(width(&parts) + 2);
    let line: String = parts.into_iter().filter_map(|(text, _)| text).collect();
    let name = name.map(Input::to_string).unwrap_or_default();
    match measure_text_width(&name) {
        long if long > 0 && long <= room => format!("{line}  {name}"),
        long if long > 0 && room >= NAME => format!("{line}  {}", end(&name, room)),
        _ => truncate_str(&line, columns, "").into_owned(),
    }
}

/// The end of a name, in `columns` columns.
fn end(name: &str, columns: usize) -> String {
    let mut from = name.char_indices().map(|(at, _)| at);
    let fits = |at: &usize| measure_text_width(&name[*at..]) < columns;
    from.find(fits).map_or_else(String::new, |at| format!("…{}", &name[at..]))
}

/// A duration in seconds, in one or two units.
pub fn left(seconds: f64) -> String {
    let seconds = seconds.ceil() as u64;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        3600..172_800 => format!("{} h {:02} min", seconds / 3600, seconds / 60 % 60),
        _ => format!("{} days {} h", seconds / 86_400, seconds / 3600 % 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_fits_its_terminal_and_keeps_what_matters() {
        let state = State {
            done: 1_230_000_000,
            total: Some(2_700_000_000),
            files: Some((12, 40)),
            speed: 512e6,
            left: Some(2.9),
        };
        let name = Input::place("photos/2024/summer/IMG_20240731_180532.jpg");
        let at = |columns| line(&state, Some(&name), columns);
        assert_eq!(
            at(199),
            "[=========           ] 45% 1.23 GB of 2.70 GB, 12 of 40 files, 512.00 MB/s, 3 s left  \
             photos/2024/summer/IMG_20240731_180532.jpg"
        );
        assert_eq!(at(79), "45% 1.23 GB of 2.70 GB, 12 of 40 files, 512.00 MB/s, 3 s left  …0731_180532.jpg");
        assert_eq!(at(39), "45% 1.23 GB of 2.70 GB, 3 s left");
        for columns in 0..200 {
            assert!(measure_text_width(&at(columns)) <= columns, "{columns}: {}", at(columns));
        }
        let unknown = State { total: None, files: None, left: None, ..state };
        assert_eq!(line(&unknown, Some(&Input::Stdin), 79), "1.23 GB, 512.00 MB/s  -");
    }

    #[test]
    fn times_are_short() {
        let times = [0.2, 59.5, 61.0, 7290.0, 864_000.0];
        assert_eq!(times.map(left), ["1 s", "1 min 00 s", "1 min 01 s", "2 h 01 min", "10 days 0 h"]);
    }
}
