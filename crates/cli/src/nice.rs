//! The idle I/O class.

use std::process::{self, Command};

/// Puts this process into the idle I/O class; the threads that it starts later inherit it.
///
/// Linux has no call for it in any library that is kept up and safe; util-linux's `ionice` makes it.
///
/// # Errors
/// If there is no `ionice` here, or it fails.
pub fn to_idle() -> Result<(), String> {
    let pid = process::id().to_string();
    let done = Command::new("ionice").args(["-c", "3", "-p", &pid]).output();
    match done {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(format!("--io-nice: {}", String::from_utf8_lossy(&output.stderr).trim())),
        Err(error) => Err(format!("--io-nice: the program ionice (util-linux) cannot be run: {error}")),
    }
}
