//! Catalogues of directories.

use crate::failure::{Failure, Status, status, text_of};
use crate::inputs::{self, path_of};
use crate::options::{Call, CallOptions};
use crate::roots::spec;
use mksum_catalogue::{
    Access, Catalogue, Effort, Error, Finding, diff_catalogues, place, repair, status as compare, update, verify,
};
use mksum_io::{Input, Options, Stop, path_from_bytes};
use std::ffi::{CString, c_char, c_double, c_int, c_void};
use std::path::{Path, PathBuf};
use std::ptr;
use std::time::Duration;

/// `mksum_entry`.
#[repr(C)]
pub struct Entry {
    /// `mksum_state`.
    state: c_int,
    path: *const c_char,
    path_len: usize,
    from: *const c_char,
    from_len: usize,
    reason: *const c_char,
    bytes: u64,
    ranges: *const u64,
    ranges_len: usize,
}

/// `mksum_each_entry`.
pub type EachEntry = unsafe extern "C" fn(*mut c_void, *const Entry) -> c_int;

/// The caller's function, which is not called any more once it has asked for the end.
struct Caller {
    each: EachEntry,
    context: *mut c_void,
    stop: Stop,
    ended: bool,
}

impl Caller {
    /// # Safety
    /// `each` is NULL or a function as `mksum.h` requires it, for as long as the result lives.
    unsafe fn new(each: Option<EachEntry>, context: *mut c_void, options: &Options) -> Result<Self, Failure> {
        let each = inputs::given(each, "each")?;
        Ok(Caller { each, context, stop: options.stop.clone(), ended: false })
    }

    fn tell(&mut self, finding: Finding) {
        if self.stop.is_stopped() {
            return;
        }
        let start = |text: &Option<CString>| text.as_ref().map_or(ptr::null(), |text| text.as_ptr());
        let reason = finding.reason().map(text_of);
        let path = CString::new(finding.path).unwrap_or_default();
        let from = finding.from.map(|from| CString::new(from).unwrap_or_default());
        let ranges: Vec<_> = finding.ranges.iter().flat_map(|range| [range.start, range.end]).collect();
        let entry = Entry {
            state: finding.state as c_int,
            path: path.as_ptr(),
            path_len: path.count_bytes(),
            from: start(&from),
            from_len: from.as_ref().map_or(0, |from| from.count_bytes()),
            reason: start(&reason),
            bytes: finding.bytes.unwrap_or(0),
            ranges: if ranges.is_empty() { ptr::null() } else { ranges.as_ptr() },
            ranges_len: ranges.len() / 2,
        };
        // SAFETY: `mksum.h` requires a function that takes these arguments and returns; the entry lives until then.
        if unsafe { (self.each)(self.context, &raw const entry) } != 0 {
            self.ended = true;
            self.stop.stop();
        }
    }

    /// What a call returns: that its caller has ended it is no failure.
    fn end(&self, catalogue: &Path, result: Result<(), Error>) -> Result<(), Failure> {
        match result {
            Err(Error::Io(mksum_io::Error::Stopped { .. })) if self.ended => Ok(()),
            result => result.map_err(|error| failed(catalogue, &error)),
        }
    }
}

/// What the functions on a directory's catalogue are called with.
struct OfDirectory {
    directory: PathBuf,
    catalogue: PathBuf,
    call: Call,
    caller: Caller,
}

impl OfDirectory {
    /// # Safety
    /// `directory` and `catalogue` are NULL or point to strings that end with a zero byte; `options` is as [`Call::new`] wants it, and
    /// `each` NULL or a function as `mksum.h` requires it, for as long as the result lives.
    unsafe fn new(
        directory: *const c_char,
        catalogue: *const c_char,
        options: *const CallOptions,
        each: Option<EachEntry>,
        context: *mut c_void,
    ) -> Result<Self, Failure> {
        // SAFETY: this function has the same contract.
        unsafe {
            let call = Call::new(options)?;
            let directory = path_of(inputs::bytes_of(directory, "directory")?)?;
            let catalogue = match catalogue.is_null() {
                true => place(&directory),
                false => path_of(inputs::bytes_of(catalogue, "catalogue")?)?,
            };
            let caller = Caller::new(each, context, &call.options)?;
            Ok(OfDirectory { directory, catalogue, call, caller })
        }
    }

    /// Opens the catalogue and works on it.
    fn on(
        &mut self,
        open: impl FnOnce(&Path) -> Result<Catalogue, Error> + Send,
        work: impl FnOnce(&mut Catalogue, &Path, &Options, &mut dyn FnMut(Finding)) -> Result<(), Error> + Send,
    ) -> Result<(), Failure> {
        let OfDirectory { directory, catalogue, call, caller } = self;
        let done = call.run_with(&mut |finding| caller.tell(finding), |options, tell| {
            open(catalogue).and_then(|mut opened| work(&mut opened, directory, options, tell))
        })?;
        caller.end(catalogue, done)
    }
}

fn to_read(catalogue: &Path) -> Result<Catalogue, Error> {
    Catalogue::open(catalogue, Access::Read, &mut || {})
}

fn to_write(catalogue: &Path) -> Result<Catalogue, Error> {
    Catalogue::open(catalogue, Access::Write, &mut || {})
}

