//! The roots of files and streams, in hex.

use merkle::Tree;
use mksum::Spec;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;

/// The root of all bytes of a file from its position on, in hex. A pipe is a file, too.
pub fn root_of_file(spec: &Spec, file: &mut File) -> io::Result<String> {
    let mut tree = Tree::new(spec).map_err(io::Error::other)?;
    // Long leaves of a regular file are hashed side by side. Some files have no position, and the length of some is not true:
    // those in /proc and /sys, which are short.
    let metadata = file.metadata()?;
    if let (true, Ok(begin)) = (metadata.is_file() && spec.leaf() > Tree::LONG, file.stream_position()) {
        let whole = metadata.len().saturating_sub(begin) / spec.leaf() * spec.leaf();
        tree.update_from(|slice, offset| file.read_exact_at(slice, offset), begin, whole).map_err(|error| {
            let shorter = "the file became shorter while it was read";
            if error.kind() == ErrorKind::UnexpectedEof { io::Error::other(shorter) } else { error }
        })?;
        file.seek(SeekFrom::Start(begin + whole))?;
    }
    root_of_rest(tree, file)
}

/// The root of all bytes of `input`, in hex.
pub fn root(spec: &Spec, input: &mut dyn Read) -> io::Result<String> {
    root_of_rest(Tree::new(spec).map_err(io::Error::other)?, input)
}

/// The root of the bytes of a tree and those of `input` after them, in hex.
fn root_of_rest(mut tree: Tree, input: &mut dyn Read) -> io::Result<String> {
    // A second-level cache holds it, and it begins at a multiple of 64, as in `Tree::update_from`.
    let mut memory = vec![0; (1 << 17) + 63];
    let start = memory.as_ptr().align_offset(64);
    let buffer = &mut memory[start..start + (1 << 17)];
    loop {
        match input.read(buffer) {
            Ok(0) => return Ok(tree.root().map_err(io::Error::other)?.to_string()),
            Ok(got) => tree.write_all(&buffer[..got])?,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
