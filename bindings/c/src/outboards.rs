//! Outboards: written, compared with their files, brought up to date, and used to repair files.

use crate::failure::{Failure, Status, of_io, status};
use crate::inputs::{self, bad, path_of};
use crate::options::{Call, CallOptions, sized};
use crate::roots::{FORMAT_MAX, spec};
use mksum::Spec;
use mksum::outboard::{KeptLayout, Outboard};
use mksum_io::outboard::{self, Changes, Finding, How, Keeping, Repair, Stored, beside, is_unchanged, open};
use mksum_io::{Error, File, HeldFile, Input, Options, Stop, open_replica};
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::ops::Range;
use std::path::PathBuf;
use std::ptr;

/// `mksum_outboard_info`.
#[repr(C)]
pub struct OutboardInfo {
    root: [u8; 192],
    format: [u8; FORMAT_MAX],
    length: u64,
    unit: u64,
    is_unchanged: c_int,
}

/// A file and the place of its outboard.
pub struct Pair {
    pub path: PathBuf,
    pub place: PathBuf,
}

impl Pair {
    /// # Safety
    /// Each is NULL or a string that ends with a zero byte.
    pub unsafe fn new(path: *const c_char, outboard: *const c_char) -> Result<Self, Failure> {
        // SAFETY: this function has the same contract.
        let path = path_of(unsafe { inputs::bytes_of(path, "path")? })?;
        let place = match outboard.is_null() {
            true => beside(&path),
            // SAFETY: as above.
            false => path_of(unsafe { inputs::bytes_of(outboard, "outboard")? })?,
        };
        Ok(Pair { path, place })
    }

    pub fn open(&self) -> Result<Outboard<Stored>, Failure> {
        open(&self.place).map_err(of_io)
    }

    fn file(&self, options: &Options) -> Result<File, Error> {
        File::open(&self.path, options)
    }
}

/// `mksum_changes`.
fn changes(number: c_uint) -> Result<Changes, Failure> {
    match number {
        0 => Ok(Changes::Refuse),
        1 => Ok(Changes::Accept),
        other => Err(bad("changes", format_args!("expected 0 or 1, found {other}"))),
    }
}

/// `mksum_outboard_keep`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_outboard_keep(
    path: *const c_char,
    outboard: *const c_char,
    format: *const c_char,
    unit: u64,
    changes: c_uint,
    options: *const CallOptions,
) -> Status {
    status(|| {
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let (pair, mut call) = unsafe { (Pair::new(path, outboard)?, Call::new(options)?) };
        let spec = match format.is_null() {
            true => Spec::default(),
            // SAFETY: as above.
            false => unsafe { spec(format)? },
        };
        let mut keeping = Keeping::new(KeptLayout::unit_of(&spec, Some(unit).filter(|&unit| unit > 0)), &pair.place);
        keeping.changes = self::changes(changes)?;
        call.expect_files([pair.path.as_path()]);
        let kept = call.run(|options| outboard::keep(pair.file(options)?, &spec, &keeping))?;
        kept.map(drop).map_err(of_io)
    })
}

/// `mksum_outboard_read`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_outboard_read(
    path: *const c_char,
    outboard: *const c_char,
    info: *mut OutboardInfo,
) -> Status {
    status(|| {
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let (pair, info) = unsafe { (Pair::new(path, outboard)?, inputs::exclusive(info, "info")?) };
        let opened = pair.open()?;
        let same = pair.file(&Options::new()).is_ok_and(|file| is_unchanged(&file, opened.header()));
        let mut read = OutboardInfo {
            root: [0; 192],
            format: [0; FORMAT_MAX],
            length: opened.len(),
            unit: opened.layout().unit(),
            is_unchanged: same.into(),
        };
        inputs::put_text(&opened.root(), &mut read.root, "root")?;
        inputs::put_text(opened.spec(), &mut read.format, "format")?;
        *info = read;
        Ok(())
    })
}

/// `mksum_range`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Damaged = 0,
    Missing = 1,
    Grown = 2,
    Unreadable = 3,
    Outboard = 4,
    Changed = 5,
    Repaired = 6,
    NotRepaired = 7,
}

impl Kind {
    fn of(finding: &Finding) -> Self {
        match finding {
            Finding::Damaged(_) => Kind::Damaged,
            Finding::Missing(_) => Kind::Missing,
            Finding::Grown(_) => Kind::Grown,
            Finding::Unreadable { .. } => Kind::Unreadable,
            Finding::Node(_) => Kind::Outboard,
        }
    }
}

/// `mksum_each_range`.
pub type EachRange = unsafe extern "C" fn(*mut c_void, Kind, u64, u64) -> c_int;

