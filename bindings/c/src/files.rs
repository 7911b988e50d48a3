//! Roots of files, streams and directories.

use crate::failure::{Status, of_io, status, text_of};
use crate::inputs::{self, path_of};
use crate::options::{Call, CallOptions, TICK};
use crate::roots::{no_root, parsed, spec, write};
use mksum::directory::DirectorySpec;
use mksum_io::{Input, Job, hash, hash_all, hash_directory, hash_reader};
use std::ffi::{c_char, c_int, c_void};
use std::io::{self, Read};
use std::mem;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::slice;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::Instant;

/// `mksum_root_of_file`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_root_of_file(
    format: *const c_char,
    path: *const c_char,
    options: *const CallOptions,
    text: *mut c_char,
    room: usize,
) -> Status {
    status(|| {
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let (spec, path) = unsafe { (spec(format)?, inputs::bytes_of(path, "path")?) };
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let (mut call, text) = unsafe { (Call::new(options)?, inputs::room(text.cast(), room, path, "text")?) };
        let path = path_of(path)?;
        call.expect_files([path.as_path()]);
        let job = Job::new(Input::place(path), vec![spec]);
        let root = call.run(|options| hash(&job, options).and_then(|mut roots| roots.remove(0)))?;
        write(&root.map_err(of_io)?, text)
    })
}

/// `mksum_read`.
pub type ReadFunction = unsafe extern "C" fn(*mut c_void, *mut u8, usize) -> isize;

/// `mksum_root_of_stream`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_root_of_stream(
    format: *const c_char,
    read: Option<ReadFunction>,
    context: *mut c_void,
    options: *const CallOptions,
    text: *mut c_char,
    room: usize,
) -> Status {
    status(|| {
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let (spec, mut call) = unsafe { (spec(format)?, Call::new(options)?) };
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let text = unsafe { inputs::room(text.cast(), room, &[], "text")? };
        let mut source = Source { read: inputs::given(read, "read")?, context, end: None };
        let mut fill = |Lent { mut buffer, back }: Lent| {
            let filled = source.fill(&mut buffer).map(|got| (buffer, got));
            // Whoever lent it waits for it.
            let _ = back.send(filled);
        };
        let root = call.run_apart(&mut fill, |options, send| {
            let mut reader = Lending { send, spare: Vec::new() };
            let roots = hash_reader(&mut reader, &Input::place("stream"), slice::from_ref(&spec), options);
            roots.and_then(|mut roots| roots.remove(0))
        })?;
        write(&root.map_err(of_io)?, text)
    })
}

/// The caller's function, on the calling thread.
struct Source {
    read: ReadFunction,
    context: *mut c_void,
    /// What the stream ends with.
    end: Option<Result<usize, &'static str>>,
}

impl Source {
    /// Fills as much of a buffer as can be read in a [`TICK`]: a turn of another thread costs more than a short read does.
    fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, &'static str> {
        let (begin, mut filled) = (Instant::now(), 0);
        while filled < buffer.len() && (filled == 0 || begin.elapsed() < TICK) {
            match self.end.unwrap_or_else(|| self.read(&mut buffer[filled..])) {
                Ok(more) if more > 0 => filled += more,
                end => {
                    self.end = Some(end);
                    return if filled > 0 { Ok(filled) } else { end };
                }
            }
        }
        Ok(filled)
    }

    fn read(&self, buffer: &mut [u8]) -> Result<usize, &'static str> {
        // SAFETY: `mksum.h` requires a function that writes at most so many bytes there and returns.
        let got = unsafe { (self.read)(self.context, buffer.as_mut_ptr(), buffer.len()) };
        match usize::try_from(got) {
            Err(_) => Err("the function that reads failed"),
            Ok(got) if got > buffer.len() => Err("the function that reads returned more bytes than it was asked for"),
            Ok(got) => Ok(got),
        }
    }
}

/// A buffer on its way to the calling thread, which fills it and sends it back with the number of bytes.
struct Lent {
    buffer: Vec<u8>,
    back: SyncSender<Result<(Vec<u8>, usize), &'static str>>,
}

/// The caller's function as a reader on any thread.
struct Lending<'a> {
    send: &'a mut (dyn FnMut(Lent) + Send),
    spare: Vec<u8>,
}

impl Read for Lending<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let (back, filled) = sync_channel(1);
        let mut buffer = mem::take(&mut self.spare);
        buffer.resize(bytes.len(), 0);
        (self.send)(Lent { buffer, back });
        let (buffer, got) = filled.recv().unwrap_or(Err("cancelled")).map_err(io::Error::other)?;
        bytes[..got].copy_from_slice(&buffer[..got]);
        self.spare = buffer;
        Ok(got)
    }
}

/// `mksum_root_of_directory`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_root_of_directory(
    format: *const c_char,
    path: *const c_char,
    options: *const CallOptions,
    text: *mut c_char,
    room: usize,
) -> Status {
    status(|| {
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let (spec, path) = unsafe { (parsed::<DirectorySpec>(format)?, inputs::bytes_of(path, "path")?) };
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let (mut call, text) = unsafe { (Call::new(options)?, inputs::room(text.cast(), room, path, "text")?) };
        let path = path_of(path)?;
        let leaves = call.run(|options| {
            let hashed = hash_directory(&path, slice::from_ref(&spec), options, &mut |_| {});
            hashed.map_err(|mut errors| errors.swap_remove(0))
        })?;
        let root = leaves.map_err(of_io)?[0].root().map_err(|error| no_root(&spec, &error))?;
        write(&root, text)
    })
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
    options: *const CallOptions,
    each: Option<Each>,
    context: *mut c_void,
) -> Status {
    status(|| {
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let (formats, paths) =
            unsafe { (inputs::array(formats, formats_len, "formats")?, inputs::array(paths, paths_len, "paths")?) };
        // SAFETY: `mksum.h` requires valid pointers of the caller, also in the array.
        let specs = formats.iter().map(|&format| unsafe { spec(format) }).collect::<Result<Vec<_>, _>>()?;
        // SAFETY: as for the formats.
        let path = |&path| path_of(unsafe { inputs::bytes_of(path, "paths")? });
        let paths: Vec<PathBuf> = paths.iter().map(path).collect::<Result<_, _>>()?;
        let each = inputs::given(each, "each")?;
        // SAFETY: `mksum.h` requires a valid pointer of the caller.
        let mut call = unsafe { Call::new(options)? };
        call.expect_files(paths.iter().map(PathBuf::as_path));
        let (mut file, stop) = (0, call.options.stop.clone());
        let mut tell = |results: Vec<(Status, String)>| {
            let number = file;
            file += 1;
            if stop.is_stopped() {
                return;
            }
            let ends = results.into_iter().enumerate().any(|(format, (status, text))| {
                let text = text_of(text);
                // SAFETY: `mksum.h` requires a function that takes these arguments and returns.
                unsafe { each(context, number, format, status, text.as_ptr()) != 0 }
            });
            if ends {
                stop.stop();
            }
        };
        call.run_with(&mut tell, |options, tell| {
            let jobs = paths.iter().map(|path| Job::new(Input::place(path), specs.clone()));
            hash_all(jobs, options, |_, result, _| {
                let fail = |error| of_io(error).into_parts();
                tell(match result {
                    Ok(roots) => roots
                        .into_iter()
                        .map(|root| root.map_or_else(fail, |root| (Status::Ok, root.to_string())))
                        .collect(),
                    Err(error) => vec![fail(error); specs.len()],
                });
                if options.stop.is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
        })
    })
}
