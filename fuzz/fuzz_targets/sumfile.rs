//! Sum files of any bytes and names: no panic, and what is read is read again from the line that is written for it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mksum_cli::choice::Choice;
use mksum_cli::sum::{self, End, Style};
use mksum_cli::sumfile::{Lines, Source, State, parse};
use std::path::Path;

/// Names of sum files that say something about their lines.
const NAMES: [&str; 6] = ["SUMS", "x.md5", "dir/SHA256SUMS", "B3SUMS", "x.sfv", "bag/manifest-sha512.txt"];

fuzz_target!(|input: (bool, Option<&str>, u8, &[u8])| {
    let (zero, given, name, bytes) = input;
    let end = if zero { End::Zero } else { End::Newline };
    let given: Option<Choice> = given.and_then(|text| text.parse().ok());
    let path = Path::new(NAMES[usize::from(name) % NAMES.len()]);
    let mut source = Source::new(end, given.as_ref()).at(path);
    if Source::is_manifest(path) {
        source = source.in_bag(path, if name & 128 == 0 { "1.0" } else { "0.97" });
    }
    let mut lines = Lines::new(bytes, source);
    while let Some(entry) = lines.next_entry().expect("memory does not fail") {
        let Ok(entry) = entry else { continue };
        let spec = entry.choice.spec().to_string();
        let root = entry.claimed.text(entry.choice.spec());
        let mut line = sum::line(Style::Tagged, end, &spec, &entry.path, &root);
        line.pop();
        let plain = Source::new(end, None);
        let again = parse(&line, &plain, &mut State::default()).expect("a line of its form");
        let again = again.expect("neither comment nor blank");
        assert_eq!(again.path, entry.path);
        assert_eq!(again.choice.spec(), entry.choice.spec());
    }
});
