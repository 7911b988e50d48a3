//! Commands that write a log: init, append, import, and cosignatures.

use super::print::{Entry, NewLog, Newest};
use super::trust::key;
use super::wrong::{Wrong, bytes};
use crate::args::{LogCommon, Trust};
use crate::json;
use crate::tool::Tool;
use mksum_io::{Input, open_bytes};
use mksum_log::{Appender, Chain, Entries, Error, Folder, Framing, KeyKind, Known, Log, Published, SignerKey};
use std::io::{BufReader, Read};
use std::path::Path;
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::{Duration, Instant};

/// The time for which another process that writes is waited for.
const WAIT: Duration = Duration::from_secs(10);
/// The bytes of entries that are handed to the log at once, and their number.
const BATCH: (usize, usize) = (8 << 20, 1 << 14);
/// The longest signature line, in bytes.
const LONGEST_LINE: usize = 1 << 16;

/// Makes a log, and prints its public key.
pub fn init(
    tool: &Tool,
    directory: &Path,
    origin: Option<&str>,
    secret: Option<&Path>,
    json: bool,
) -> Result<(), Wrong> {
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
    let key = log.verifier();
    match json {
        true => tool.console.print_json(directory, NewLog::new(key.name(), key.to_string())),
        false => tool.console.print(format!("{key}\n").as_bytes()),
    }
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

/// How entries on standard input are appended.
#[derive(Clone, Copy)]
pub struct Appending {
    pub framing: Framing,
    pub unique: bool,
    /// Whether the root of an entry that is too long is appended in its place.
    pub takes_roots: bool,
    /// Whether checkpoints are signed as entries come, and the time for which others are waited for before each.
    pub linger: Option<Duration>,
}

/// Appends the entries on standard input, and prints their indices once a checkpoint covers them.
pub fn append(tool: &Tool, directory: &Path, how: Appending, output: &LogCommon) -> Result<(), Wrong> {
    let log = open(tool, directory)?;
    let place = directory.into();
    let known = match how.unique {
        true => {
            let published = Published::unverified(Folder::new(directory)).map_err(Wrong::of(&place))?;
            Some(Known::read(&published).map_err(Wrong::of(&place))?)
        }
        false => None,
    };
    let entries = Entries::new(BufReader::new(std::io::stdin()), how.framing).takes_roots(how.takes_roots);
    match how.linger {
        Some(linger) => {
            let appender = Appender::new(log).linger(linger);
            let appender = known.into_iter().fold(appender, Appender::unique);
            append_as_they_come(tool, directory, &appender, entries, output)
        }
        None => append_all(tool, directory, log, (entries, known), output),
    }
}

/// Appends entries with checkpoints as they come, and prints each index once it is covered.
fn append_as_they_come(
    tool: &Tool,
    directory: &Path,
    appender: &Appender,
    entries: impl Iterator<Item = Result<Vec<u8>, Error>>,
    output: &LogCommon,
) -> Result<(), Wrong> {
    let place = directory.into();
    let (sender, receiver) = sync_channel(BATCH.1);
    thread::scope(|scope| {
        let printing = scope.spawn(|| {
            for index in receiver {
                appender.wait(index + 1).map_err(Wrong::of(&place))?;
                if !output.common.quiet {
                    tool.console.print(&lines(directory, vec![index], output.json));
                    tool.console.flush();
                }
            }
            Ok(())
        });
        let mut added = Ok(());
        for entry in entries {
            let index = entry.map_err(Wrong::of(&Input::Stdin)).and_then(|entry| {
                let indices = appender.add([entry]).map_err(Wrong::of(&place))?;
                Ok(indices[0])
            });
            match index {
                // The other thread has ended, with an error.
                Ok(index) if sender.send(index).is_err() => break,
                Ok(_) => {}
                Err(error) => {
                    added = Err(error);
                    break;
                }
            }
        }
        drop(sender);
        printing.join().expect("no panic").and(added)
    })
}

/// Appends entries with one checkpoint at their end, and prints their indices.
fn append_all(
    tool: &Tool,
    directory: &Path,
    mut log: Log,
    (mut entries, mut known): (impl Iterator<Item = Result<Vec<u8>, Error>>, Option<Known>),
    output: &LogCommon,
) -> Result<(), Wrong> {
    let place = directory.into();
    let mut indices = Vec::new();
    loop {
        let batch = next_batch(&mut entries).map_err(Wrong::of(&Input::Stdin))?;
        if batch.is_empty() {
            break;
        }
        let mut new = Vec::new();
        let mut next = log.size();
        for entry in batch {
            let index = known.as_mut().map_or(next, |known| known.index(&entry, next));
            if index == next {
                new.push(entry);
                next += 1;
            }
            if !output.common.quiet {
                indices.push(index);
            }
        }
        log.append(new).map_err(Wrong::of(&place))?;
    }
    log.checkpoint().map_err(Wrong::of(&place))?;
    tool.console.print(&lines(directory, indices, output.json));
    Ok(())
}

/// The lines of the indices that entries got.
fn lines(directory: &Path, indices: Vec<u64>, json: bool) -> Vec<u8> {
    let line = |index| match json {
        true => json::line(directory, Entry::logged(index, None)),
        false => format!("{index}\n").into(),
    };
    indices.into_iter().flat_map(line).collect()
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
pub fn import(tool: &Tool, directory: &Path, file: &Input, chain: Option<&str>, json: bool) -> Result<(), Wrong> {
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
    let checkpoint = log.checkpoint().map_err(Wrong::of(&place))?.clone();
    let size = checkpoint.size();
    match json {
        true => tool.console.print_json(directory, Newest::new(&checkpoint, log.note(), Some(first))),
        false => tool.console.print(format!("{} entries: {first}..{size}\n", size - first).as_bytes()),
    }
    Ok(())
}

/// Adds a witness's signature to the checkpoint.
pub fn add(tool: &Tool, log: &Input, line: &Input, trust: &Trust, json: bool) -> Result<(), Wrong> {
    let Some(directory) = log.file() else { return Err(Wrong::Usage("--add needs the folder of the log".into())) };
    let witness =
        key(tool, trust)?.ok_or_else(|| Wrong::Usage("--add needs --key: the public key of the witness".into()))?;
    let text = bytes(line, LONGEST_LINE, &tool.options)?;
    let text = String::from_utf8_lossy(&text).into_owned();
    let mut log = open(tool, directory)?;
    log.add_cosignature(text.trim_end_matches('\n'), &witness).map_err(Wrong::of(line))?;
    let checkpoint = log.checkpoint().map_err(Wrong::of(&directory.into()))?.clone();
    match json {
        true => tool.console.print_json(directory, Newest::new(&checkpoint, log.note(), None)),
        false => tool.console.print(log.note().to_string().as_bytes()),
    }
    Ok(())
}
