//! PBKDF2's iterations over records in memory.

use crate::algorithm::Algorithm;
use crate::state::State;
use alloc::vec::Vec;
use mksum_lanes::{Keyed, iterate, iterates};

/// The length of the key in a record, zero-padded to the longest block of any hash. The last value and the sum follow.
pub const KEY: usize = 144;
/// The length of a value in a record.
pub const VALUE: usize = 64;
/// The length of a record: the key, the last value, and the sum of all values.
pub const RECORD: usize = KEY + 2 * VALUE;

/// Performs `times` iterations for every record: HMAC of the last value, XORed into the sum (RFC 8018, 5.2).
pub fn iterate_records(algorithm: Algorithm, records: &mut [u8], times: u32) {
    let size = algorithm.size();
    match algorithm {
        Algorithm::Engine(hash) if iterates(hash) => {
            let value = |record: &[u8], at: usize| record[at..at + size].to_vec();
            let all = || records.chunks_exact(RECORD);
            let keys: Vec<_> = all().map(|record| Keyed::new(hash, &record[..hash.block_size()])).collect();
            let mut last: Vec<_> = all().flat_map(|record| value(record, KEY)).collect();
            let mut sums: Vec<_> = all().flat_map(|record| value(record, KEY + VALUE)).collect();
            iterate(&keys, &mut last, &mut sums, times);
            let values = last.chunks_exact(size).zip(sums.chunks_exact(size));
            for (record, (last, sum)) in records.chunks_exact_mut(RECORD).zip(values) {
                record[KEY..][..size].copy_from_slice(last);
                record[KEY + VALUE..][..size].copy_from_slice(sum);
            }
        }
        // Without lanes, the key is still hashed only once.
        _ => {
            for record in records.chunks_exact_mut(RECORD) {
                let keyed = State::keyed(algorithm, &record[..algorithm.block_size()]);
                for _ in 0..times {
                    let (_, values) = record.split_at_mut(KEY);
                    let (last, sum) = values.split_at_mut(VALUE);
                    let mut state = keyed.clone();
                    state.append(&last[..size]);
                    state.finish(last);
                    sum.iter_mut().zip(&last[..size]).for_each(|(sum, byte)| *sum ^= byte);
                }
            }
        }
    }
}
