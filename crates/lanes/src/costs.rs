//! Measures the kernels, for the costs in the tables of `hash/`:
//! `cargo test --release -p mksum-lanes --lib costs -- --ignored --nocapture`.

use crate::{
    Hash,
    cpu::Cpu,
    dispatch::{Entry, MAX_LANES},
    grid::Grid,
    kernel::{End, Job, Start},
    plan::Plan,
    words::Words,
};
use core::{hint::black_box, ptr};
use std::{println, time::Instant, vec, vec::Vec};

#[test]
#[ignore = "measures"]
fn costs() {
    let cpu = Cpu::detected();
    let (terms, mut done) = ([0u64; 80], Vec::new());
    for &hash in Hash::ALL {
        let scheme = hash.scheme();
        if done.iter().any(|&family| ptr::eq(family, scheme.family)) {
            continue;
        }
        done.push(scheme.family);
        let (blocks, stride) = (16, 16 * scheme.framing.block + 64);
        let memory = vec![1u8; MAX_LANES * stride];
        let mut plan = Plan::new(scheme.framing);
        plan.blocks(0, 0, blocks);
        let mut costs: Vec<(&Entry, Vec<f64>)> = scheme.family.all(cpu).map(|entry| (entry, Vec::new())).collect();
        for _ in 0..41 {
            for (entry, samples) in &mut costs {
                let mut states = vec![Words::ZERO; entry.lanes];
                let (start, end) = (Start::Same(&scheme.start), End::Kept(states.as_mut_ptr().cast()));
                let grid = Grid::apart(memory.as_ptr(), stride, entry.lanes);
                let job = Job { terms: terms.as_ptr().cast(), ..Job::new(&plan, start, grid, end) };
                let begin = Instant::now();
                for _ in 0..20 {
                    // SAFETY: the machine has the kernel, and there is memory for its messages and states. Zeros are terms of every hash:
                    // no flags, and a schedule that only a last block would read.
                    unsafe { (entry.run)(black_box(&job)) };
                }
                samples.push(begin.elapsed().as_secs_f64() * 1e9 / (20 * blocks) as f64);
            }
        }
        println!("{}", hash.name());
        for (entry, mut samples) in costs {
            samples.sort_by(f64::total_cmp);
            let (cost, lanes) = (samples[samples.len() / 4], entry.lanes);
            println!("    {:<20} {lanes:>2} {cost:>6.0} {:>6.1} a message", entry.name, cost / lanes as f64);
        }
    }
}
