//! Plans of downloads under any order of requests and answers: no panic, no range that is not wanted, and none that is forgotten.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mksum::Spec;
use mksum::outboard::KeptLayout;
use mksum_get::plan::{Plan, Task};
use std::ops::Range;
use std::time::{Duration, Instant};

const UNIT: u64 = 64 << 10;

fuzz_target!(|input: (u8, u32, &[u8])| {
    let (mirrors, len, steps) = input;
    let (mirrors, len) = (usize::from(mirrors % 4) + 1, u64::from(len % (64 * UNIT as u32)));
    let layout = KeptLayout::new(Spec::default().shape(), len, UNIT).expect("a unit of the format");
    let mut plan = Plan::new(layout, vec![0..len], mirrors);
    let mut done = vec![false; len.div_ceil(UNIT) as usize];
    let mut held: Vec<(usize, Task)> = Vec::new();
    let mut alive = vec![true; mirrors];
    let later = Instant::now() + Duration::from_secs(3600);
    for step in steps.chunks_exact(3) {
        let (mirror, choice) = (usize::from(step[1]) % mirrors, u64::from(step[2]));
        // What is stolen was taken within an earlier limit.
        let limit = if choice % 3 == 0 && step[0] % 5 != 2 { choice * UNIT } else { u64::MAX };
        let taken = match step[0] % 5 {
            0 => plan.take(mirror, choice * UNIT / 8, limit, &alive),
            1 => plan.probe(mirror, limit, &alive),
            2 => plan.steal(mirror, later),
            3 => {
                // What is wrong is told by the bits of the step.
                let Some((mirror, task)) = (!held.is_empty()).then(|| held.swap_remove(choice as usize % held.len()))
                else {
                    continue;
                };
                let bad: Vec<_> =
                    units(&task.range).filter(|unit| step[1] >> (unit.start / UNIT % 8) & 1 == 1).collect();
                let (is_wanted, is_shared) = (plan.is_wanted(&task), held.iter().any(|(_, other)| *other == task));
                plan.finish(&task, mirror, &mksum::ranges::union(bad.clone()));
                if is_wanted && (bad.is_empty() || !is_shared) {
                    units(&task.range)
                        .filter(|unit| !bad.contains(unit))
                        .for_each(|unit| done[(unit.start / UNIT) as usize] = true);
                }
                None
            }
            _ => {
                alive[mirror] ^= true;
                None
            }
        };
        if let Some(task) = taken {
            assert!(!task.range.is_empty() && task.range.end <= len && task.range.start < limit, "{task:?}");
            assert!(task.range.start % UNIT == 0 && (task.range.end % UNIT == 0 || task.range.end == len), "{task:?}");
            assert!(units(&task.range).all(|unit| !done[(unit.start / UNIT) as usize]), "{task:?} is there already");
            let others = held.iter().filter(|(_, other)| other.number != task.number && plan.is_wanted(other));
            assert!(
                others
                    .clone()
                    .all(|(_, other)| other.range.end <= task.range.start || task.range.end <= other.range.start)
            );
            held.push((mirror, task));
        }
        let missing = units(&(0..len)).filter(|unit| !done[(unit.start / UNIT) as usize]).collect();
        assert_eq!(plan.missing(), mksum::ranges::union(missing));
        assert_eq!(plan.is_done(), plan.missing().is_empty());
    }
});

/// The units of a range of whole units.
fn units(range: &Range<u64>) -> impl Iterator<Item = Range<u64>> {
    let end = range.end;
    (range.start..end).step_by(UNIT as usize).map(move |start| start..end.min(start + UNIT))
}
