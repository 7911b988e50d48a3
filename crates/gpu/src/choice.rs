//! Choice of a device by the name that a user gives.

use crate::{Class, Device, Error, Fallback, Options, find};

/// Opens the device with this index or name (see [`find`]), or returns `None` for the CPU (`cpu`).
///
/// `auto` chooses a GPU if there is one, with fallback to the CPU, and else the CPU. For any other device, the options
/// control the fallback.
///
/// # Errors
/// If there is no such device, its driver refuses a context, or OpenCL is not installed.
pub fn choose(wanted: &str, options: Options) -> Result<Option<Device>, Error> {
    if wanted == "cpu" {
        // OpenCL runtimes take megabytes and milliseconds to load, so they are loaded only on request.
        return Ok(None);
    }
    let (info, options) = match (wanted, find(wanted)) {
        // With `auto`, a missing device is not an error, and a CPU is not faster through OpenCL.
        ("auto", Ok(info)) if info.class == Class::Cpu => return Ok(None),
        ("auto", Err(_)) => return Ok(None),
        ("auto", info) => (info?, Options { fallback: Fallback::Cpu, ..options }),
        (_, info) => (info?, options),
    };
    Device::open(&info, options).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_is_always_available() {
        assert!(choose("cpu", Options::default()).unwrap().is_none());
        assert!(choose("auto", Options::default()).is_ok());
        assert!(choose("no device has this name", Options::default()).is_err());
        assert!(choose("", Options::default()).is_err());
    }
}
