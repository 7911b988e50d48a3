//! Catalogues of directories.

use crate::failure::{Failure, Status, status, text_of};
use crate::inputs::{self, path_of};
use crate::options::{Call, CallOptions};
use crate::roots::spec;
use mksum_catalogue::{
    Access, Catalogue, DAMAGE, Difference, Effort, Error, Event, Mended, State, Verdict, diff_catalogues, place,
    repair, status as compare, update, verify,
};
use mksum_io::{Input, Options, Stop, path_from_bytes};
use std::ffi::{CString, c_char, c_double, c_int, c_void};
use std::fmt::Display;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::ptr;
use std::time::Duration;

/// `mksum_state`.
#[repr(C)]
#[derive(Clone, Copy)]
enum Kind {
    New = 0,
    Incomplete = 1,
    Changed = 2,
    Touched = 3,
    Moved = 4,
    Gone = 5,
    Intact = 6,
    Damaged = 7,
    DamagedTree = 8,
    Busy = 9,
    Unreadable = 10,
    Repaired = 11,
    NotRepaired = 12,
    Added = 13,
    Removed = 14,
    Incomparable = 15,
}

/// `mksum_entry`.
#[repr(C)]
pub struct Entry {
    state: Kind,
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

/// What is found about an entry, on its way to the calling thread.
struct Found {
    state: Kind,
    path: CString,
    from: Option<CString>,
    reason: Option<CString>,
    bytes: u64,
    ranges: Vec<u64>,
}

impl Found {
    fn new(state: Kind, path: &[u8]) -> Self {
        let path = CString::new(path).unwrap_or_default();
        Found { state, path, from: None, reason: None, bytes: 0, ranges: Vec::new() }
    }

    fn moved(path: &[u8], from: &[u8]) -> Self {
        Found { from: Some(CString::new(from).unwrap_or_default()), ..Found::new(Kind::Moved, path) }
    }

    fn failed(state: Kind, path: &[u8], reason: impl Display) -> Self {
        Found { reason: Some(text_of(reason.to_string())), ..Found::new(state, path) }
    }

    fn of_event(path: &[u8], event: Event<'_>) -> Self {
        match event {
            Event::New(_) => Found::new(Kind::New, path),
            Event::Changed(_) => Found::new(Kind::Changed, path),
            Event::Touched(_) => Found::new(Kind::Touched, path),
            Event::Moved(from, _) => Found::moved(path, from),
            Event::Missing => Found::new(Kind::Gone, path),
            Event::Damaged => Found::failed(Kind::Damaged, path, DAMAGE),
            Event::Busy(error) => Found::failed(Kind::Busy, path, error),
            Event::Failed(error) => Found::failed(Kind::Unreadable, path, error),
        }
    }

    fn in_ranges(self, ranges: &[Range<u64>]) -> Self {
        Found { ranges: ranges.iter().flat_map(|range| [range.start, range.end]).collect(), ..self }
    }
}

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

