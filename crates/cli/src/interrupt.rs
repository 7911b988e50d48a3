//! Signals that end the process: Ctrl-C, SIGTERM, SIGHUP.

use crate::console::Console;
#[cfg(not(unix))]
use crate::exit::Exit;
use std::sync::{Arc, Mutex, PoisonError};

/// What the first signal does in the place of ending the process.
static FIRST: Mutex<Option<Box<dyn FnOnce() + Send>>> = Mutex::new(None);

/// Has the first signal call `stop`, which is to end the work; a second one ends the process as usual.
#[cfg(any(feature = "serve", all(feature = "mount", target_os = "linux")))]
pub fn on_first(stop: impl FnOnce() + Send + 'static) {
    *FIRST.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(stop));
}

/// Whether this signal was the first, and has ended the work.
fn is_first() -> bool {
    let first = FIRST.lock().unwrap_or_else(PoisonError::into_inner).take();
    first.map(|stop| stop()).is_some()
}

/// Ends the process on such a signal, whatever its threads wait for; a process that was started to ignore one still does. A file that
/// grows over the limit of the process is an error of the write, and no longer a signal that ends it.
#[cfg(unix)]
pub fn catch(console: &Arc<Console>) {
    use crate::exit::Exit;
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    use signal_hook::iterator::Signals;
    use std::sync::mpsc;
    let ignored = ignored();
    let numbers = [SIGHUP, SIGINT, SIGTERM, SIGXFSZ];
    let caught: Vec<_> = numbers.into_iter().filter(|&number| ignored & 1 << (number - 1) == 0).collect();
    let console = Arc::clone(console);
    let (ready, begun) = mpsc::channel::<()>();
    // They are caught only on this thread: without it the system's own way to end the process remains.
    let wait = move || {
        let Ok(mut signals) = Signals::new(caught) else { return };
        drop(ready);
        if let Some(number) = signals.forever().find(|&number| number != SIGXFSZ && !is_first()) {
            console.interrupt(Exit::Signal(number as u8));
        }
    };
    if std::thread::Builder::new().name("signals".into()).spawn(wait).is_ok() {
        // Until then a signal would end the process as it is, with all that is unfinished.
        let _ = begun.recv();
    }
}

/// The signals that this process was started to ignore, as `nohup` has it: a bit for each number, from 1 on.
#[cfg(unix)]
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// Ends the process on Ctrl-C or when the console is closed, whatever its threads wait for.
#[cfg(not(unix))]
pub fn catch(console: &Arc<Console>) {
    let console = Arc::clone(console);
    // Where it cannot be caught, the system's own way to end the process remains.
    let _ = ctrlc::try_set_handler(move || {
        if !is_first() {
            console.interrupt(Exit::Signal(2));
        }
    });
}
