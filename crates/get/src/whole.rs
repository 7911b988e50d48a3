//! Files without an outboard: the whole stream is hashed as it comes, and counts only if its root is the expected one.

use crate::error::Error;
use crate::request::{Got, Outcome, Request, Target};
use mksum::Root;
use mksum_io::{Input, Options, Replacement, check_room, hash_reader, open_bytes};
use std::fs;
use std::io::{self, Read, Seek, Write};
use std::path::Path;
use std::sync::PoisonError;

/// The place of bytes that are not verified yet.
enum Spare {
    /// A file that gets its name at the end.
    Named(Replacement),
    /// A file that is copied to a writer at the end.
    Copied(fs::File),
}

/// Fetches the whole file from one mirror after the other, until one has the expected root.
///
/// # Errors
/// If it cannot be written.
pub fn fetch(request: &Request, mut got: Got, options: &Options) -> Result<Got, Error> {
    for index in 0..request.mirrors.len() {
        let place = &request.mirrors[index];
        let mut reader = match open_bytes(place, options) {
            Ok(reader) => reader,
            Err(error) => {
                got.mirrors[index].error = Some(error.to_string());
                continue;
            }
        };
        let spare = match &request.target {
            Target::File(path) => {
                if let Some(len) = request.len {
                    check_room(path, len)?;
                }
                Spare::Named(Replacement::create(path)?)
            }
            Target::Writer(_) => Spare::Copied(tempfile::tempfile().map_err(|error| write(place, error))?),
        };
        let (found, bytes) = receive(request, &spare, (&mut *reader, place), options);
        got.mirrors[index].bytes += bytes;
        got.fetched += bytes;
        match found {
            Ok(root) => {
                finish(request, spare)?;
                got.root = Some(root);
                got.outcome = Outcome::Fetched;
                return Ok(got);
            }
            Err(Broken::Mirror(why)) => got.mirrors[index].error = Some(why),
            Err(Broken::Here(error)) => return Err(error),
        }
    }
    Ok(got)
}

/// Why a stream did not become the file.
enum Broken {
    /// The mirror is to blame: why, as words.
    Mirror(String),
    /// This machine is.
    Here(Error),
}

/// Writes and hashes a stream. Returns the expected root, and the number of bytes that came.
fn receive(
    request: &Request,
    spare: &Spare,
    (reader, place): (&mut (dyn Read + Send), &Input),
    options: &Options,
) -> (Result<Root, Broken>, u64) {
    let target = match &request.target {
        Target::File(path) => Input::from(path),
        Target::Writer(_) => Input::Stdin,
    };
    let file = match spare {
        Spare::Named(replacement) => replacement.file(),
        Spare::Copied(file) => file,
    };
    // The part size of an upload is found from the length.
    let needs_length = request.expected.needs_length() && request.len.is_none();
    let specs = if needs_length { Vec::new() } else { request.expected.specs(request.len.unwrap_or(0)) };
    let mut tee = Tee { reader, file, first: None, done: 0, most: request.len, failed: None };
    let roots = match specs.is_empty() {
        true => io::copy(&mut tee, &mut io::sink()).map(|_| Vec::new()).map_err(|error| mksum_io::Error::Read {
            path: place.clone(),
            offset: 0,
            error,
        }),
        false => hash_reader(&mut tee, place, &specs, options),
    };
    let (done, first, failed) = (tee.done, tee.first, tee.failed.take());
    let here = |error| Broken::Here(Error::Io(mksum_io::Error::Write { path: target.clone(), error }));
    if let Some(error) = failed {
        return (Err(here(error)), done);
    }
    let found = || -> Result<Root, Broken> {
        let mut roots = roots.map_err(|error| match error {
            mksum_io::Error::Stopped { .. } => Broken::Here(error.into()),
            error => Broken::Mirror(error.to_string()),
        })?;
        if needs_length {
            let mut again = file.try_clone().map_err(here)?;
            again.rewind().map_err(here)?;
            let specs = request.expected.specs(done);
            roots = hash_reader(&mut again, &target, &specs, options).map_err(|error| Broken::Here(error.into()))?;
        }
        if let Some(len) = request.len.filter(|&len| len != done) {
            return Err(Broken::Mirror(format!(
                "it has another length:\n  expected {len} bytes\n  found    {done} bytes or more"
            )));
        }
        let roots: Vec<_> = roots.into_iter().filter_map(Result::ok).collect();
        let Some(root) = roots.iter().find(|root| request.expected.matches(root)) else {
            let all: Vec<_> = roots.iter().map(|root| format!("{root} ({})", root.spec())).collect();
            let (expected, found) = (request.expected.text(), all.join("\n           "));
            return Err(Broken::Mirror(format!("the root differs:\n  expected {expected}\n  found    {found}")));
        };
        match request.expected.doubt(root, first).filter(|_| request.len.is_none()) {
            Some(why) => Err(Broken::Here(Error::Refused(place.clone(), why))),
            None => Ok(root.clone()),
        }
    };
    (found(), done)
}

