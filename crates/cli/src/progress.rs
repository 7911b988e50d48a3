//! Progress on a terminal: bytes, speed and the time left, for work that takes a while.

use crate::console::Console;
use indicatif::{DecimalBytes, ProgressBar, ProgressDrawTarget, ProgressStyle};
use mksum_io::Meter;
use std::collections::VecDeque;
use std::io::{self, IsTerminal};
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

impl Progress {
    /// Work that ends earlier shows nothing.
    const PATIENCE: Duration = Duration::from_millis(500);
    const TICK: Duration = Duration::from_millis(100);

    /// Shows how far `meter` is on the way to `total`, which is asked for only then; `None` where nobody looks.
    pub fn start(
        console: &Arc<Console>,
        meter: &Arc<Meter>,
        total: impl FnOnce() -> Option<u64> + Send + 'static,
    ) -> Option<Progress> {
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
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            bar.set_style(ProgressStyle::with_template("{wide_msg}").expect("a sound template"));
            console.show(bar.clone());
            // A large directory takes its time: the line need not wait for it.
            let counted = Arc::new(OnceLock::new());
            let counter = Arc::clone(&counted);
            let count = move || total().is_some_and(|total| counter.set(total).is_ok());
            // Without the thread there is no total.
            let _ = thread::Builder::new().name("total".into()).spawn(count);
            while stopped.recv_timeout(Self::TICK) == Err(RecvTimeoutError::Timeout) {
                bar.set_message(pace.line(meter.bytes(), counted.get().copied()));
            }
            bar.finish_and_clear();
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

/// How fast it went lately.
struct Pace {
    /// When how many bytes were done, the oldest first.
    seen: VecDeque<(Instant, u64)>,
}

impl Pace {
    /// What "lately" means, in ticks: five seconds.
    const LATELY: usize = 50;

    fn new() -> Self {
        Pace { seen: VecDeque::from([(Instant::now(), 0)]) }
    }

    /// How much is done, how fast, and the time that is left until `total`.
    fn line(&mut self, done: u64, total: Option<u64>) -> String {
        let now = Instant::now();
        let (then, before) = self.seen[0];
        let speed = (done - before) as f64 / (now - then).as_secs_f64().max(1e-9);
        self.seen.push_back((now, done));
        if self.seen.len() > Self::LATELY {
            self.seen.pop_front();
        }
        line(done, total, speed)
    }
}

fn line(done: u64, total: Option<u64>, speed: f64) -> String {
    /// The letters of the bar.
    const BAR: usize = 24;
    let pace = format!("{}/s", DecimalBytes(speed as u64));
    // A file may have grown since it was counted.
    let Some(total) = total.filter(|&total| total >= done.max(1)) else {
        return format!("{}, {pace}", DecimalBytes(done));
    };
    let filled = "=".repeat((BAR as u128 * u128::from(done) / u128::from(total)) as usize);
    let percent = 100 * u128::from(done) / u128::from(total);
    let bar = format!("{} of {} [{filled:<BAR$}] {percent}%", DecimalBytes(done), DecimalBytes(total));
    match (total - done) as f64 / speed {
        seconds if speed >= 1.0 => format!("{bar}, {pace}, {} left", left(seconds)),
        _ => format!("{bar}, {pace}"),
    }
}

/// A duration in seconds, as people tell it.
pub fn left(seconds: f64) -> String {
    let seconds = seconds.ceil() as u64;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_read_well() {
        assert_eq!(
            line(15_000_000, Some(60_000_000), 1e7),
            "15.00 MB of 60.00 MB [======                  ] 25%, 10.00 MB/s, 5 s left"
        );
        assert_eq!(line(1500, None, 0.0), "1.50 kB, 0 B/s");
        assert_eq!(line(5, Some(5), 5e9), "5 B of 5 B [========================] 100%, 5.00 GB/s, 0 s left");
    }

    #[test]
    fn waiting_times_read_well() {
        assert_eq!([0.2, 59.5, 61.0, 7290.0].map(left), ["1 s", "1 min 00 s", "1 min 01 s", "2 h 01 min"]);
    }
}
