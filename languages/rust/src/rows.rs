//! Rows of test vectors: read, and written with the root that is computed here.

use crate::args::format_named;
use mksum::Spec;
use std::io::{BufRead, BufWriter, Read, Write};

/// Copies rows; the first that cannot be computed ends it.
pub fn copy(input: &mut dyn BufRead, out: &mut dyn Write) -> Result<(), String> {
    let mut out = BufWriter::new(out);
    for (number, line) in (1..).zip(input.lines()) {
        let line = line.map_err(|error| format!("standard input: {error}"))?;
        let row = if line.starts_with('#') { Ok(line) } else { computed(&line) };
        let row = row.map_err(|problem| format!("row {number}: {problem}"))?;
        writeln!(out, "{row}").map_err(|error| format!("standard output: {error}"))?;
    }
    out.flush().map_err(|error| format!("standard output: {error}"))
}

/// The row with its root.
fn computed(row: &str) -> Result<String, String> {
    let columns: Vec<_> = row.split('\t').collect();
    let [format, input, length, _, source] = columns[..] else {
        return Err(format!("{} columns, expected 5", columns.len()));
    };
    let spec: Spec = format.parse().map_err(|error| format!("{error}"))?;
    if format_named(spec.family().name).is_none() {
        return Err(format!("'{format}' is neither plain nor rfc6962"));
    }
    let pattern = match input {
        "mod251" => |i: u64| (i % 251) as u8,
        "pat" => |i: u64| (i.wrapping_mul(131).wrapping_add((i >> 8).wrapping_mul(17))) as u8,
        _ => return Err(format!("unknown input '{input}'")),
    };
    let len = length.parse().map_err(|_| format!("'{length}' is not a length"))?;
    let root = crate::root(&spec, &mut Pattern { pattern, at: 0, len }).map_err(|error| error.to_string())?;
    Ok([format, input, length, &root, source].join("\t"))
}

/// The first `len` bytes of a pattern that `vectors/README.md` names.
struct Pattern<F> {
    pattern: F,
    at: u64,
    len: u64,
}

impl<F: Fn(u64) -> u8> Read for Pattern<F> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let size = buffer.len().min(usize::try_from(self.len - self.at).unwrap_or(usize::MAX));
        for (byte, i) in buffer[..size].iter_mut().zip(self.at..) {
            *byte = (self.pattern)(i);
        }
        self.at += size as u64;
        Ok(size)
    }
}
