//! Files without an outboard: the whole stream is hashed as it comes, and counts only if its root is the expected one.

use crate::also::{Sums, in_words};
use crate::error::{Error, write};
use crate::request::{Got, Outcome, Request, Target};
use mksum::{Root, Spec};
use mksum_io::{
    Ahead, File, Input, Job, Options, Partial, Roots, Throttle, check_room, hash, hash_reader, open_bytes_from,
};
use std::fs;
use std::io::{self, Read, Seek, Write};
use std::path::Path;
use std::sync::{Arc, PoisonError};

/// The place of bytes that are not verified yet.
enum Spare {
    /// A file that gets its name at the end, and is resumed if it ends before.
    Named(Partial),
    /// A file that is copied to a writer at the end.
    Copied(fs::File),
}

impl Spare {
    fn file(&self) -> &fs::File {
        match self {
            Spare::Named(partial) => partial.file(),
            Spare::Copied(file) => file,
        }
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.file().metadata()?.len())
    }
}

/// Fetches the whole file from one mirror after the other, until one has the expected root.
///
/// What an interrupted run left is hashed, and only the rest is fetched. If that has another root, all is fetched again.
///
/// # Errors
/// If it cannot be written.
pub fn fetch(request: &Request, mut got: Got, options: &Options) -> Result<Got, Error> {
    let (place, spare) = match &request.target {
        Target::File(path) => (Input::from(path), Spare::Named(Partial::resume(path)?)),
        Target::Writer(_) => {
            let file = tempfile::tempfile().map_err(|error| write(Input::Stdin, error))?;
            (Input::Stdin, Spare::Copied(file))
        }
    };
    let here = |error| write(&place, error);
    let mut old = spare.len().map_err(here)?;
    if let (Some(len), Target::File(path)) = (request.len, &request.target) {
        check_room(path, len.saturating_sub(old))?;
    }
    // Whether the bytes that are there are those of a file with another root.
    let mut is_wrong = false;
    for index in 0..request.mirrors.len() {
        loop {
            if is_wrong {
                spare.file().set_len(0).map_err(here)?;
                (old, is_wrong) = (0, false);
            }
            let (found, bytes) = match open(&request.mirrors[index], spare.len().map_err(here)?, options) {
                Ok(mut reader) => receive(request, &spare, (&mut *reader, &request.mirrors[index]), options),
                Err(broken) => (Err(broken), 0),
            };
            let report = &mut got.mirrors[index];
            report.bytes += bytes;
            got.fetched += bytes;
            match found {
                Ok((root, also)) => {
                    finish(request, spare)?;
                    (got.root, got.outcome, got.resumed, got.also) = (Some(root), Outcome::Fetched, old, also);
                    got.is_read_again = needs_length(request) && !got.also.is_empty();
                    return Ok(got);
                }
                Err(Broken::Here(error)) => return Err(error),
                Err(Broken::Mirror(why)) => {
                    report.error = Some(why);
                    break;
                }
                Err(Broken::Other { why, begun }) => {
                    (report.error, is_wrong) = (Some(why), true);
                    // It may be that the mirror is right, and what was there is not.
                    if begun == 0 {
                        break;
                    }
                }
            }
        }
    }
    if let Spare::Named(partial) = spare {
        let len = partial.file().metadata().map_err(here)?.len();
        // Of another file, leaves may be right, and nothing else.
        let is_useless = len == 0 || (is_wrong && !request.expected.has_leaves(len));
        (got.left, got.is_other) = ((!is_useless).then(|| partial.path().to_path_buf()), is_wrong);
        partial.remove_if(is_useless);
    }
    Ok(got)
}

/// Why a stream did not become the file.
enum Broken {
    /// The mirror is to blame: why, as words. What came is the beginning of a file that may be the right one.
    Mirror(String),
    /// Another file, whose bytes before `begun` were there: why, as words.
    Other { why: String, begun: u64 },
    /// This machine is to blame.
    Here(Error),
}

/// Opens a mirror behind the bytes that are there.
fn open(place: &Input, start: u64, options: &Options) -> Result<Box<dyn Read + Send>, Broken> {
    open_bytes_from(place, start, Ahead::Yes, options).map_err(|error| {
        let (why, is_shorter) = (error.to_string(), || File::open(place, options).is_ok_and(|file| file.len() < start));
        match start > 0 && is_shorter() {
            true => Broken::Other { why, begun: start },
            false => Broken::Mirror(why),
        }
    })
}

