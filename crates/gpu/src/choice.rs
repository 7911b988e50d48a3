//! Which device, by the name that people have for it.

use crate::{Class, Device, Error, Fallback, Options, find};

/// The device with this index or name, as [`find`] has it; `None` is the CPU (`cpu`).
///
/// `auto` is a GPU where there is one, and the CPU, which then does too what it fails at; any other device falls back as the
/// options say.
///
/// # Errors
/// If there is no such device, its driver does not let us use it, or OpenCL is not installed.
pub fn choose(wanted: &str, options: Options) -> Result<Option<Device>, Error> {
    if wanted == "cpu" {
        // Nobody pays for OpenCL who has not asked for it: its runtimes take megabytes and milliseconds to load.
        return Ok(None);
    }
    let (info, options) = match (wanted, find(wanted)) {
        // Where nobody asked for a certain device, having none is no error; nor is a CPU faster for going through OpenCL.
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
    fn the_cpu_is_always_there() {
        assert!(choose("cpu", Options::default()).unwrap().is_none());
        assert!(choose("auto", Options::default()).is_ok());
        assert!(choose("no device has this name", Options::default()).is_err());
        assert!(choose("", Options::default()).is_err());
    }
}