/// The caller's function, which is told ranges: neighbours of one kind are one. It is not called any more once it has asked for the end.
struct Caller {
    each: Option<EachRange>,
    context: *mut c_void,
    stop: Stop,
    last: Option<(Kind, Range<u64>)>,
    ended: bool,
    /// The bytes that are wrong, and their ranges.
    wrong: (u64, u64),
    /// Whether a digest of the outboard is.
    nodes: bool,
}

impl Caller {
    fn new(each: Option<EachRange>, context: *mut c_void, options: &Options) -> Self {
        Caller { each, context, stop: options.stop.clone(), last: None, ended: false, wrong: (0, 0), nodes: false }
    }

    fn push(&mut self, kind: Kind, range: Range<u64>) {
        match &mut self.last {
            Some((last, before)) if *last == kind && before.end == range.start => before.end = range.end,
            _ => {
                self.flush();
                self.last = Some((kind, range));
            }
        }
    }

    /// Tells the last range.
    fn flush(&mut self) {
        let Some((kind, Range { start, end })) = self.last.take() else { return };
        match kind {
            Kind::Changed | Kind::Repaired => {}
            Kind::Outboard => self.nodes = true,
            _ => self.wrong = (self.wrong.0 + (end - start), self.wrong.1 + 1),
        }
        let Some(each) = self.each.filter(|_| !self.ended) else { return };
        // SAFETY: `mksum.h` requires a function that takes these arguments and returns.
        if unsafe { each(self.context, kind, start, end) } != 0 {
            self.ended = true;
            self.stop.stop();
        }
    }

    /// The result of the work; that the caller has ended it is no failure.
    fn end<T>(&mut self, result: Result<T, Error>) -> Result<Option<T>, Failure> {
        self.flush();
        match result {
            Err(Error::Stopped { .. }) if self.ended => Ok(None),
            result => result.map(Some).map_err(of_io),
        }
    }

    /// A failure if bytes of the file are wrong, or digests of its outboard.
    fn verdict(&self, pair: &Pair, why: &str) -> Result<(), Failure> {
        let path = pair.path.display();
        match (self.wrong, self.nodes) {
            ((0, 0), false) => Ok(()),
            ((0, 0), true) => Err(Failure::new(
                Status::BadOutboard,
                format_args!("{}: some of its digests are damaged, and no byte of {path} is", pair.place.display()),
            )),
            ((bytes, ranges), _) => Err(Failure::new(
                Status::Damaged,
                format_args!("{path}: {bytes} bytes are damaged (ranges: {ranges}){why}"),
            )),
        }
    }
}

/// The bytes `start..end` of a file of `len` bytes; the largest number as its end is that of the file.
fn part(start: u64, end: u64, len: u64) -> Result<Range<u64>, Failure> {
    let range = start..if end == u64::MAX { len } else { end };
    match range.end <= len && (range.start < range.end || range == (0..len)) {
        true => Ok(range),
        false => Err(Failure::new(
            Status::BadLength,
            format_args!("the range {start}..{end} is empty or not within the {len} bytes of the outboard's file"),
        )),
    }
}

/// `mksum_outboard_verify`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_outboard_verify(
    path: *const c_char,
    outboard: *const c_char,
    start: u64,
    end: u64,
    options: *const CallOptions,
    each: Option<EachRange>,
    context: *mut c_void,
) -> Status {
    status(|| {
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let (pair, mut call) = unsafe { (Pair::new(path, outboard)?, Call::new(options)?) };
        let opened = pair.open()?;
        let range = part(start, end, opened.len())?;
        call.expect(range.end - range.start);
        let mut caller = Caller::new(each, context, &call.options);
        let verified = call.run_apart(&mut |(kind, range)| caller.push(kind, range), |options, tell| {
            outboard::verify(pair.file(options)?, (&opened, &pair.place), range, &mut |finding| {
                tell((Kind::of(&finding), finding.range()));
                Ok(())
            })
        })?;
        caller.end(verified)?;
        caller.verdict(&pair, "")
    })
}

/// `mksum_update_options`.
#[repr(C)]
pub struct UpdateOptions {
    size: usize,
    outboard: *const c_char,
    ranges: *const u64,
    ranges_len: usize,
    changes: c_uint,
    each: Option<EachRange>,
    context: *mut c_void,
}

/// `MKSUM_UPDATE_OPTIONS`.
const UPDATE_OPTIONS: UpdateOptions = UpdateOptions {
    size: size_of::<UpdateOptions>(),
    outboard: ptr::null(),
    ranges: ptr::null(),
    ranges_len: 0,
    changes: 0,
    each: None,
    context: ptr::null_mut(),
};