/// Whether the file has to be there before it can be hashed: the part size of an upload is found from the length, and some formats begin with
/// it.
fn needs_length(request: &Request) -> bool {
    let is_unknown = request.expected.needs_length() && request.len.is_none();
    is_unknown || formats(request, request.len.unwrap_or(0)).iter().any(|spec| !spec.family().streams())
}

/// The roots of a whole file, in its [`formats`].
fn again(request: &Request, spare: &Spare, len: u64, options: &Options) -> Result<Roots, Error> {
    let specs = formats(request, len);
    match spare {
        Spare::Named(partial) => Ok(hash(&Job::new(partial.path().into(), specs), options)?),
        Spare::Copied(file) => {
            let mut file = file;
            file.rewind().map_err(|error| write(Input::Stdin, error))?;
            Ok(hash_reader(&mut file, &Input::Stdin, &specs, options)?)
        }
    }
}

/// The formats of the root and of the other sums, in this order.
fn formats(request: &Request, len: u64) -> Vec<Spec> {
    request.expected.specs(len).into_iter().chain(request.also.iter().cloned()).collect()
}

/// The expected root, and the other sums, in the roots of [`formats`]; else all that it could have been.
fn divided(request: &Request, mut roots: Roots) -> Result<(Root, Sums), Vec<Root>> {
    let also = in_words(roots.split_off(roots.len() - request.also.len()));
    let roots: Vec<_> = roots.into_iter().filter_map(Result::ok).collect();
    match roots.iter().find(|root| request.expected.matches(root)) {
        Some(root) => Ok((root.clone(), also)),
        None => Err(roots),
    }
}

/// Hashes the bytes that are there and a stream behind them, which is written. Returns the expected root with the other sums, and the number
/// of bytes that came.
fn receive(
    request: &Request,
    spare: &Spare,
    (reader, place): (&mut (dyn Read + Send), &Input),
    options: &Options,
) -> (Result<(Root, Sums), Broken>, u64) {
    let target = match &request.target {
        Target::File(path) => Input::from(path),
        Target::Writer(_) => Input::Stdin,
    };
    let here = |error| Broken::Here(write(&target, error));
    let mut file = spare.file();
    let begun = match file.rewind().and_then(|()| spare.len()) {
        Ok(begun) => begun,
        Err(error) => return (Err(here(error)), 0),
    };
    let needs_length = needs_length(request);
    let specs = if needs_length { Vec::new() } else { formats(request, request.len.unwrap_or(0)) };
    let (throttle, most) = (options.throttle.clone(), request.len);
    let options = &Options { throttle: None, ..options.clone() };
    let mut tee = Tee { begun, most, throttle, ..Tee::new(reader, file) };
    let roots = match specs.is_empty() {
        true => io::copy(&mut tee, &mut io::sink()).map(|_| Vec::new()).map_err(|error| mksum_io::Error::Read {
            path: place.clone(),
            offset: 0,
            error,
        }),
        false => hash_reader(&mut tee, place, &specs, options),
    };
    let (done, first, failed) = (tee.done, tee.first, tee.failed.take());
    let came = done.saturating_sub(begun);
    if let Some(error) = failed {
        return (Err(here(error)), came);
    }
    let other = |why| Err(Broken::Other { why, begun });
    let found = || -> Result<(Root, Sums), Broken> {
        let mut roots = roots.map_err(|error| match error {
            mksum_io::Error::Stopped { .. } => Broken::Here(error.into()),
            error => Broken::Mirror(error.to_string()),
        })?;
        if needs_length {
            roots = again(request, spare, done, options).map_err(Broken::Here)?;
        }
        if let Some(len) = request.len.filter(|&len| len != done) {
            return other(format!("it has another length:\n  expected {len} bytes\n  found    {done} bytes or more"));
        }
        let (root, also) = match divided(request, roots) {
            Ok(found) => found,
            Err(roots) => {
                let all: Vec<_> = roots.iter().map(|root| format!("{root} ({})", root.spec())).collect();
                let (expected, found) = (request.expected.text(), all.join("\n           "));
                return other(format!("the root differs:\n  expected {expected}\n  found    {found}"));
            }
        };
        match request.expected.doubt(&root, first).filter(|_| request.len.is_none()) {
            Some(why) => Err(Broken::Here(Error::Refused(place.clone(), why))),
            None => Ok((root, also)),
        }
    };
    (found(), came)
}

