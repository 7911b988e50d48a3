//! Ctrl-C.

use crate::console::Console;
use std::sync::Arc;

/// Ends the process on Ctrl-C, whatever its threads wait for; a process that was started to ignore it still does.
pub fn catch(console: &Arc<Console>) {
    let console = Arc::clone(console);
    // Where it cannot be caught, the system's own way to end the process remains.
    let _ = ctrlc::try_set_handler(move || console.interrupt());
}