/// The failure of a call, which is about the catalogue or about a file or folder that is read.
fn failed(catalogue: &Path, error: &Error) -> Failure {
    let read = matches!(error, Error::Io(_)) && !error.input().file().is_some_and(|path| path.starts_with(catalogue));
    let status = if read { Status::ReadFailed } else { Status::CatalogueFailed };
    Failure::new(status, format_args!("{}: {error}", error.input()))
}

/// `mksum_catalogue_keep`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_catalogue_keep(
    directory: *const c_char,
    catalogue: *const c_char,
    formats: *const *const c_char,
    formats_len: usize,
    options: *const CallOptions,
    each: Option<EachEntry>,
    context: *mut c_void,
) -> Status {
    status(|| {
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let (mut call, formats) = unsafe {
            let formats = inputs::array(formats, formats_len, "formats")?;
            (OfDirectory::new(directory, catalogue, options, each, context)?, formats)
        };
        // SAFETY: `mksum.h` requires valid pointers of the caller, also in the array.
        let mut specs = formats.iter().map(|&format| unsafe { spec(format) }).collect::<Result<Vec<_>, _>>()?;
        if !call.directory.is_dir() {
            let why = format!("{}: not a directory that can be read", call.directory.display());
            return Err(Failure::new(Status::ReadFailed, why));
        }
        let create = |catalogue: &Path| Catalogue::create(catalogue, &mut || {});
        call.on(create, |opened, directory, options, tell| {
            if specs.is_empty() && opened.formats().len() == 0 {
                specs.push(mksum::Spec::default());
            }
            opened.add_formats(&specs)?;
            update(opened, directory, options, tell)
        })
    })
}

/// `mksum_catalogue_status`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_catalogue_status(
    directory: *const c_char,
    catalogue: *const c_char,
    each: Option<EachEntry>,
    context: *mut c_void,
) -> Status {
    status(|| {
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let mut call = unsafe { OfDirectory::new(directory, catalogue, ptr::null(), each, context)? };
        call.on(to_read, |opened, directory, options, tell| {
            compare(opened, directory, options)?.differ.into_iter().for_each(tell);
            Ok(())
        })
    })
}

/// `mksum_catalogue_update`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_catalogue_update(
    directory: *const c_char,
    catalogue: *const c_char,
    options: *const CallOptions,
    each: Option<EachEntry>,
    context: *mut c_void,
) -> Status {
    status(|| {
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let mut call = unsafe { OfDirectory::new(directory, catalogue, options, each, context)? };
        call.on(to_write, |opened, directory, options, tell| update(opened, directory, options, tell))
    })
}

/// `mksum_catalogue_verify`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_catalogue_verify(
    directory: *const c_char,
    catalogue: *const c_char,
    seconds: c_double,
    share: c_double,
    options: *const CallOptions,
    each: Option<EachEntry>,
    context: *mut c_void,
) -> Status {
    status(|| {
        let effort = effort(seconds, share)?;
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let mut call = unsafe { OfDirectory::new(directory, catalogue, options, each, context)? };
        call.on(to_write, |opened, directory, options, tell| verify(opened, directory, options, effort, tell).map(drop))
    })
}

/// How much is verified: all, if both are 0.
fn effort(seconds: f64, share: f64) -> Result<Effort, Failure> {
    let bad = |reason: &str| Err(Failure::new(Status::BadArgument, reason));
    match (seconds == 0.0, share == 0.0) {
        (true, true) => Ok(Effort::All),
        (false, false) => bad("seconds and share: one of them must be 0"),
        (false, true) => match Duration::try_from_secs_f64(seconds) {
            Ok(time) => Ok(Effort::Time(time)),
            Err(_) => bad("seconds: expected 0 or more"),
        },
        (true, false) if (0.0..=1.0).contains(&share) => Ok(Effort::Share(share)),
        (true, false) => bad("share: expected 0.0 to 1.0"),
    }
}

/// `mksum_catalogue_repair`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_catalogue_repair(
    directory: *const c_char,
    catalogue: *const c_char,
    copy: *const c_char,
    options: *const CallOptions,
    each: Option<EachEntry>,
    context: *mut c_void,
) -> Status {
    status(|| {
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let (mut call, copy) = unsafe {
            let copy = inputs::bytes_of(copy, "copy")?;
            (OfDirectory::new(directory, catalogue, options, each, context)?, Input::place(path_of(copy)?))
        };
        let copies_of = |path: &[u8]| vec![copy.join(&path_from_bytes(path).unwrap_or_default())];
        call.on(to_write, |opened, directory, options, tell| repair(opened, directory, options, &copies_of, tell))
    })
}

/// `mksum_catalogue_diff`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_catalogue_diff(
    left: *const c_char,
    right: *const c_char,
    each: Option<EachEntry>,
    context: *mut c_void,
) -> Status {
    status(|| {
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let (left, right, mut caller) = unsafe {
            let (left, right) = (inputs::bytes_of(left, "left")?, inputs::bytes_of(right, "right")?);
            (path_of(left)?, path_of(right)?, Caller::new(each, context, &Options::new())?)
        };
        let own = |path: PathBuf| if path.is_dir() { place(&path) } else { path };
        let (left, right) = (own(left), own(right));
        let stop = caller.stop.clone();
        let open = |path: &Path| to_read(path).map_err(|error| failed(path, &error));
        let done = diff_catalogues(open(&left)?, open(&right)?, &stop, &mut |finding| caller.tell(finding));
        caller.end(&left, done.map(drop))
    })
}
