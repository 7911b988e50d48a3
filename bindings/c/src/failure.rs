//! The status of a call, and the reason for a failure.

use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::fmt::Display;

/// `mksum_status`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // `mksum.h` documents them.
#[cfg_attr(not(feature = "catalogue"), allow(dead_code))] // Each is of some feature.
pub enum Status {
    Ok = 0,
    BadArgument = 1,
    BadHash = 2,
    BadLength = 3,
    NoDevice = 4,
    DeviceFailed = 5,
    BadFormat = 6,
    NoRoot = 7,
    ReadFailed = 8,
    NoRoom = 9,
    CatalogueFailed = 10,
    Finished = 11,
    Cancelled = 12,
    BadProof = 13,
    Damaged = 14,
    BadOutboard = 15,
    WriteFailed = 16,
    Refused = 17,
}

/// The failure of a call: its status and reason.
pub struct Failure {
    status: Status,
    reason: String,
}

impl Failure {
    /// Creates a failure.
    pub fn new(status: Status, reason: impl Display) -> Self {
        Failure { status, reason: reason.to_string() }
    }

    /// The status and the reason.
    #[cfg(feature = "files")]
    pub fn into_parts(self) -> (Status, String) {
        (self.status, self.reason)
    }
}

/// The failure of work on files: its error with the path of the file that it is about.
#[cfg(feature = "files")]
pub fn of_io(error: mksum_io::Error) -> Failure {
    use mksum_io::Error;
    let status = match &error {
        Error::Format { .. } => Status::NoRoot,
        Error::Stopped { .. } => Status::Cancelled,
        Error::Damaged { .. } | Error::Unit(_) | Error::Failing { .. } => Status::Damaged,
        Error::Outboard { .. } => Status::BadOutboard,
        Error::Write { .. } => Status::WriteFailed,
        Error::Refused { .. } => Status::Refused,
        _ => Status::ReadFailed,
    };
    Failure::new(status, format_args!("{}: {error}", error.input()))
}

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// Does a call's work and returns its status, and stores the reason of a failure for [`mksum_error`].
pub fn status(work: impl FnOnce() -> Result<(), Failure>) -> Status {
    match work() {
        Ok(()) => Status::Ok,
        Err(Failure { status, reason }) => {
            let reason = text_of(reason);
            // A thread that is ending cannot ask for the reason any more.
            let _ = LAST.try_with(|last| *last.borrow_mut() = reason);
            status
        }
    }
}

/// A text for C, in which zero bytes are shown as \0.
pub fn text_of(text: String) -> CString {
    CString::new(text.replace('\0', "\\0")).unwrap_or_default()
}

/// `mksum_error`.
#[unsafe(no_mangle)]
pub extern "C" fn mksum_error() -> *const c_char {
    LAST.try_with(|last| last.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}
