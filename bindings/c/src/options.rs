//! The options of calls that read files or streams: threads, the progress, and how it cancels them.

use crate::failure::{Failure, Status};
use crate::inputs::bad;
use mksum_io::Options;
use std::convert::Infallible;
use std::ffi::{c_int, c_uint, c_void};
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};
use std::{fs, slice};

/// `mksum_progress`.
pub type Progress = unsafe extern "C" fn(*mut c_void, u64, u64) -> c_int;

/// `mksum_options`.
#[repr(C)]
pub struct CallOptions {
    size: usize,
    threads: c_uint,
    progress: Option<Progress>,
    context: *mut c_void,
}

/// The time between two calls of the progress.
pub const TICK: Duration = Duration::from_millis(25);

/// What the work may have sent before the calling thread receives it: to wait for each would cost more than hashing a short file.
const SENT: usize = 256;

/// A call that reads: the engine's options, and the caller's function that is told the progress.
pub struct Call {
    /// What the call expects to read is noted here, and what it has read.
    pub options: Options,
    progress: Option<(Progress, *mut c_void)>,
    /// Whether all that will be read is expected; not of directories, which are walked as they are read.
    measured: bool,
    cancelled: bool,
}

impl Call {
    /// A call with the caller's options; with the usual ones if that is NULL.
    ///
    /// # Safety
    /// `options` is NULL, or points to as many readable bytes as its `size` says, whose function is as `mksum.h` requires it for as long
    /// as the result lives.
    pub unsafe fn new(options: *const CallOptions) -> Result<Self, Failure> {
        let mut call = Call { options: Options::new(), progress: None, measured: false, cancelled: false };
        if options.is_null() {
            return Ok(call);
        }
        // SAFETY: this function has the same contract.
        let given = unsafe { sized(options, "options", "MKSUM_OPTIONS")? };
        if given.threads > 0 {
            call.options.threads = given.threads as usize;
        }
        call.progress = given.progress.map(|progress| (progress, given.context));
        Ok(call)
    }

    /// Notes that so many bytes will be read, besides those that the work expects itself.
    pub fn expect(&mut self, bytes: u64) {
        self.measured = true;
        self.options.meter.expect(bytes);
    }

    /// Notes that the files at `paths` will be read whole.
    pub fn expect_files<'a>(&mut self, paths: impl IntoIterator<Item = &'a Path>) {
        if self.progress.is_none() {
            return;
        }
        for path in paths {
            let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file);
            self.expect(metadata.map_or(0, |metadata| metadata.len()));
        }
    }

    /// Does the work, and returns its result unless the caller cancels it.
    pub fn run<T: Send>(&mut self, work: impl FnOnce(&Options) -> T + Send) -> Result<T, Failure> {
        self.run_with(&mut |never: Infallible| match never {}, |options, _| work(options))
    }

    /// As [`run`](Self::run); what `work` passes to its second argument, `receive` gets on the calling thread, in order, and nothing more
    /// once the caller has cancelled the call.
    pub fn run_with<E: Send, T: Send>(
        &mut self,
        receive: &mut dyn FnMut(E),
        work: impl FnOnce(&Options, &mut dyn FnMut(E)) -> T + Send,
    ) -> Result<T, Failure> {
        match self.progress {
            None => Ok(work(&self.options, receive)),
            Some(_) => self.run_apart(receive, |options, send| work(options, send)),
        }
    }

    /// As [`run_with`](Self::run_with), for work of which any thread sends: it is done on another thread than this one.
    pub fn run_apart<E: Send, T: Send>(
        &mut self,
        receive: &mut dyn FnMut(E),
        work: impl FnOnce(&Options, &mut (dyn FnMut(E) + Send)) -> T + Send,
    ) -> Result<T, Failure> {
        self.tell();
        if self.cancelled {
            return Err(cancelled());
        }
        let done = self.attend(receive, work)?;
        if self.cancelled {
            return Err(cancelled());
        }
        self.tell();
        Ok(done)
    }

    /// Does the work on another thread, while this one receives and tells the progress.
    fn attend<E: Send, T: Send>(
        &mut self,
        receive: &mut dyn FnMut(E),
        work: impl FnOnce(&Options, &mut (dyn FnMut(E) + Send)) -> T + Send,
    ) -> Result<T, Failure> {
        let (sender, sent) = sync_channel::<E>(SENT);
        let options = self.options.clone();
        let worker = move || {
            // All is received until the work ends.
            let mut send = move |event| sender.send(event).unwrap_or(());
            work(&options, &mut send)
        };
        thread::scope(|scope| {
            let thread = thread::Builder::new().name("mksum".into()).spawn_scoped(scope, worker).map_err(|error| {
                Failure::new(Status::ReadFailed, format_args!("the system starts no thread for the work: {error}"))
            })?;
            let mut next = Instant::now() + TICK;
            loop {
                let event = match self.progress {
                    None => sent.recv().map_err(|_| RecvTimeoutError::Disconnected),
                    Some(_) => sent.recv_timeout(next.saturating_duration_since(Instant::now())),
                };
                match event {
                    Ok(event) if !self.cancelled => receive(event),
                    Ok(_) | Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => break,
                }
                if Instant::now() >= next {
                    self.tell();
                    next = Instant::now() + TICK;
                }
            }
            Ok(thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
        })
    }

    /// Tells the caller the progress; if the caller cancels the call, the work ends soon.
    fn tell(&mut self) {
        let Some((progress, context)) = self.progress.filter(|_| !self.cancelled) else { return };
        let meter = &self.options.meter;
        let all = if self.measured { meter.expected() } else { 0 };
        let done = meter.bytes().saturating_add(meter.skipped());
        // Bytes that are read twice are not expected twice everywhere.
        let done = if all > 0 { done.min(all) } else { done };
        // SAFETY: `mksum.h` requires a function that takes these arguments and returns.
        if unsafe { progress(context, done, all) } != 0 {
            self.cancelled = true;
            self.options.stop.stop();
        }
    }
}

/// Returns the options at `options`, the parameter `name`, which begin with their size as those of the macro `usual` do.
///
/// # Safety
/// `options` points to as many readable bytes as its `size` says, which do not change during `'a`; `T` begins with that size.
pub unsafe fn sized<'a, T>(options: *const T, name: &str, usual: &str) -> Result<&'a T, Failure> {
    let known = size_of::<T>();
    // SAFETY: this function has the same contract; the options of every version begin with their size.
    let size = unsafe { *options.cast::<usize>() };
    if size < known {
        return Err(bad(name, format_args!("size: expected {known} or more, found {size}: begin with {usual}")));
    }
    // SAFETY: this function has the same contract.
    let more = unsafe { slice::from_raw_parts(options.cast::<u8>().add(known), size - known) };
    if more.iter().any(|&byte| byte != 0) {
        return Err(bad(name, "one of them is set that this version of libmksum does not have"));
    }
    // SAFETY: this function has the same contract, and the options have the size that is known.
    Ok(unsafe { &*options })
}

fn cancelled() -> Failure {
    Failure::new(Status::Cancelled, "the progress function cancelled the call")
}
