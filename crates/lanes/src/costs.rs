//! Measures the kernels of each family, for the costs in the tables of `hash/`
//! (`cargo test --release -p mksum-lanes --lib costs -- --ignored --nocapture`).

use crate::{
    cpu::Cpu,
    dispatch::Entry,
    grid::Grid,
    kernel::{End, Job, Start},
    plan::Plan,
    scheme::Scheme,
    words::Words,
};
use core::hint::black_box;
use std::{time::Duration, time::Instant, vec, vec::Vec};

/// The blocks of each message: a run is long beside the call and the clock.
const BLOCKS: usize = 32;

/// The distances between messages: skewed by a cache line, and in the same cache sets as leaves that lie one after another.
const STRIDES: [usize; 2] = [(64 << 10) + 64, 64 << 10];

/// Returns the time of a block of all lanes of each kernel of the fastest instruction set, in picoseconds: of messages that lie apart,
/// and of messages that conflict in the cache. It is the least of several short runs, in which the kernels take turns; the time that
/// they take in all is about `most`.
fn measure(scheme: &'static Scheme, most: Duration) -> Vec<(&'static Entry, [u32; 2])> {
    let kernels: Vec<&Entry> = scheme.family.all(Cpu::detected()).collect();
    let lanes = kernels.iter().map(|entry| entry.lanes).max().unwrap_or(1);
    // Pages that were never written to would all be the same one.
    let mut memory = vec![0u8; (lanes - 1) * STRIDES[0] + BLOCKS * scheme.framing.block];
    for message in memory.chunks_mut(STRIDES[0]) {
        let whole = message.len().min((BLOCKS * scheme.framing.block).next_multiple_of(4096) + 4096);
        message[..whole].fill(1);
    }
    let mut states: Vec<Words> = vec![Words::ZERO; lanes];
    let mut plan = Plan::new(scheme.framing);
    plan.blocks(0, 0, BLOCKS);
    // Zeros are terms of every hash: no flags, and a schedule that only a last block would read.
    let terms = [0u64; 80];
    let mut costs: Vec<(&Entry, [u32; 2])> = kernels.into_iter().map(|entry| (entry, [u32::MAX; 2])).collect();
    let (begin, mut rounds) = (Instant::now(), 0);
    // The first round fetches code and memory, the second is the first that counts.
    while rounds < 2 || begin.elapsed() < most {
        for (entry, costs) in &mut costs {
            for (stride, least) in STRIDES.into_iter().zip(costs) {
                let (start, end) = (Start::Same(&scheme.start), End::Kept(states.as_mut_ptr().cast()));
                let grid = Grid::apart(memory.as_ptr(), stride, entry.lanes);
                let job = Job { terms: terms.as_ptr().cast(), ..Job::new(&plan, start, grid, end) };
                let begin = Instant::now();
                // SAFETY: the machine has the kernel, and there is memory for its messages, which have `BLOCKS` blocks at either stride,
                // and for the states of all lanes. The terms are as above.
                unsafe { (entry.run)(black_box(&job)) };
                let cost = begin.elapsed().as_nanos() * 1000 / BLOCKS as u128;
                *least = (*least).min(u32::try_from(cost).unwrap_or(u32::MAX));
            }
        }
        rounds += 1;
    }
    costs
}

#[test]
#[ignore = "measures"]
fn costs() {
    use crate::Hash;
    use std::{println, ptr};
    let mut done = Vec::new();
    for &hash in Hash::ALL {
        let scheme = hash.scheme();
        if done.iter().any(|&family| ptr::eq(family, scheme.family)) {
            continue;
        }
        done.push(scheme.family);
        println!("{}", hash.name());
        for (entry, [apart, conflicting]) in measure(scheme, Duration::from_millis(200)) {
            let (lanes, [apart, conflicting]) = (entry.lanes, [apart, conflicting].map(|cost| f64::from(cost) / 1e3));
            let each = apart / lanes as f64;
            let name = entry.name;
            println!("    {name:<20} {lanes:>2} {apart:>6.0} {conflicting:>6.0} in conflict {each:>6.1} a message");
        }
    }
}
