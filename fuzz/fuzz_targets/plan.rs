//! Plans and ledgers from anywhere: nothing in them makes it crash, and a row that is changed in any way is not read.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mksum::Digest;
use mksum_plan::{Ledger, Line, Lines, Part, Row, Units, Wanted, join, missing};

/// The rows that can be read of a text.
fn rows(text: &[u8]) -> Vec<Row<'static>> {
    let (mut lines, mut rows) = (Lines::new(text), Vec::new());
    while let Ok(Some(line)) = lines.read() {
        if let Line::Row(row) = line {
            rows.push(row.into_owned());
        }
    }
    rows
}

fuzz_target!(|data: &[u8]| {
    // A plan, and after a NUL byte a ledger.
    let mut texts = data.splitn(2, |byte| *byte == 0);
    let (plan, given) = (texts.next().unwrap_or_default(), texts.next().unwrap_or_default());
    // The plan hashed: few texts have the right checks by chance.
    let mut made = Vec::new();
    for row in rows(plan) {
        let _ = Part::new(&row);
        if let Ok(spec) = row.spec() {
            let line =
                row.hashed(&Digest::new(&[7; 64][..spec.hash().size()]), given.get(..64).unwrap_or_default()).line();
            let at = given.len() % line.len();
            let changed = [&line[..at], &[line[at] ^ 1], &line[at + 1..]].concat();
            // Only the end of the line is not part of the row.
            assert!(at + 1 == line.len() || rows(&changed).is_empty());
            made.extend(line);
        }
    }
    for text in [given, &made] {
        for (units, wanted) in [(Units::Ignored, Wanted::Roots), (Units::Held, Wanted::Outboards)] {
            let mut ledger = Ledger::new(units);
            if ledger.read(Lines::new(text), 1).is_ok() {
                let _ = join(Lines::new(plan), &ledger, (wanted, 1), &mut |_| {});
                let _ = missing(Lines::new(plan), &ledger, 1, &mut |_| {});
            }
        }
    }
});
