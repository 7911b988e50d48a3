//! Progress on a terminal: bytes, speed and the time left, for work that takes a while.

use crate::console::Console;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use mksum_io::Meter;
use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

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
    const WITH_TOTAL: &str =
        "{decimal_bytes} of {decimal_total_bytes} [{bar:24}] {percent}%, {decimal_bytes_per_sec}, {eta} left";
    const WITHOUT: &str = "{spinner} {decimal_bytes}, {decimal_bytes_per_sec}, {elapsed}";

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
        let show = move || {
            if stopped.recv_timeout(Self::PATIENCE) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            bar.set_style(style(Self::WITHOUT));
            console.show(bar.clone());
            // A large directory takes its time: the line need not wait for it.
            let counted = bar.clone();
            let count = move || {
                if let Some(total) = total().filter(|&total| total > 0) {
                    counted.set_length(total);
                    counted.set_style(style(Self::WITH_TOTAL));
                }
            };
            let _ = thread::Builder::new().name("total".into()).spawn(count);
            while stopped.recv_timeout(Self::TICK) == Err(RecvTimeoutError::Timeout) {
                bar.set_position(meter.bytes());
                bar.tick();
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

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("a sound template").progress_chars("=> ")
}
