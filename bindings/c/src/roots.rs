//! Roots of bytes and files.

use crate::failure::{Failure, Status, status, text_of};
use crate::inputs::{self, path_of};
use mksum::directory::DirectorySpec;
use mksum::{Root, Spec};
use mksum_io::{Error, Input, Job, Options, hash, hash_all, hash_directory};
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::fmt::Display;
use std::ops::ControlFlow;
use std::path::Path;
use std::slice;
use std::str::FromStr;

/// `mksum_root_of_bytes`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_root_of_bytes(
    format: *const c_char,
    bytes: *const u8,
    len: usize,
    text: *mut c_char,
    room: usize,
) -> Status {
    let root = || {
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let (spec, bytes) = unsafe { (spec(format)?, inputs::bytes(bytes, len, "bytes")?) };
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let text = unsafe { inputs::room(text.cast(), room, bytes, "text")? };
        let root = spec.root(bytes).map_err(|error| no_root(&spec, &error))?;
        write(&root, text)
    };
    status(root())
}

/// `mksum_root_of_file`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_root_of_file(
    format: *const c_char,
    path: *const c_char,
    text: *mut c_char,
    room: usize,
) -> Status {
    let root = || {
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let (spec, path) = unsafe { (spec(format)?, inputs::bytes_of(path, "path")?) };
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let text = unsafe { inputs::room(text.cast(), room, path, "text")? };
        let path = path_of(path)?;
        let job = Job::new(Input::Path(path.clone()), vec![spec]);
        let roots = hash(&job, &Options::new()).map_err(|error| refused(&path, &error))?;
        for root in roots {
            write(&root.map_err(|error| refused(&path, &error))?, text)?;
        }
        Ok(())
    };
    status(root())
}

/// `mksum_root_of_directory`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_root_of_directory(
    format: *const c_char,
    path: *const c_char,
    text: *mut c_char,
    room: usize,
) -> Status {
    let root = || {
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let (spec, path) = unsafe { (parsed::<DirectorySpec>(format)?, inputs::bytes_of(path, "path")?) };
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let text = unsafe { inputs::room(text.cast(), room, path, "text")? };
        let path = path_of(path)?;
        let leaves = hash_directory(&path, slice::from_ref(&spec), &Options::new(), &mut |_| {});
        let leaves = leaves.map_err(|errors| refused(errors[0].path(), &errors[0]))?;
        let root = leaves[0].root().map_err(|error| no_root(&spec, &error))?;
        write(&root, text)
    };
    status(root())
}

/// `mksum_each`.
pub type Each = unsafe extern "C" fn(*mut c_void, usize, usize, Status, *const c_char) -> c_int;

/// `mksum_hash_files`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_hash_files(
    formats: *const *const c_char,
    formats_len: usize,
    paths: *const *const c_char,
    paths_len: usize,
    threads: c_uint,
    each: Option<Each>,
    context: *mut c_void,
) -> Status {
    let all = || {
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let (formats, paths) =
            unsafe { (inputs::array(formats, formats_len, "formats")?, inputs::array(paths, paths_len, "paths")?) };
        // SAFETY: `mksum.h` requires valid pointers of the caller, also in the array.
        let specs = formats.iter().map(|&format| unsafe { spec(format) }).collect::<Result<Vec<_>, _>>()?;
        // SAFETY: as for the formats.
        let path = |&path| path_of(unsafe { inputs::bytes_of(path, "paths")? });
        let paths = paths.iter().map(path).collect::<Result<Vec<_>, _>>()?;
        let each = inputs::given(each, "each")?;
        let threads = if threads == 0 { Options::new().threads } else { threads as usize };
        let jobs = paths.iter().map(|path| Job::new(Input::Path(path.clone()), specs.clone()));
        let mut file = 0;
        hash_all(jobs, &Options { threads, ..Options::new() }, |_, result, _| {
            let number = file;
            file += 1;
            let fail = |error: &Error| refused(&paths[number], error).into_parts();
            let mut told = match result {
                Ok(roots) => roots
                    .iter()
                    .map(|root| root.as_ref().map_or_else(fail, |root| (Status::Ok, root.to_string())))
                    .collect(),
                Err(error) => vec![fail(&error); specs.len()],
            };
            let stop = told.drain(..).enumerate().any(|(format, (status, text))| {
                let text = text_of(text);
                // SAFETY: `mksum.h` requires a function that takes these arguments and returns.
                unsafe { each(context, number, format, status, text.as_ptr()) != 0 }
            });
            if stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        Ok(())
    };
    status(all())
}

/// The failure to hash the file at `path`.
fn refused(path: &Path, error: &Error) -> Failure {
    let status = if matches!(error, Error::Format { .. }) { Status::NoRoot } else { Status::ReadFailed };
    Failure::new(status, format_args!("{}: {error}", path.display()))
}

/// Parses the format string.
///
/// # Safety
/// As [`inputs::string`].
pub unsafe fn spec(format: *const c_char) -> Result<Spec, Failure> {
    // SAFETY: this function has the same contract.
    unsafe { parsed(format) }
}

/// Parses a format string of files or of directories.
///
/// # Safety
/// As [`inputs::string`].
unsafe fn parsed<T: FromStr<Err: Display>>(format: *const c_char) -> Result<T, Failure> {
    // SAFETY: this function has the same contract.
    let name = unsafe { inputs::string(format, "format")? };
    name.parse().map_err(|error| Failure::new(Status::BadFormat, format_args!("{name}: {error}")))
}

/// The failure of bytes that have no root in a format.
pub fn no_root(spec: &dyn Display, error: &mksum::Error) -> Failure {
    Failure::new(Status::NoRoot, format_args!("{spec}: {error}"))
}

/// Writes the root as text, with a zero byte at the end.
pub fn write(root: &Root, text: &mut [u8]) -> Result<(), Failure> {
    inputs::put((root.to_string() + "\0").as_bytes(), text, "text")
}
