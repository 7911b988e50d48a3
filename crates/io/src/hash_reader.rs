//! Hashing whatever can be read from the beginning to the end.

use crate::platform::uninterrupted;
use crate::stream::{Bytes, hash_stream};
use crate::{Error, Options, Roots};
use std::io::Read;
use std::path::Path;

/// The roots of all bytes that `reader` has, read once by the calling thread and hashed by those of the options; `path` is for
/// errors.
///
/// ```
/// use mksum_io::{Options, hash_reader};
///
/// let spec: mksum::Spec = "blake3".parse()?;
/// let roots = hash_reader(&mut &b"some bytes"[..], "memory".as_ref(), &[spec.clone()], &Options::new())?;
/// assert_eq!(*roots[0].as_ref().unwrap(), spec.root(b"some bytes")?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If a read fails, or the work is [stopped](crate::Stop): then there is no root in any format.
pub fn hash_reader(
    reader: &mut (dyn Read + Send),
    path: &Path,
    specs: &[mksum::Spec],
    options: &Options,
) -> Result<Roots, Error> {
    let mut bytes = Reading { reader, path, done: 0, options };
    Ok(hash_stream(&mut bytes, None, path, specs, options)?.expect("a stream is read once"))
}

struct Reading<'a> {
    reader: &'a mut (dyn Read + Send),
    path: &'a Path,
    /// The bytes read so far.
    done: u64,
    options: &'a Options,
}

impl Bytes for Reading<'_> {
    fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, Error> {
        let mut len = 0;
        while len < buffer.len() {
            self.options.stop.check(self.path)?;
            match uninterrupted(|| self.reader.read(&mut buffer[len..])) {
                Ok(0) => break,
                Ok(more) => {
                    len += more;
                    self.options.meter.add(more as u64);
                    if let Some(throttle) = &self.options.throttle {
                        throttle.wait(more as u64);
                    }
                }
                Err(error) => {
                    let offset = self.done + len as u64;
                    return Err(Error::Read { path: self.path.into(), offset, error });
                }
            }
        }
        self.done += len as u64;
        Ok(len)
    }
}
