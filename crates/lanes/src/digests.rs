//! The digests of messages that lie in memory as a whole.

#[cfg(feature = "blake3")]
use crate::hash::blake3;
use crate::{
    Hash,
    cpu::{Cpu, active_or_detected},
    grid::Grid,
    kernel::{End, Job, Start},
    messages::Messages,
    plan::Plan,
    scheme::Scheme,
    streams::{Streams, begin},
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
    #[cfg(feature = "blake3")]
    if hash == Hash::Blake3 {
        assert_eq!(out.len(), messages.count() * hash.size(), "a place for each digest");
        return blake3::digests(cpu, prefix, messages, out);
    }
    digests_by(cpu, hash.scheme(), hash.size(), prefix, messages, out);
}

/// [`digests_on`], by a scheme whose digests have `size` bytes: any but that of BLAKE3.
pub(crate) fn digests_by(
    cpu: Cpu,
    scheme: &'static Scheme,
    size: usize,
    prefix: &[u8],
    messages: Messages<'_>,
    out: &mut [u8],
) {
    let count = messages.count();
    assert_eq!(out.len(), count * size, "{count} digests of {size} bytes");
    let (mut state, mut prepared) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    let (start, rest) = begin(cpu, scheme, prefix, &mut state);
    let mut plan = Plan::new(scheme.framing);
    plan.rest(rest, messages.len(), (prefix.len() - rest.len()) as u64);
    let terms = match (scheme.prepare, plan.steps().last()) {
        (Some(prepare), Some(last)) => prepare(last, count, &mut prepared),
        _ => ptr::null(),
    };
    if count == 1 {
        plan.include(messages.get(0));
    }
    let grid = Grid::apart(messages.bytes().as_ptr(), messages.stride(), count);
    let (start, end) = (Start::Same(start), End::Digests(out.as_mut_ptr(), size));
    let job = Job { terms, ..Job::new(&plan, start, grid, end) };
    // SAFETY: `Messages` have their bytes, which the plan takes behind the prefix, and `out` has a place for each digest. The terms are
    // those of the hash, in memory that lives as long as the job.
    unsafe { scheme.family.dispatch(cpu, &job) }
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