/// `mksum_outboard_update`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_outboard_update(
    path: *const c_char,
    how: *const UpdateOptions,
    options: *const CallOptions,
) -> Status {
    status(|| {
        let how = match how.is_null() {
            true => &UPDATE_OPTIONS,
            // SAFETY: `mksum.h` requires valid pointers of the caller.
            false => unsafe { sized(how, "how", "MKSUM_UPDATE_OPTIONS")? },
        };
        // SAFETY: as above.
        let (pair, mut call) = unsafe { (Pair::new(path, how.outboard)?, Call::new(options)?) };
        let both = how.ranges_len.checked_mul(2).ok_or_else(|| bad("ranges_len", "more than there can be"))?;
        // SAFETY: as above.
        let given = unsafe { inputs::array(how.ranges, both, "ranges")? };
        let given: Vec<_> = given.as_chunks().0.iter().map(|&[start, end]| start..end).collect();
        if let Some(Range { start, end }) = given.iter().find(|range| range.start >= range.end) {
            return Err(bad("ranges", format_args!("{start}..{end} is empty")));
        }
        let (old, changes) = (pair.open()?, self::changes(how.changes)?);
        let changed = match given.is_empty() {
            true => {
                call.expect_files([pair.path.as_path()]);
                How::Length
            }
            false => {
                let written = given.iter().map(|range| range.end.min(old.len()).saturating_sub(range.start));
                call.expect(written.fold(0, u64::saturating_add));
                How::Ranges(given)
            }
        };
        let updated =
            call.run(|options| outboard::update(pair.file(options)?, &old, &changed, &pair.place, changes))?;
        let updated = updated.map_err(of_io)?;
        let mut caller = Caller::new(how.each, how.context, &call.options);
        match updated.changed {
            Ok(changed) => changed.into_iter().for_each(|range| caller.push(Kind::Changed, range)),
            // The old outboard is damaged there: any byte may be another one.
            Err(_) => caller.push(Kind::Changed, 0..updated.root.len()),
        }
        caller.flush();
        Ok(())
    })
}

/// `mksum_outboard_repair`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_outboard_repair(
    path: *const c_char,
    outboard: *const c_char,
    copy: *const c_char,
    options: *const CallOptions,
    each: Option<EachRange>,
    context: *mut c_void,
) -> Status {
    status(|| {
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let (pair, mut call) = unsafe { (Pair::new(path, outboard)?, Call::new(options)?) };
        // SAFETY: as above.
        let copy = Input::place(path_of(unsafe { inputs::bytes_of(copy, "copy")? })?);
        let opened = pair.open()?;
        call.expect(0);
        let mut caller = Caller::new(each, context, &call.options);
        let mut reason = String::new();
        let mut tell = |(repair, range): (Repair, Range<u64>)| match repair {
            Repair::Done(..) => caller.push(Kind::Repaired, range),
            Repair::Passed(..) => {}
            Repair::Failed(_, why) => {
                if reason.is_empty() {
                    reason = format!(": {why}");
                }
                caller.push(Kind::NotRepaired, range);
            }
        };
        let repaired = call.run_with(&mut tell, |options, tell| {
            let mut replica = open_replica(&copy, options)?;
            let mut file = HeldFile::open(&pair.path)?;
            outboard::repair(&mut file, (&opened, &pair.place), &mut *replica, options, &mut |repair| {
                let (Repair::Done(range, _) | Repair::Passed(range, ..) | Repair::Failed(range, _)) = &repair;
                let range = range.clone();
                tell((repair, range));
            })
        })?;
        match caller.end(repaired)? {
            Some(repaired) if repaired.whole => Ok(()),
            Some(_) => caller.verdict(&pair, &reason),
            None => Err(Failure::new(Status::Damaged, format_args!("{}: the repair was ended", pair.path.display()))),
        }
    })
}

/// `mksum_outboard_diff`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_outboard_diff(
    left: *const c_char,
    right: *const c_char,
    each: Option<EachRange>,
    context: *mut c_void,
) -> Status {
    status(|| {
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let (left, right) = unsafe { (inputs::bytes_of(left, "left")?, inputs::bytes_of(right, "right")?) };
        let [left, right] = [path_of(left)?, path_of(right)?].map(|path| open(&path).map_err(of_io));
        let (left, right) = (left?, right?);
        let each = inputs::given(each, "each")?;
        let mut caller = Caller::new(Some(each), context, &Options::new());
        let differ = left.diff(&right, &mut |range| {
            caller.push(Kind::Changed, range);
            Ok(())
        });
        caller.end(differ.map_err(|error| Error::from_outboard(error, left.bytes().place()))).map(drop)
    })
}