    fn tell(&mut self, found: Found) {
        if self.stop.is_stopped() {
            return;
        }
        let start = |text: &Option<CString>| text.as_ref().map_or(ptr::null(), |text| text.as_ptr());
        let entry = Entry {
            state: found.state,
            path: found.path.as_ptr(),
            path_len: found.path.count_bytes(),
            from: start(&found.from),
            from_len: found.from.as_ref().map_or(0, |from| from.count_bytes()),
            reason: start(&found.reason),
            bytes: found.bytes,
            ranges: if found.ranges.is_empty() { ptr::null() } else { found.ranges.as_ptr() },
            ranges_len: found.ranges.len() / 2,
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
        work: impl FnOnce(&mut Catalogue, &Path, &Options, &mut dyn FnMut(Found)) -> Result<(), Error> + Send,
    ) -> Result<(), Failure> {
        let OfDirectory { directory, catalogue, call, caller } = self;
        let done = call.run_with(&mut |found| caller.tell(found), |options, tell| {
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
    let keep = || {
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
            update(opened, directory, options, &mut |path, event| tell(Found::of_event(path, event)))
        })
    };
    status(keep())
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
    let find = || {
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let mut call = unsafe { OfDirectory::new(directory, catalogue, ptr::null(), each, context)? };
        call.on(to_read, |opened, directory, options, tell| {
            for (path, state) in &compare(opened, directory, options)?.differ {
                tell(match state {
                    State::New(_) => Found::new(Kind::New, path),
                    State::Incomplete => Found::new(Kind::Incomplete, path),
                    State::Changed => Found::new(Kind::Changed, path),
                    State::Missing(_) => Found::new(Kind::Gone, path),
                    State::Moved(from) => Found::moved(path, from),
                    State::Unreadable(error) => Found::failed(Kind::Unreadable, path, error),
                });
            }
            Ok(())
        })
    };
    status(find())
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
    let bring = || {
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let mut call = unsafe { OfDirectory::new(directory, catalogue, options, each, context)? };
        call.on(to_write, |opened, directory, options, tell| {
            update(opened, directory, options, &mut |path, event| tell(Found::of_event(path, event)))
        })
    };
    status(bring())
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
    let check = || {
        let effort = effort(seconds, share)?;
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let mut call = unsafe { OfDirectory::new(directory, catalogue, options, each, context)? };
        call.on(to_write, |opened, directory, options, tell| {
            verify(opened, directory, options, effort, &mut |path, verdict| {
                tell(match verdict {
                    Verdict::Good(verified, _) => Found { bytes: verified, ..Found::new(Kind::Intact, path) },
                    Verdict::Damaged(ranges, _) => Found::failed(Kind::Damaged, path, DAMAGE).in_ranges(ranges),
                    Verdict::DamagedTree => Found::new(Kind::DamagedTree, path),
                    Verdict::Changed => Found::new(Kind::Changed, path),
                    Verdict::New => Found::new(Kind::New, path),
                    Verdict::Missing => Found::new(Kind::Gone, path),
                    Verdict::Busy(error) => Found::failed(Kind::Busy, path, error),
                    Verdict::Failed(error) => Found::failed(Kind::Unreadable, path, error),
                });
            })
        })
    };
    status(check())
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
    let mend = || {
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let (mut call, copy) = unsafe {
            let copy = inputs::bytes_of(copy, "copy")?;
            (OfDirectory::new(directory, catalogue, options, each, context)?, Input::place(path_of(copy)?))
        };
        let copy_of = |path: &[u8]| copy.join(&path_from_bytes(path).unwrap_or_default());
        call.on(to_write, |opened, directory, options, tell| {
            repair(opened, directory, options, &copy_of, &mut |path, mended| {
                tell(match mended {
                    Mended::Intact => Found::new(Kind::Intact, path),
                    Mended::Done(ranges, fetched) => {
                        Found { bytes: fetched, ..Found::new(Kind::Repaired, path) }.in_ranges(&ranges)
                    }
                    Mended::Failed(why) => Found::failed(Kind::NotRepaired, path, why),
                    Mended::Changed => Found::new(Kind::Changed, path),
                    Mended::Missing => Found::new(Kind::Gone, path),
                });
            })
        })
    };
    status(mend())
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
    let differ = || {
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let (left, right, mut caller) = unsafe {
            let (left, right) = (inputs::bytes_of(left, "left")?, inputs::bytes_of(right, "right")?);
            (path_of(left)?, path_of(right)?, Caller::new(each, context, &Options::new())?)
        };
        let own = |path: PathBuf| if path.is_dir() { place(&path) } else { path };
        let (left, right) = (own(left), own(right));
        let stop = caller.stop.clone();
        let mut each = |difference: Difference| {
            caller.tell(match difference {
                Difference::Added(known) => Found::new(Kind::Added, &known.path),
                Difference::Removed(known) => Found::new(Kind::Removed, &known.path),
                Difference::Changed(_, known) => Found::new(Kind::Changed, &known.path),
                Difference::Moved(before, known) => Found::moved(&known.path, &before.path),
                Difference::Incomparable(_, known) => Found::new(Kind::Incomparable, &known.path),
            });
        };
        let open = |path: &Path| to_read(path).map_err(|error| failed(path, &error));
        let done = diff_catalogues(open(&left)?, open(&right)?, &stop, &mut each);
        caller.end(&left, done.map(drop))
    };
    status(differ())
}
