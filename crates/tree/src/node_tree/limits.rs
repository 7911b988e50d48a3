//! Measures the limits of the speed of node trees on the CPU.

use alloc::vec;
use alloc::vec::Vec;
use mksum_lanes::{Hash, Messages, digests};
use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

/// The bytes that each thread copies: together more than the caches hold.
const COPIED: usize = 128 << 20;

/// How often; the fastest counts.
const RUNS: u32 = 7;

/// Bytes that `threads` copy in a second, each from memory of its own to memory of its own.
pub fn copy(threads: usize) -> f64 {
    // The pages are there before they are copied, as a tree's are.
    let mut memory: Vec<_> = (0..threads).map(|_| (vec![1_u8; COPIED], vec![2_u8; COPIED])).collect();
    let (bytes, barrier) = (threads * COPIED, Barrier::new(threads + 1));
    let mut least = Duration::MAX;
    thread::scope(|scope| {
        for (from, to) in &mut memory {
            scope.spawn(|| {
                for _ in 0..RUNS {
                    barrier.wait();
                    black_box(&mut *to).copy_from_slice(black_box(from));
                    barrier.wait();
                }
            });
        }
        for _ in 0..RUNS {
            barrier.wait();
            let begin = Instant::now();
            barrier.wait();
            least = least.min(begin.elapsed());
        }
    });
    bytes as f64 / least.as_secs_f64()
}

/// Nodes that `threads` hash in a second from the nearest cache.
pub fn nodes(hash: Hash, threads: usize) -> f64 {
    // 12 KiB and 6 KiB with 32-byte digests.
    const NODES: usize = 192;
    const TIMES: usize = 200;
    let size = hash.size();
    let rate = || {
        let (pairs, mut out, mut most) = (vec![3; 2 * NODES * size], vec![0; NODES * size], 0.0_f64);
        for _ in 0..RUNS {
            let begin = Instant::now();
            for _ in 0..TIMES {
                digests(hash, &[], Messages::new(black_box(&pairs), 2 * size), &mut out);
                black_box(&mut out);
            }
            most = most.max((TIMES * NODES) as f64 / begin.elapsed().as_secs_f64());
        }
        most
    };
    thread::scope(|scope| {
        let all: Vec<_> = (0..threads).map(|_| scope.spawn(rate)).collect();
        all.into_iter().map(|thread| thread.join().expect("hashing does not panic")).sum()
    })
}
