//! Rows of test vectors: columns with tabs between them, completed with what is computed here.

use crate::args::{LIMIT, Rows, format_named, number};
use crate::root::root;
use merkle::{Proof, Prover};
use mksum::{Algorithm, Digest, Hash, Spec};
use std::io::{self, BufRead, BufWriter, Read, Write};

/// Copies rows and completes each, up to the first that cannot be completed.
pub fn complete(kind: Rows, input: &mut dyn BufRead, out: &mut dyn Write) -> Result<(), String> {
    let mut out = BufWriter::new(out);
    for (number, line) in (1..).zip(input.lines()) {
        let line = line.map_err(|error| format!("standard input: {error}"))?;
        let row = if line.starts_with('#') { Ok(line) } else { completed(kind, &line) };
        let row = row.map_err(|problem| {
            // The rows before are right; what is wrong with the output, the message need not say.
            let _ = out.flush();
            format!("row {number}: {problem}")
        })?;
        writeln!(out, "{row}").map_err(|error| format!("standard output: {error}"))?;
    }
    out.flush().map_err(|error| format!("standard output: {error}"))
}

fn completed(kind: Rows, row: &str) -> Result<String, String> {
    let mut columns: Vec<_> = row.split('\t').map(str::to_owned).collect();
    let expected = match kind {
        Rows::Roots => 5,
        Rows::Proofs => 7,
        Rows::Verdicts => 8,
    };
    if columns.len() != expected {
        return Err(format!("{} columns, expected {expected}", columns.len()));
    }
    match kind {
        Rows::Roots => complete_root(&mut columns),
        Rows::Proofs => complete_proof(&mut columns),
        Rows::Verdicts => complete_verdict(&mut columns),
    }?;
    Ok(columns.join("\t"))
}

/// format input length root source
fn complete_root(columns: &mut [String]) -> Result<(), String> {
    segment(&columns[0])?;
    let spec: Spec = columns[0].parse().map_err(|error| format!("{error}"))?;
    let mut bytes = pattern(&columns[1], &columns[2])?;
    columns[3] = root(&spec, &mut bytes).map_err(|error| error.to_string())?;
    Ok(())
}

/// format input length index root path source
fn complete_proof(columns: &mut [String]) -> Result<(), String> {
    let spec = provable(&columns[0])?;
    let index = number(&columns[3], 0)?;
    let mut prover = Prover::new(&spec, index).map_err(|error| error.to_string())?;
    let mut tree = merkle::Tree::new(&spec).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    pattern(&columns[1], &columns[2])?.read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    prover.write_all(&bytes).and_then(|()| tree.write_all(&bytes)).map_err(|error| error.to_string())?;
    let proof = prover.proof().map_err(|error| error.to_string())?;
    let proof = proof.ok_or_else(|| format!("there is no leaf {index}"))?;
    columns[4] = tree.root().map_err(|error| error.to_string())?.to_string();
    columns[5] = proof.path.iter().map(Digest::to_string).collect::<Vec<_>>().join(",");
    if columns[5].is_empty() {
        columns[5].push('-');
    }
    Ok(())
}

/// format leaves index leaf root path verdict source
fn complete_verdict(columns: &mut [String]) -> Result<(), String> {
    let spec = provable(&columns[0])?;
    let (leaves, index) = (number(&columns[1], 0)?, number(&columns[2], 0)?);
    let (leaf, root) = (unhex(&columns[3])?, unhex(&columns[4])?);
    let path = match columns[5].as_str() {
        "-" => Vec::new(),
        path => path.split(',').map(unhex).collect::<Result<_, _>>()?,
    };
    // A digest has 1 to 64 bytes.
    let digest = |bytes: &Vec<u8>| (1..=64).contains(&bytes.len()).then(|| Digest::new(bytes));
    let valid = match (path.iter().map(digest).collect(), digest(&root)) {
        (Some(path), Some(root)) if index < leaves && !leaf.is_empty() => {
            // The leaf that is last tells the length of the input; of another input with as many leaves, the proof is the same.
            let last = if index == leaves - 1 { leaf.len() as u64 } else { spec.leaf() };
            let len = (leaves - 1).checked_mul(spec.leaf()).and_then(|before| before.checked_add(last));
            len.is_some_and(|len| Proof { index, len, path }.verify(&spec, root, &leaf))
        }
        _ => false,
    };
    columns[6] = if valid { "valid" } else { "invalid" }.into();
    Ok(())
}

/// The format of a string such as rfc6962:sha256:64KiB.
fn provable(name: &str) -> Result<Spec, String> {
    segment(name)?;
    let spec: Spec = name.parse().map_err(|error| format!("{error}"))?;
    match spec.hash() {
        Algorithm::Hash(Hash::Sha256) => Ok(spec),
        _ => Err(format!("'{name}': proofs are over sha256")),
    }
}

/// The segment of a format string that names one of this program's formats, a hash and a segment.
fn segment(name: &str) -> Result<u64, String> {
    let [format, _, segment] = name.split(':').collect::<Vec<_>>()[..] else {
        return Err(format!("'{name}': expected FORMAT:HASH:SEGMENT"));
    };
    format_named(format).ok_or_else(|| format!("'{format}' is neither plain nor rfc6962"))?;
    for (unit, shift) in [("KiB", 10), ("MiB", 20), ("GiB", 30), ("TiB", 40)] {
        if let Some(digits) = segment.strip_suffix(unit) {
            let count = number(digits, 1)?;
            return if count <= LIMIT >> shift {
                Ok(count << shift)
            } else {
                Err(format!("'{segment}' is more than 1TiB"))
            };
        }
    }
    number(segment, 1)
}

/// The bytes of lowercase hex; "-" is no bytes.
fn unhex(text: &str) -> Result<Vec<u8>, String> {
    let digits = text.bytes().all(|digit| digit.is_ascii_digit() || (b'a'..=b'f').contains(&digit));
    if text == "-" {
        return Ok(Vec::new());
    }
    if text.is_empty() || text.len() % 2 == 1 || !digits {
        return Err(format!("'{text}' is not lowercase hex"));
    }
    let byte = |at| u8::from_str_radix(&text[at..at + 2], 16).expect("two digits");
    Ok((0..text.len()).step_by(2).map(byte).collect())
}

/// The first bytes of a pattern.
fn pattern(name: &str, length: &str) -> Result<impl Read + use<>, String> {
    let pattern: fn(u64) -> u8 = match name {
        "mod251" => |i| (i % 251) as u8,
        "pat" => |i| (i.wrapping_mul(131).wrapping_add((i >> 8).wrapping_mul(17))) as u8,
        _ => return Err(format!("unknown input '{name}'")),
    };
    Ok(Pattern { pattern, at: 0, len: number(length, 0)? })
}

/// The first `len` bytes of a pattern that `vectors/README.md` names.
struct Pattern<F> {
    pattern: F,
    at: u64,
    len: u64,
}

impl<F: Fn(u64) -> u8> Read for Pattern<F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let size = buffer.len().min(usize::try_from(self.len - self.at).unwrap_or(usize::MAX));
        for (byte, i) in buffer[..size].iter_mut().zip(self.at..) {
            *byte = (self.pattern)(i);
        }
        self.at += size as u64;
        Ok(size)
    }
}
