//! `Slots` against the reference crates: messages of any lengths that come in pieces of any lengths, as many at a time as there are
//! slots.

mod reference;

use mksum_lanes::{Hash, Piece, Slots, cpu::Cpu};
use proptest::prelude::*;
use reference::{bytes, reference};

/// A message that is being hashed.
struct Under {
    /// The message's number, and how many of its bytes have been taken into pieces.
    message: usize,
    given: usize,
}

/// The digests of messages of these lengths, each of them `memory` from its number on, with `prefix` before it.
fn digests(
    cpu: Cpu,
    hash: Hash,
    count: usize,
    prefix: &[u8],
    lens: &[usize],
    piece: usize,
    memory: &[u8],
) -> Vec<Vec<u8>> {
    let mut slots = Slots::on(cpu, hash, count).unwrap();
    let (mut under, mut next): (Vec<Option<Under>>, _) = ((0..count).map(|_| None).collect(), 0);
    let mut pieces: Vec<Piece<'_>> = (0..count).map(|slot| Piece { slot, bytes: &[], last: false }).collect();
    let mut out = vec![Vec::new(); lens.len()];
    loop {
        for (place, own) in pieces.iter_mut().zip(&mut under) {
            if own.is_none() && next < lens.len() {
                slots.begin(place.slot, prefix);
                *own = Some(Under { message: next, given: 0 });
                (place.bytes, place.last) = (&[], false);
                next += 1;
            }
            if let Some(own) = own
                && place.bytes.is_empty()
                && !place.last
            {
                let (from, len) = (own.given, lens[own.message]);
                own.given = len.min(from + piece);
                (place.bytes, place.last) = (&memory[own.message..][from..own.given], own.given == len);
            }
        }
        let mut busy: Vec<_> = pieces.iter().filter(|piece| under[piece.slot].is_some()).copied().collect();
        if busy.is_empty() {
            return out;
        }
        slots.advance(&mut busy);
        let mut used_up = 0;
        for piece in busy {
            pieces[piece.slot] = piece;
            used_up += slots.is_used_up(&piece) as usize;
            if slots.is_used_up(&piece) && piece.last {
                let message = under[piece.slot].take().unwrap().message;
                out[message] = vec![0; hash.size()];
                slots.finish(piece.slot, &mut out[message]);
            }
        }
        assert!(used_up > 0, "each call uses up a piece");
    }
}

fn chained() -> impl Iterator<Item = Hash> {
    Hash::ALL.iter().copied().filter(|&hash| Slots::new(hash, 0).is_some())
}

#[test]
fn every_hash_that_does_not_count_its_blocks() {
    let memory = bytes(10_000);
    assert!(chained().count() >= 10);
    for hash in chained() {
        let block = hash.block_size();
        // Around one block and two, with and without room for the length.
        let lens: Vec<_> = (0..2 * block + 3).chain([5000, 0, 9 * block, 4096, 1]).collect();
        for cpu in Cpu::available() {
            for (count, prefix, piece) in [(1, &b""[..], 4096), (hash.lanes_on(cpu), b"", block), (5, b"\0", 1000)] {
                let found = digests(cpu, hash, count, prefix, &lens, piece, &memory);
                for (index, (digest, &len)) in found.iter().zip(&lens).enumerate() {
                    let expected = reference(hash, &[prefix, &memory[index..][..len]]);
                    assert!(*digest == expected, "{cpu:?} {} {len} bytes by {piece}", hash.name());
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn any_lengths(
        hash in prop::sample::select(chained().collect::<Vec<_>>()),
        cpu in prop::sample::select(Cpu::available().collect::<Vec<_>>()),
        count in 1..60_usize,
        prefix in 0..20_usize,
        lens in prop::collection::vec(prop_oneof![0..300_usize, 0..5000_usize], 0..120),
        piece in prop_oneof![1..200_usize, 1..5000_usize],
    ) {
        let memory = bytes(6000);
        let prefix = &memory[..prefix];
        for (index, digest) in digests(cpu, hash, count, prefix, &lens, piece, &memory).iter().enumerate() {
            prop_assert_eq!(digest, &reference(hash, &[prefix, &memory[index..][..lens[index]]]));
        }
    }
}

#[test]
fn hashes_that_count_their_blocks_have_no_slots() {
    for hash in [Hash::Blake2b, Hash::Blake2s, Hash::Blake3] {
        assert!(Slots::new(hash, 4).is_none());
    }
}
