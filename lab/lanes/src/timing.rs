//! Contenders that take turns, and their medians.

use std::hint::black_box;

/// One of those that are compared.
pub struct Contender<'a> {
    name: String,
    run: Box<dyn FnMut(&mut [u8]) + 'a>,
}

impl<'a> Contender<'a> {
    pub fn new(name: impl Into<String>, run: impl FnMut(&mut [u8]) + 'a) -> Self {
        Contender { name: name.into(), run: Box::new(run) }
    }
}

/// What is counted.
#[derive(Clone, Copy)]
pub enum Unit {
    /// So many bytes a run: printed as GB/s, 10^9 bytes a second.
    Bytes(usize),
    /// So many hashes a run: printed as millions a second.
    Hashes(usize),
    /// The run: printed in milliseconds.
    Whole,
}

/// Each contender is timed so often, unless it is slow.
const ROUNDS: usize = 15;

/// A timed sample lasts so long, in seconds.
const SAMPLE: f64 = 0.004;

/// The processor time of this thread, in seconds: a neighbour that takes the core away does not count.
fn seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock is there on every Linux, and `time` is a place for it.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    assert_eq!(failed, 0);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Compares the answers, then times all contenders in turns, a sample of each so many seconds: the quartiles and the median
/// of a run, in seconds.
fn samples(case: &str, sample: f64, size: usize, contenders: &mut [Contender<'_>]) -> Vec<[f64; 3]> {
    let mut expected = None;
    let mut repeats = Vec::new();
    for contender in &mut *contenders {
        let mut out = vec![0; size];
        (contender.run)(&mut out);
        let expected = expected.get_or_insert_with(|| out.clone());
        assert!(*expected == out, "{case}: {} gives another answer", contender.name);
        // A short run is timed by many: the clock itself takes longer.
        let mut runs = 1;
        loop {
            let begin = seconds();
            for _ in 0..runs {
                (contender.run)(black_box(&mut out));
            }
            let took = seconds() - begin;
            if took > sample / 20.0 {
                repeats.push((sample / took * runs as f64).ceil() as usize);
                break;
            }
            runs *= 4;
        }
    }
    let mut samples = vec![Vec::new(); contenders.len()];
    let mut out = vec![0; size];
    for _ in 0..ROUNDS {
        for ((contender, samples), &repeats) in contenders.iter_mut().zip(&mut samples).zip(&repeats) {
            let begin = seconds();
            for _ in 0..repeats {
                (contender.run)(black_box(&mut out));
            }
            samples.push((seconds() - begin) / repeats as f64);
        }
    }
    let mut medians = Vec::new();
    for mut samples in samples {
        samples.sort_by(f64::total_cmp);
        medians.push([samples[ROUNDS / 4], samples[ROUNDS / 2], samples[ROUNDS - 1 - ROUNDS / 4]]);
    }
    medians
}

/// A line for two contenders: nanoseconds a message of each, and how many times as long the first one takes as the second.
pub fn compare(case: &str, count: usize, size: usize, mut contenders: [Contender<'_>; 2]) {
    let medians = samples(case, SAMPLE / 4.0, size, &mut contenders);
    let [ours, theirs] = [0, 1].map(|index: usize| medians[index][1] / count as f64 * 1e9);
    let mark = if ours > theirs { "slower" } else { "" };
    println!("{case:<44} {ours:>10.1} ns {theirs:>10.1} ns {:>8.2} {mark}", ours / theirs);
}

/// Compares the answers, then times all contenders in turns and prints a line for each. The ratio is the first one's
/// speed against this one's.
pub fn race(case: &str, unit: Unit, size: usize, mut contenders: Vec<Contender<'_>>) {
    let medians = samples(case, SAMPLE, size, &mut contenders);
    println!("{case}");
    let mut first = None;
    for (contender, [low, median, high]) in contenders.iter().zip(medians) {
        let shown = |seconds: f64| match unit {
            Unit::Bytes(bytes) => bytes as f64 / seconds * 1e-9,
            Unit::Hashes(hashes) => hashes as f64 / seconds * 1e-6,
            Unit::Whole => seconds * 1e3,
        };
        let name = match unit {
            Unit::Bytes(_) => "GB/s",
            Unit::Hashes(_) => "M/s ",
            Unit::Whole => "ms  ",
        };
        let ratio = median / *first.get_or_insert(median);
        println!(
            "    {:<48} {:>9.3} {name}   {:>9.3} {:>9.3}  {ratio:>6.2}",
            contender.name,
            shown(median),
            shown(low),
            shown(high)
        );
    }
}
