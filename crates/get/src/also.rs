//! Other sums of a file: of its verified bytes as they come, in order, or of a second read.

use crate::error::Error;
use mksum::{Root, Spec};
use mksum_io::{Input, Job, Options, Roots, hash, hash_reader};
use std::io::{self, Read};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

/// The pieces of a file that wait to be hashed, at most: each has the bytes of a request or fewer.
const WAITING: usize = 2;

/// Other sums in the order in which they were asked for, or why there is none, as words.
pub type Sums = Vec<Result<Root, String>>;

/// The sums of bytes that come in order, on a thread of their own.
pub struct Also {
    /// The way to the thread, until it has no use for more.
    sender: Option<SyncSender<Vec<u8>>>,
    thread: JoinHandle<Result<Roots, mksum_io::Error>>,
}

impl Also {
    /// Begins the sums in these formats of a file with this name. `None` if one of them has to know the length before, or the system has no
    /// thread: then the file is read for them.
    pub fn begin(specs: &[Spec], name: &Input, options: &Options) -> Option<Also> {
        if !specs.iter().all(|spec| spec.family().streams()) {
            return None;
        }
        let (sender, receiver) = sync_channel(WAITING);
        let (specs, name, options) = (specs.to_vec(), name.clone(), uncounted(options));
        let work = move || hash_reader(&mut Pieces { receiver, piece: Vec::new(), at: 0 }, &name, &specs, &options);
        let thread = thread::Builder::new().name("also".into()).spawn(work).ok()?;
        Some(Also { sender: Some(sender), thread })
    }

    /// Adds bytes that follow those before them.
    pub fn put(&mut self, bytes: &[u8]) {
        if self.sender.as_ref().is_some_and(|sender| sender.send(bytes.to_vec()).is_err()) {
            self.sender = None;
        }
    }

    /// The sums of all bytes that were added.
    ///
    /// # Errors
    /// If the work was stopped.
    pub fn finish(self) -> Result<Sums, Error> {
        drop(self.sender);
        let roots = self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        Ok(in_words(roots))
    }
}

/// The sums of a whole file that is at `path`, and has the root `trusted`: read once more, and verified on the way.
///
/// # Errors
/// If it cannot be read, or has another root by now.
pub fn read_again(path: &Path, specs: &[Spec], trusted: &Root, options: &Options) -> Result<Sums, Error> {
    let all = specs.iter().chain([trusted.spec()]).cloned().collect();
    let mut roots = hash(&Job::new(path.into(), all), &uncounted(options))?;
    let found = roots.pop().expect("a root for each format")?;
    match found == *trusted {
        true => Ok(in_words(roots)),
        false => Err(Error::Refused(
            path.into(),
            format!(
                "the disk gave other bytes than were written:\n  expected root {trusted}\n  found root    {found}\nLook for errors of the \
                 disk and its memory"
            ),
        )),
    }
}

/// Options for bytes that are counted, and slowed down, elsewhere.
pub fn uncounted(options: &Options) -> Options {
    Options { throttle: None, meter: Default::default(), ..options.clone() }
}

pub fn in_words(roots: Roots) -> Sums {
    roots.into_iter().map(|root| root.map_err(|error| error.to_string())).collect()
}

/// The pieces of a file as a reader.
struct Pieces {
    receiver: Receiver<Vec<u8>>,
    piece: Vec<u8>,
    at: usize,
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at == self.piece.len() {
            let Ok(piece) = self.receiver.recv() else { return Ok(0) };
            (self.piece, self.at) = (piece, 0);
        }
        let len = buffer.len().min(self.piece.len() - self.at);
        buffer[..len].copy_from_slice(&self.piece[self.at..][..len]);
        self.at += len;
        Ok(len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_of_all_pieces_and_only_of_a_right_file() {
        let folder = tempfile::tempdir().unwrap();
        let (path, options) = (folder.path().join("a"), Options::new());
        let bytes: Vec<u8> = (0..3_000_000_u32).map(|at| (at % 253) as u8).collect();
        let specs = ["sha256", "blake3", "crc32c"].map(|name| name.parse::<Spec>().unwrap());
        let expected: Vec<_> = specs.iter().map(|spec| Ok(spec.root(&bytes).unwrap())).collect();
        let mut also = Also::begin(&specs, &Input::from(&path), &options).unwrap();
        bytes.chunks(1_000_003).for_each(|piece| also.put(piece));
        assert_eq!(also.finish().unwrap(), expected);
        std::fs::write(&path, &bytes).unwrap();
        let trusted = Spec::default().root(&bytes).unwrap();
        assert_eq!(read_again(&path, &specs, &trusted, &options).unwrap(), expected);
        let other = Spec::default().root(&bytes[1..]).unwrap();
        assert!(read_again(&path, &specs, &other, &options).unwrap_err().to_string().contains("the disk gave"));
    }
}
