//! Appends entries to a new log from many threads, each after its last batch is in a checkpoint; or hashes entries alone.
//!
//! ```text
//! appenders FOLDER ENTRIES THREADS BATCH LENGTH LINGER_MS
//! appenders hash ENTRIES LENGTH
//! ```

use mksum_log::{Appender, Log, entry_hashes};
use std::path::Path;
use std::thread;
use std::time::Duration;

/// The entries that are hashed at once.
const HASHED: u64 = 1000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [place, numbers @ ..] = &arguments[..] else { return Err("see the source for its arguments".into()) };
    let numbers = numbers.iter().map(|number| number.parse()).collect::<Result<Vec<u64>, _>>()?;
    match (place.as_str(), &numbers[..]) {
        ("hash", &[entries, len]) => {
            // As many at a time as a batch has: the bytes of the entries, and memory for them, are made before the first is hashed.
            let mut all: Vec<_> = (0..entries.min(HASHED)).map(|index| entry(index, len)).collect();
            let mut sum = 0;
            for first in (0..entries).step_by(HASHED as usize) {
                all.truncate((entries - first) as usize);
                for (entry, index) in all.iter_mut().zip(first..) {
                    let index = index.to_be_bytes();
                    let shared = entry.len().min(index.len());
                    entry[..shared].copy_from_slice(&index[..shared]);
                }
                sum = entry_hashes(&all).iter().fold(sum, |sum, hash| sum ^ hash[0]);
            }
            println!("{sum}");
        }
        (folder, &[entries, threads, batch, len, linger]) => {
            let log = Log::create(Path::new(folder), "example.com/appenders")?;
            let appender = Appender::new(log).linger(Duration::from_millis(linger));
            thread::scope(|scope| {
                let running: Vec<_> = (0..threads)
                    .map(|thread| {
                        let appender = &appender;
                        scope.spawn(move || {
                            let own = entries / threads + u64::from(thread < entries % threads);
                            (0..own).step_by(batch as usize).try_for_each(|first| {
                                let indices = first..(first + batch).min(own);
                                appender.append(indices.map(|index| entry(thread << 40 | index, len))).map(drop)
                            })
                        })
                    })
                    .collect();
                running.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
            })?;
            println!("{}", appender.into_log().signed_size());
        }
        _ => return Err("see the source for its arguments".into()),
    }
    Ok(())
}

/// An entry of `len` bytes that no other index has.
fn entry(index: u64, len: u64) -> Vec<u8> {
    let mut entry = index.to_be_bytes().to_vec();
    entry.resize(len as usize, b'.');
    entry
}
