//! Scans: the leaves of bytes that come in pieces, and the root of pieces that were scanned from anywhere.

use crate::digest::Digest;
use crate::layout::{Cuts, Search};
use crate::xet::{self, Groups, Value};
use alloc::vec::Vec;

/// Finds leaves in bytes that come in pieces of any length: holds the bytes of the leaf that did not end yet.
#[derive(Clone, Debug)]
pub(crate) struct Scan {
    cuts: Cuts,
    search: Search,
    /// The bytes so far of the leaf that did not end yet.
    held: Vec<u8>,
}

impl Scan {
    pub fn new(cuts: Cuts) -> Self {
        Scan { cuts, search: Search::default(), held: Vec::new() }
    }

    /// Appends bytes up to the end of the next leaf: calls `leaf` with its bytes, and returns the bytes after it. Without an end, all are
    /// held, and this is `None`.
    pub fn next<'a>(&mut self, bytes: &'a [u8], leaf: impl FnOnce(&[u8])) -> Option<&'a [u8]> {
        let before = self.held.len();
        let rest = if before == 0 {
            // Most leaves are hashed where they lie.
            let Some(len) = self.cuts.end(bytes, &mut self.search) else {
                self.held.extend_from_slice(bytes);
                return None;
            };
            leaf(&bytes[..len]);
            &bytes[len..]
        } else {
            let most = bytes.len().min(self.cuts.longest - before);
            self.held.extend_from_slice(&bytes[..most]);
            let len = self.cuts.end(&self.held, &mut self.search)?;
            leaf(&self.held[..len]);
            self.held.clear();
            &bytes[len - before..]
        };
        self.search = Search::default();
        Some(rest)
    }

    /// The bytes of the last leaf, which the input's end ends; none if a leaf ends there.
    pub fn rest(&self) -> &[u8] {
        &self.held
    }
}

/// The digest of an input that is scanned from the left to the right as its bytes come.
#[derive(Clone, Debug)]
pub struct Scanned {
    scan: Scan,
    groups: Groups,
    /// The end of the last leaf.
    at: u64,
}

impl Scanned {
    /// Begins with the first byte.
    pub fn new(cuts: Cuts) -> Self {
        Scanned { scan: Scan::new(cuts), groups: Groups::default(), at: 0 }
    }

    /// Appends the next bytes.
    pub fn update(&mut self, mut bytes: &[u8]) {
        while let Some(rest) = self.next(bytes) {
            bytes = rest;
        }
    }

    /// Appends bytes up to the end of the next leaf, and returns those after it.
    fn next<'a>(&mut self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        let Scanned { scan, groups, at } = self;
        scan.next(bytes, |leaf| {
            groups.push(xet::leaf(leaf), leaf.len() as u64);
            *at += leaf.len() as u64;
        })
    }

    /// Appends the next bytes, from offset `start` on, in which another scan [found](PartScan) leaves. After the first end that both have,
    /// its leaves are taken, and only the bytes after them are scanned again.
    pub fn append<'a>(&mut self, mut start: u64, slices: impl Iterator<Item = &'a [u8]>, found: &Found) {
        for slice in slices {
            let end = start + slice.len() as u64;
            // Bytes in front of the last end are those of leaves that were taken.
            let mut bytes = &slice[(self.at.clamp(start, end) - start) as usize..];
            while let Some(rest) = self.next(bytes) {
                bytes = rest;
                let Some(leaves) = found.after(self.at) else { continue };
                for &(end, digest) in leaves {
                    self.groups.push(digest, end - self.at);
                    self.at = end;
                }
                bytes = &slice[(self.at.min(end) - start) as usize..];
            }
            start = end;
        }
    }

    /// The digest of all bytes.
    pub fn finish(mut self) -> Digest {
        let last = self.scan.rest();
        if !last.is_empty() {
            self.groups.push(xet::leaf(last), last.len() as u64);
        }
        self.groups.finish()
    }
}

/// A part of an input that is to be scanned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The offset of its first byte.
    pub start: u64,
    /// The offset after its last byte.
    pub end: u64,
    /// Whether the input ends there.
    pub last: bool,
    /// The leaves that are wanted.
    pub wanted: Wanted,
}

/// The leaves that are wanted of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// The one that begins where the part does.
    First,
    /// The leaves after the first end that is found. Bytes before it probably belong to another leaf: a part begins anywhere.
    AfterFirstEnd,
}

/// The leaves that a scan of a part has found: they are leaves of the input if one of their ends is.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The offset at which the first one begins; `None` if there are none, and no end was found.
    from: Option<u64>,
    /// The ends and the digests of leaves that follow one another.
    leaves: Vec<(u64, Value)>,
}

