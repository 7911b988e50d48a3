//! Appends entries to a new log from many threads, each after its last batch is in a checkpoint; or hashes entries alone.
//!
//! ```text
//! appenders FOLDER ENTRIES THREADS BATCH LENGTH LINGER_MS
//! appenders hash ENTRIES LENGTH
//! ```

use mksum_log::{Appender, Log, entry_hash};
use std::path::Path;
use std::thread;
use std::time::Duration;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [place, numbers @ ..] = &arguments[..] else { return Err("see the source for its arguments".into()) };
    let numbers = numbers.iter().map(|number| number.parse()).collect::<Result<Vec<u64>, _>>()?;
    match (place.as_str(), &numbers[..]) {
        ("hash", &[entries, len]) => {
            let all = (0..entries).map(|index| entry_hash(&entry(index, len)));
            println!("{}", all.fold(0, |sum: u8, hash| sum ^ hash[0]));
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
