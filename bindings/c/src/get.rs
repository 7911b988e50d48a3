//! Downloads: a file from untrusted mirrors, verified against a trusted root.

use crate::failure::{Failure, Status, of_io, status};
use crate::inputs::{self, bad, path_of};
use crate::options::{Call, CallOptions, sized};
use mksum_get::{Error, Expected, Got, Mirror, Request, Target, get};
use mksum_io::{Input, Throttle};
use mksum_stores::Stores;
use std::ffi::{c_char, c_uint};
use std::ops::Range;
use std::sync::Arc;

/// `mksum_get_options`.
#[repr(C)]
pub struct GetOptions {
    size: usize,
    outboard: *const c_char,
    connections: c_uint,
    rate: u64,
}

/// `mksum_got`.
#[repr(C)]
pub struct GotBytes {
    fetched: u64,
    resumed: u64,
    reused: u64,
    wrong: u64,
}

fn sum(ranges: &[Range<u64>]) -> u64 {
    ranges.iter().map(|range| range.end - range.start).sum()
}

/// Why a file is not whole: the reason, and what was wrong with each mirror.
fn incomplete(why: &str, got: &Got) -> String {
    let mirror = |mirror: &Mirror| {
        let wrong = sum(&mirror.bad);
        let wrong = (wrong > 0).then(|| format!("{wrong} bytes were wrong, and not written"));
        let reasons: Vec<_> = mirror.error.clone().into_iter().chain(wrong).collect();
        (!reasons.is_empty()).then(|| format!("{}: {}", mirror.place, reasons.join(", ")))
    };
    let notes = got.notes.iter().map(|(place, why)| format!("{place}: {why}"));
    let reasons = [why.to_string()].into_iter().chain(got.mirrors.iter().filter_map(mirror)).chain(notes);
    reasons.collect::<Vec<_>>().join("; ").replace('\n', " ")
}

/// `mksum_get`.
///
/// # Safety
/// The contract in `mksum_get.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_get(
    urls: *const *const c_char,
    count: usize,
    root: *const c_char,
    path: *const c_char,
    how: *const GetOptions,
    got: *mut GotBytes,
    options: *const CallOptions,
) -> Status {
    status(|| {
        // SAFETY: `mksum_get.h` requires valid pointers of the caller.
        let (urls, root, path, mut call) = unsafe {
            let path = path_of(inputs::bytes_of(path, "path")?)?;
            (inputs::array(urls, count, "urls")?, inputs::string(root, "root")?, path, Call::new(options)?)
        };
        // SAFETY: `mksum_get.h` requires valid pointers of the caller, also in the array.
        let mirrors = urls.iter().map(|&url| unsafe { inputs::place(url, "urls") }).collect::<Result<Vec<_>, _>>()?;
        if mirrors.is_empty() {
            return Err(bad("urls", "expected one or more"));
        }
        let expected = Expected::parse(root, None).map_err(|why| bad("root", why))?;
        if expected.directory().is_some() {
            return Err(Failure::new(Status::BadFormat, "root: that of a directory, where that of a file is needed"));
        }
        let mut request = Request::new(mirrors, expected, Target::File(path.clone()));
        if !how.is_null() {
            // SAFETY: `mksum_get.h` requires valid options.
            let how = unsafe { sized(how, "how", "MKSUM_GET_OPTIONS")? };
            if !how.outboard.is_null() {
                // SAFETY: `mksum_get.h` requires a string.
                request.outboards = vec![unsafe { inputs::place(how.outboard, "outboard")? }];
            }
            if how.connections > 0 {
                request.connections = how.connections as usize;
            }
            if how.rate > 0 {
                call.options.throttle = Some(Arc::new(Throttle::new(how.rate)));
            }
        }
        call.options.objects = Some(Arc::new(Stores::new()));
        call.expect(0);
        let done = call.run(|options| get(&request, options))?.map_err(|error| match error {
            Error::Io(error) => of_io(error),
            Error::Refused(place, why) => {
                Failure::new(Status::Refused, format_args!("{place}: {}", why.replace('\n', " ")))
            }
        })?;
        if !got.is_null() {
            let wrong = done.mirrors.iter().map(|mirror| sum(&mirror.bad)).sum();
            let bytes = GotBytes { fetched: done.fetched, resumed: done.resumed, reused: done.seeded, wrong };
            // SAFETY: `mksum_get.h` requires a valid pointer of the caller.
            unsafe { got.write(bytes) };
        }
        match done.incomplete() {
            None => Ok(()),
            Some(why) => {
                let why = incomplete(&why, &done);
                Err(Failure::new(Status::Damaged, format_args!("{}: {why}", Input::from(&path))))
            }
        }
    })
}