/// Scans the bytes of a part as they come.
#[derive(Clone, Debug)]
pub struct PartScan {
    part: Part,
    scan: Scan,
    at: u64,
    found: Found,
}

impl PartScan {
    /// Begins a scan of a part.
    pub fn new(cuts: Cuts, part: Part) -> Self {
        let from = (part.wanted == Wanted::First).then_some(part.start);
        PartScan { part, scan: Scan::new(cuts), at: part.start, found: Found { from, leaves: Vec::new() } }
    }

    /// Whether more bytes change nothing: all leaves that are wanted were found.
    pub fn is_done(&self) -> bool {
        self.part.wanted == Wanted::First && !self.found.leaves.is_empty()
    }

    /// Appends the next bytes.
    pub fn update(&mut self, mut bytes: &[u8]) {
        while !self.is_done() {
            let PartScan { at, found, .. } = self;
            let Some(rest) = self.scan.next(bytes, |leaf| found.end(at, leaf)) else { return };
            bytes = rest;
        }
    }

    /// The leaves that were found.
    pub fn finish(mut self) -> Found {
        let rest = self.scan.rest();
        if self.part.last && !rest.is_empty() && !self.is_done() {
            self.found.end(&mut self.at, rest);
        }
        self.found
    }
}

impl Found {
    /// Takes the leaf that ends next.
    fn end(&mut self, at: &mut u64, leaf: &[u8]) {
        *at += leaf.len() as u64;
        match self.from {
            None => self.from = Some(*at),
            Some(_) => self.leaves.push((*at, xet::leaf(leaf))),
        }
    }

    /// The offset after the last leaf.
    fn last_end(&self) -> Option<u64> {
        self.leaves.last().map(|(end, _)| *end).or(self.from)
    }

    /// The leaves after offset `end`, if one of these ends there.
    fn after(&self, end: u64) -> Option<&[(u64, Value)]> {
        if self.from == Some(end) {
            return Some(&self.leaves);
        }
        self.leaves.binary_search_by_key(&end, |(end, _)| *end).ok().map(|index| &self.leaves[index + 1..])
    }
}

/// Joins what scans of parts have found into the digest of the input. Wherever the parts begin, the leaves are those of one scan from the
/// first byte: a part's are taken only after an end that this scan has too.
#[derive(Debug, Default)]
pub(crate) struct Stitched {
    groups: Groups,
    /// The end of the last leaf.
    at: u64,
}

impl Stitched {
    fn push(&mut self, &(end, digest): &(u64, Value)) {
        self.groups.push(digest, end - self.at);
        self.at = end;
    }

    /// Takes what was found in the next part. `first` answers with what is found of the leaf that begins at an offset; once it finds no
    /// end, the part's leaves wait for nothing, and the next part's bytes are needed.
    pub fn append<E>(&mut self, part: &Found, mut first: impl FnMut(u64) -> Result<Found, E>) -> Result<(), E> {
        let Some(end) = part.last_end() else { return Ok(()) };
        while self.at <= end {
            if let Some(leaves) = part.after(self.at) {
                leaves.iter().for_each(|leaf| self.push(leaf));
                return Ok(());
            }
            match first(self.at)?.leaves.first() {
                Some(leaf) => self.push(leaf),
                None => return Ok(()),
            }
        }
        Ok(())
    }

    /// The digest of an input of `len` bytes.
    pub fn finish<E>(mut self, len: u64, mut first: impl FnMut(u64) -> Result<Found, E>) -> Result<Option<Digest>, E> {
        while self.at < len {
            match first(self.at)?.leaves.first() {
                Some(leaf) => self.push(leaf),
                None => return Ok(None),
            }
        }
        Ok(Some(self.groups.finish()))
    }
}

impl Cuts {
    /// The bytes of a part for each of `threads` threads: long enough that the leaves at its borders, which are scanned twice, cost little.
    pub fn part(self, len: u64, threads: usize) -> u64 {
        (len / (4 * threads.max(1) as u64)).clamp(16 * self.longest(), 64 * self.longest())
    }

    /// The parts of an input, left to right.
    pub(crate) fn parts(len: u64, part: u64) -> impl Iterator<Item = Part> + Send {
        (0..len.div_ceil(part)).map(move |index| {
            let (start, end) = (index * part, ((index + 1) * part).min(len));
            Part { start, end, last: end == len, wanted: Wanted::AfterFirstEnd }
        })
    }

    /// The part with the leaf that begins at byte `start` of an input of `len` bytes.
    pub(crate) fn first(self, start: u64, len: u64) -> Part {
        let end = len.min(start + self.longest());
        Part { start, end, last: end == len, wanted: Wanted::First }
    }
}
