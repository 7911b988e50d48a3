//! Commands that write a log: init, append, import, and cosignatures.

use super::trust::key;
use super::wrong::{Wrong, bytes};
use crate::args::Trust;
use crate::tool::Tool;
use mksum_io::{Input, open_bytes};
use mksum_log::{Chain, Entries, Error, Folder, Framing, KeyKind, Log, Published, SignerKey, entry_hash};
use std::collections::HashMap;
use std::io::{BufReader, Read};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// The time for which another process that writes is waited for.
const WAIT: Duration = Duration::from_secs(10);
/// The bytes of entries that are handed to the log at once, and their number.
const BATCH: (usize, usize) = (8 << 20, 1 << 14);
/// The longest signature line, in bytes.
const LONGEST_LINE: usize = 1 << 16;

/// Makes a log, and prints its public key.
pub fn init(tool: &Tool, directory: &Path, origin: Option<&str>, secret: Option<&Path>) -> Result<(), Wrong> {
    let place = directory.into();
    let key = match (origin, secret) {
        (Some(origin), None) => SignerKey::generate(origin, KeyKind::Ed25519).map_err(Wrong::of(&place))?,
        (_, Some(secret)) => SignerKey::read(secret).map_err(Wrong::of(&secret.into()))?,
        (None, None) => return Err(Wrong::Usage("give the log a name with --origin".into())),
    };
    if let Some(origin) = origin.filter(|origin| *origin != key.name()) {
        return Err(Wrong::Usage(format!("the key is that of {}, and --origin is {origin}", key.name())));
    }
    let log = Log::create_with(directory, key).map_err(Wrong::of(&place))?;
    tool.console.print(format!("{}\n", log.verifier()).as_bytes());
    Ok(())
}

/// Opens a log, and waits for another process that writes to it.
pub(super) fn open(tool: &Tool, directory: &Path) -> Result<Log, Wrong> {
    let begin = Instant::now();
    let mut is_waiting = false;
    loop {
        match Log::open(directory) {
            Err(Error::Busy { lock }) if begin.elapsed() < WAIT => {
                if !std::mem::replace(&mut is_waiting, true) {
                    tool.console
                        .note(&format_args!("{}: waiting for another process that writes to the log", lock.display()));
                }
                thread::sleep(Duration::from_millis(50));
            }
            opened => return opened.map_err(Wrong::of(&directory.into())),
        }
    }
}

/// Appends the entries on standard input, and prints their indices once the checkpoint covers them.
pub fn append(tool: &Tool, directory: &Path, framing: Framing, unique: bool, quiet: bool) -> Result<(), Wrong> {
    let mut log = open(tool, directory)?;
    let place = directory.into();
    let mut known = HashMap::new();
    if unique {
        let published = Published::unverified(Folder::new(directory)).map_err(Wrong::of(&place))?;
        for entry in published.entry_hashes() {
            let (hash, index) = entry.map_err(Wrong::of(&place))?;
            known.entry(hash).or_insert(index);
        }
    }
    let mut indices = String::new();
    let mut entries = Entries::new(BufReader::new(std::io::stdin()), framing);
    loop {
        let batch = next_batch(&mut entries).map_err(Wrong::of(&Input::Stdin))?;
        if batch.is_empty() {
            break;
        }
        let mut new = Vec::new();
        let mut next = log.size();
        for entry in batch {
            let index = match unique {
                true => *known.entry(entry_hash(&entry)).or_insert(next),
                false => next,
            };
            if index == next {
                new.push(entry);
                next += 1;
            }
            if !quiet {
                indices.push_str(&format!("{index}\n"));
            }
        }
        log.append(new).map_err(Wrong::of(&place))?;
    }
    log.checkpoint().map_err(Wrong::of(&place))?;
    tool.console.print(indices.as_bytes());
    Ok(())
}

/// Some next entries; none at the end.
fn next_batch(entries: &mut impl Iterator<Item = Result<Vec<u8>, Error>>) -> Result<Vec<Vec<u8>>, Error> {
    let (mut batch, mut len) = (Vec::new(), 0);
    while len < BATCH.0 && batch.len() < BATCH.1 {
        let Some(entry) = entries.next() else { break };
        let entry = entry?;
        len += entry.len();
        batch.push(entry);
    }
    Ok(batch)
}

/// Appends the lines of a file.
pub fn import(tool: &Tool, directory: &Path, file: &Input, chain: Option<&str>) -> Result<(), Wrong> {
    let mut log = open(tool, directory)?;
    let place = directory.into();
    let reader = open_bytes(file, &tool.options).map_err(|error| Wrong::Failed(file.clone(), error.to_string()))?;
    let mut chain = chain.map(Chain::new);
    let mut checked = Entries::new(BufReader::new(reader as Box<dyn Read>), Framing::Lines).map(|line| {
        let line = line?;
        if let Some(chain) = &mut chain {
            chain.next(&line)?;
        }
        Ok(line)
    });
    let first = log.size();
    loop {
        // Without a checkpoint, nothing of a file that turns out to be wrong is in the log.
        let batch = next_batch(&mut checked).map_err(Wrong::of(file))?;
        if batch.is_empty() {
            break;
        }
        log.append(batch).map_err(Wrong::of(&place))?;
    }
    let size = log.checkpoint().map_err(Wrong::of(&place))?.size();
    tool.console.print(format!("{} entries: {first}..{size}\n", size - first).as_bytes());
    Ok(())
}

/// Adds a witness's signature to the checkpoint.
pub fn add(tool: &Tool, log: &Input, line: &Input, trust: &Trust) -> Result<(), Wrong> {
    let Some(directory) = log.file() else { return Err(Wrong::Usage("--add needs the folder of the log".into())) };
    let witness =
        key(tool, trust)?.ok_or_else(|| Wrong::Usage("--add needs --key: the public key of the witness".into()))?;
    let text = bytes(line, LONGEST_LINE, &tool.options)?;
    let text = String::from_utf8_lossy(&text).into_owned();
    let mut log = open(tool, directory)?;
    log.add_cosignature(text.trim_end_matches('\n'), &witness).map_err(Wrong::of(line))?;
    tool.console.print(log.note().to_string().as_bytes());
    Ok(())
}
