//! Sum files of any bytes: no panic, and what is read is read again from the line that is written for it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mksum_cli::choice::Choice;
use mksum_cli::sum::{self, End, Style};
use mksum_cli::sumfile::{Lines, parse};

fuzz_target!(|input: (bool, Option<&str>, &[u8])| {
    let (zero, given, bytes) = input;
    let end = if zero { End::Zero } else { End::Newline };
    let given: Option<Choice> = given.and_then(|text| text.parse().ok());
    let mut lines = Lines::new(bytes, end);
    while let Some(entry) = lines.next_entry(given.as_ref()).expect("memory does not fail") {
        let Ok(entry) = entry else { continue };
        let spec = entry.choice.spec().to_string();
        let root = entry.claimed.text(entry.choice.spec());
        let mut line = sum::line(Style::Tagged, end, &spec, &entry.path, &root);
        line.pop();
        let again = parse(&line, end, None).expect("a line of its form").expect("neither comment nor blank");
        assert_eq!(again.path, entry.path);
        assert_eq!(again.choice.spec(), entry.choice.spec());
    }
});