/// Gives a verified file its name, or copies it.
fn finish(request: &Request, spare: Spare) -> Result<(), Error> {
    match (spare, &request.target) {
        (Spare::Named(partial), _) => Ok(partial.finish()?),
        (Spare::Copied(mut file), Target::Writer(out)) => {
            let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
            let copied = file.rewind().and_then(|()| io::copy(&mut file, &mut *out)).and_then(|_| out.flush());
            copied.map_err(|error| write(Input::Stdin, error))
        }
        (Spare::Copied(_), Target::File(_)) => unreachable!("a file has a name"),
    }
}

/// The roots of a file that is there already: the expected one, if it has it, and the other sums.
///
/// # Errors
/// If it cannot be read.
pub fn present(request: &Request, path: &Path, options: &Options) -> Result<Option<(Root, Sums)>, Error> {
    let Ok(metadata) = fs::metadata(path) else { return Ok(None) };
    let len = metadata.len();
    if !metadata.is_file() || request.len.is_some_and(|expected| expected != len) {
        return Ok(None);
    }
    options.meter.expect(len);
    let roots = hash(&Job::new(path.into(), formats(request, len)), options)?;
    let Ok((root, also)) = divided(request, roots) else { return Ok(None) };
    let mut first = [0];
    let first =
        fs::File::open(path).and_then(|mut file| file.read(&mut first)).ok().filter(|&read| read > 0).map(|_| first[0]);
    match request.expected.doubt(&root, first).filter(|_| request.len.is_none()) {
        Some(why) => Err(Error::Refused(path.into(), why)),
        None => Ok(Some((root, also))),
    }
}

/// The bytes of a file, and those of a reader behind them, which are written to it as they come.
pub struct Tee<'a> {
    reader: &'a mut (dyn Read + Send),
    file: &'a fs::File,
    /// The bytes that the file has at the beginning.
    begun: u64,
    first: Option<u8>,
    done: u64,
    /// The bytes after which it ends, whatever follows.
    most: Option<u64>,
    throttle: Option<Arc<Throttle>>,
    /// Why the file could not be read or written.
    pub failed: Option<io::Error>,
}

impl<'a> Tee<'a> {
    /// All bytes of a reader, for an empty file.
    pub fn new(reader: &'a mut (dyn Read + Send), file: &'a fs::File) -> Tee<'a> {
        Tee { reader, file, begun: 0, first: None, done: 0, most: None, throttle: None, failed: None }
    }

    fn fail(&mut self, error: io::Error) -> io::Error {
        let words = error.to_string();
        self.failed = Some(error);
        io::Error::other(words)
    }
}

impl Read for Tee<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let is_old = self.done < self.begun;
        // One byte more shows that the file is longer.
        let most = if is_old { Some(self.begun) } else { self.most.map(|most| most.saturating_add(1)) };
        let room = most.map_or(u64::MAX, |most| most.saturating_sub(self.done));
        let buffer_len = buffer.len().min(usize::try_from(room).unwrap_or(usize::MAX));
        let buffer = &mut buffer[..buffer_len];
        let mut file = self.file;
        let len = if is_old {
            match file.read(buffer) {
                // It is ours alone: what is gone was cut off by somebody else.
                Ok(0) => return Err(self.fail(io::ErrorKind::UnexpectedEof.into())),
                Ok(len) => len,
                Err(error) => return Err(self.fail(error)),
            }
        } else {
            let len = self.reader.read(buffer)?;
            if let Some(throttle) = &self.throttle {
                throttle.wait(len as u64);
            }
            if let Err(error) = file.write_all(&buffer[..len]) {
                return Err(self.fail(error));
            }
            len
        };
        self.first = self.first.or(buffer[..len].first().copied());
        self.done += len as u64;
        Ok(len)
    }
}