/// Gives a verified file its name, or copies it.
fn finish(request: &Request, spare: Spare) -> Result<(), Error> {
    match (spare, &request.target) {
        (Spare::Named(replacement), _) => Ok(replacement.finish()?),
        (Spare::Copied(mut file), Target::Writer(out)) => {
            let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
            let copied = file.rewind().and_then(|()| io::copy(&mut file, &mut *out)).and_then(|_| out.flush());
            copied.map_err(|error| write(&Input::Stdin, error))
        }
        (Spare::Copied(_), Target::File(_)) => unreachable!("a file has a name"),
    }
}

fn write(place: &Input, error: io::Error) -> Error {
    Error::Io(mksum_io::Error::Write { path: place.clone(), error })
}

/// The roots of a file that is there already: the expected one, if it has it.
///
/// # Errors
/// If it cannot be read.
pub fn present(request: &Request, path: &Path, options: &Options) -> Result<Option<Root>, Error> {
    let Ok(metadata) = fs::metadata(path) else { return Ok(None) };
    let len = metadata.len();
    if !metadata.is_file() || request.len.is_some_and(|expected| expected != len) {
        return Ok(None);
    }
    options.meter.expect(len);
    let roots = mksum_io::hash(&mksum_io::Job::new(path.into(), request.expected.specs(len)), options)?;
    let found = roots.into_iter().filter_map(Result::ok).find(|root| request.expected.matches(root));
    let Some(root) = found else { return Ok(None) };
    let mut first = [0];
    let first =
        fs::File::open(path).and_then(|mut file| file.read(&mut first)).ok().filter(|&read| read > 0).map(|_| first[0]);
    match request.expected.doubt(&root, first).filter(|_| request.len.is_none()) {
        Some(why) => Err(Error::Refused(path.into(), why)),
        None => Ok(Some(root)),
    }
}

/// A reader whose bytes are written to a file as they are read.
struct Tee<'a> {
    reader: &'a mut (dyn Read + Send),
    file: &'a fs::File,
    first: Option<u8>,
    done: u64,
    /// The bytes after which it ends, whatever follows.
    most: Option<u64>,
    failed: Option<io::Error>,
}

impl Read for Tee<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // One byte more shows that the file is longer.
        let most = self.most.map_or(u64::MAX, |most| most.saturating_add(1) - self.done);
        let room = buffer.len().min(usize::try_from(most).unwrap_or(usize::MAX));
        let len = self.reader.read(&mut buffer[..room])?;
        self.first = self.first.or(buffer[..len].first().copied());
        self.done += len as u64;
        let mut file = self.file;
        if let Err(error) = file.write_all(&buffer[..len]) {
            let words = error.to_string();
            self.failed = Some(error);
            return Err(io::Error::other(words));
        }
        Ok(len)
    }
}
