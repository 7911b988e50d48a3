//! The digests of messages that lie in memory whole.

#[cfg(feature = "blake3")]
use crate::blake3::{self, CHUNK, Role, Trees};
use crate::{
    Hash, Messages, Streams,
    cpu::{Cpu, active_or_detected},
    kernel::{End, Grid, Job, SMALL, Start},
    kernels::{Family, dispatch},
    plan::{Plan, Rows, Step},
    sha2, sha256, sha512,
    streams::begin,
};
use core::{mem::MaybeUninit, ptr};

/// Writes the digest of `prefix ‖ message` for each message, left to right.
///
/// # Panics
/// If `out` is not exactly `messages.count() * hash.size()` bytes.
pub fn digests(hash: Hash, prefix: &[u8], messages: Messages<'_>, out: &mut [u8]) {
    digests_on(active_or_detected(), hash, prefix, messages, out);
}

/// [`digests`], on a given instruction set.
pub fn digests_on(cpu: Cpu, hash: Hash, prefix: &[u8], messages: Messages<'_>, out: &mut [u8]) {
    let (count, size) = (messages.count(), hash.size());
    assert_eq!(out.len(), count * size, "{count} digests of {size} bytes");
    #[cfg(feature = "blake3")]
    if hash == Hash::Blake3 {
        return blake3_digests(cpu, prefix, messages, out);
    }
    let (scheme, family) = (hash.scheme(), hash.family());
    let mut memory = MaybeUninit::uninit();
    let (start, rest) = begin(cpu, hash, prefix, &mut memory);
    let mut plan = Plan::new();
    plan.rest(scheme, rest, messages.len(), (prefix.len() - rest.len()) as u64);
    let schedule = plan.steps().last().map_or(Schedule::None, |last| Schedule::of(family, last, count));
    if count == 1 {
        plan.include(messages.get(0));
    }
    let (start, end) = (Start::Same(start.as_ptr()), End::Digests(out.as_mut_ptr(), size));
    let grid = Grid::column(messages.bytes().as_ptr(), messages.stride());
    let job = Job { schedule: schedule.as_ptr(), ..Job::new(scheme, &plan, start, grid, count, end) };
    // SAFETY: `Messages` lie in their memory, and `out` has a place for each.
    unsafe { dispatch(cpu, family, &job) }
}

/// The schedule of the last block, where it is the same in every message, or nearly: of SHA-2, with the constants.
#[allow(clippy::large_enum_variant)] // There is one, on the stack, for one call.
enum Schedule {
    None,
    Known(*const u8),
    Sha256([u32; 64]),
    Sha512([u64; 80]),
    Nearly256([u32; 32]),
    Nearly512([u64; 32]),
}

impl Schedule {
    /// From how many messages on it costs less to compute it once than in every group of them.
    const WORTH: usize = 32;

    /// The same of a schedule of which only parts are computed.
    const NEARLY_WORTH: usize = 128;

    fn of(family: Family, last: &Step, count: usize) -> Self {
        let block = &last.template;
        match (family, last.rows) {
            // Its kernels have one lane then, and take none.
            (Family::Sha512, _) if SMALL => Schedule::None,
            // The pairs of nodes: their second block is padding only.
            (Family::Sha256, Rows::Same) if last.counter == 64 => Schedule::Known(sha256::AFTER_64.as_ptr().cast()),
            (Family::Sha512, Rows::Same) if last.counter == 128 => Schedule::Known(sha512::AFTER_128.as_ptr().cast()),
            (Family::Sha256, Rows::Same) if count >= Self::WORTH => {
                Schedule::Sha256(sha256::schedule(block.first_chunk().expect("a block")))
            }
            (Family::Sha512, Rows::Same) if count >= Self::WORTH => {
                Schedule::Sha512(sha512::schedule(block.first_chunk().expect("a block")))
            }
            // The nodes of RFC 6962: of their second block, only the first byte is not padding.
            (Family::Sha256, Rows::Overlaid(0, ..=4)) if count >= Self::NEARLY_WORTH && !SMALL => {
                Schedule::Nearly256(sha2::nearly::<sha256::Sha256>(block))
            }
            (Family::Sha512, Rows::Overlaid(0, ..=8)) if count >= Self::NEARLY_WORTH => {
                Schedule::Nearly512(sha2::nearly::<sha512::Sha512>(block))
            }
            _ => Schedule::None,
        }
    }

    fn as_ptr(&self) -> *const u8 {
        match self {
            Schedule::None => ptr::null(),
            Schedule::Known(words) => *words,
            Schedule::Sha256(words) => words.as_ptr().cast(),
            Schedule::Sha512(words) => words.as_ptr().cast(),
            Schedule::Nearly256(words) => words.as_ptr().cast(),
            Schedule::Nearly512(words) => words.as_ptr().cast(),
        }
    }
}

/// The digest of one message in its first `hash.size()` bytes; the rest is zero.
pub fn digest(hash: Hash, parts: &[&[u8]]) -> [u8; Hash::MAX_SIZE] {
    let mut out = [0; Hash::MAX_SIZE];
    let own = &mut out[..hash.size()];
    match parts {
        [] => digests(hash, &[], Messages::strided(&[], 0, 0, 1), own),
        [part] => digests(hash, &[], Messages::strided(part, part.len(), part.len(), 1), own),
        [prefix, part] => digests(hash, prefix, Messages::strided(part, part.len(), part.len(), 1), own),
        [prefix, parts @ ..] => {
            let mut stream = Streams::new(hash, prefix, 1);
            for part in parts {
                stream.append(part);
            }
            stream.finish(own);
        }
    }
    out
}

/// The digests of messages by BLAKE3: those of one chunk side by side, longer ones by their trees.
#[cfg(feature = "blake3")]
fn blake3_digests(cpu: Cpu, prefix: &[u8], messages: Messages<'_>, mut out: &mut [u8]) {
    let total = prefix.len() + messages.len();
    if total <= CHUNK && prefix.len() <= 64 {
        let grid = Grid::column(messages.bytes().as_ptr(), messages.stride());
        // SAFETY: `Messages` lie in their memory, and `out` has a place for each.
        unsafe {
            blake3::chunks_of(cpu, grid, prefix, messages.len(), messages.count(), Role::Root, out.as_mut_ptr());
        }
        return;
    }
    // So many trees at a time that their values stay in the cache; of longer ones, so much of each.
    let batch = (4096 * CHUNK / total).clamp(1, 256);
    let mut left = messages;
    while left.count() > 0 {
        let (some, rest) = left.split_at(batch.min(left.count()));
        let (own, others) = out.split_at_mut(32 * some.count());
        if total <= 4096 * CHUNK && prefix.len() <= 64 {
            blake3::digests(cpu, prefix, some, own);
        } else {
            let mut trees = Trees::new(cpu, some.count());
            trees.append(prefix);
            trees.update(some);
            trees.finish(own);
        }
        (left, out) = (rest, others);
    }
}
