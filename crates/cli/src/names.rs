//! `--files-from` and `--files0-from`: the names of files, read from a file as they are needed.

use crate::args::read_input;
use crate::walk::{Unreachable, open};
use mksum_cli::name;
use mksum_cli::sum::End;
use mksum_io::{Input, reason};
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// The names in a list, or for each that cannot be one the reason.
pub struct Names {
    reader: Box<dyn BufRead + Send>,
    list: Input,
    end: End,
    number: u64,
}

impl Names {
    /// The longest name, in bytes: longer than any path.
    const LONGEST: usize = 1 << 16;

    /// The names in the list at `list`, each with this end.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open(list: &Path, end: End) -> io::Result<Names> {
        let list = Input::parse(list);
        Ok(Names { reader: Box::new(BufReader::new(open(&list)?)), list, end, number: 0 })
    }

    /// The next name and whether all of it is there; `None` at the end.
    fn read(&mut self) -> io::Result<Option<(Vec<u8>, bool)>> {
        let (mut name, mut whole) = (Vec::new(), true);
        let end = self.end.byte();
        let most = Self::LONGEST as u64 + 1;
        if self.reader.by_ref().take(most).read_until(end, &mut name)? == 0 {
            return Ok(None);
        }
        if name.last() == Some(&end) {
            name.pop();
        } else if name.len() > Self::LONGEST {
            whole = false;
            let mut rest = Vec::new();
            while self.reader.by_ref().take(most).read_until(end, &mut rest)? > 0 && rest.last() != Some(&end) {
                rest.clear();
            }
        }
        // Lists of Windows have lines that end so, where no name does.
        if cfg!(windows) && self.end == End::Newline && name.last() == Some(&b'\r') {
            name.pop();
        }
        Ok(Some((name, whole)))
    }
}

impl Iterator for Names {
    type Item = Result<Input, Unreachable>;

    fn next(&mut self) -> Option<Self::Item> {
        let name = match self.read() {
            Ok(name) => name,
            Err(error) => {
                // Nothing can be read after it.
                self.reader = Box::new(io::empty());
                return Some(Err((self.list.clone(), reason(&error))));
            }
        };
        let (name, whole) = name?;
        self.number += 1;
        let refuse = |why: &str| Some(Err((self.list.clone(), format!("{}: {why}", self.number))));
        match &name[..] {
            b"" => refuse("an empty file name"),
            _ if !whole => refuse(&format!("a file name longer than {} bytes", Self::LONGEST)),
            b"-" if self.list == Input::Stdin => {
                refuse("'-' is standard input, from which the names are read: a file of that name is ./-")
            }
            name if self.end == End::Newline && name.contains(&0) => {
                // Another kind of file: so are its other lines.
                self.reader = Box::new(io::empty());
                let how = "names that end in NUL are read with --files0-from";
                refuse(&format!("a file name with a NUL byte, so nothing more is read from the list: {how}"))
            }
            bytes => {
                let path = name::path(bytes).ok_or("no file can have this name".to_string()).and_then(read_input);
                path.map_or_else(|why| refuse(&why), |path| Some(Ok(path)))
            }
        }
    }
}
