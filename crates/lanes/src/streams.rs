//! Messages that come slice by slice, hashed side by side.

#[cfg(feature = "blake3")]
use crate::blake3::Trees;
use crate::{
    Hash, Messages,
    cpu::{Cpu, active_or_detected},
    kernel::{End, Grid, Job, Start},
    kernels::{Entry, Family, pick, single},
    plan::{Plan, Scheme, Words},
};
use alloc::{vec, vec::Vec};
use core::{fmt, mem::MaybeUninit, ptr};

/// Messages of equal length being hashed: every message gets its next slice at the same time.
#[derive(Clone)]
pub struct Streams {
    hash: Hash,
    state: State,
}

/// The messages' states.
#[derive(Clone)]
enum State {
    /// Of hashes that fold one block after another.
    Chains(Chains),
    /// Of BLAKE3.
    #[cfg(feature = "blake3")]
    Trees(Trees),
}

/// States of messages, each a chain of blocks.
#[derive(Clone)]
struct Chains {
    cpu: Cpu,
    family: Family,
    scheme: &'static Scheme,
    count: usize,
    /// The kernels that share the messages, left to right.
    groups: Vec<Group>,
    /// The bytes of each message that are in the states: whole blocks.
    hashed: u64,
    /// The bytes of each message that wait in `tails`: less than a block, or a full one where the last must be marked.
    fill: usize,
    /// A block for each message.
    tails: Vec<u8>,
}

/// Some messages at one kernel.
#[derive(Clone)]
struct Group {
    entry: &'static Entry,
    /// The number of messages: no more than the kernel's lanes.
    count: usize,
    /// Their states in the kernel's own order: the first word of all lanes, then the second, and so on.
    states: Vec<Words>,
}

impl Streams {
    /// `count` messages that begin with `prefix`.
    pub fn new(hash: Hash, prefix: &[u8], count: usize) -> Self {
        Streams::on(active_or_detected(), hash, prefix, count)
    }

    /// [`new`](Streams::new), on a given instruction set.
    pub fn on(cpu: Cpu, hash: Hash, prefix: &[u8], count: usize) -> Self {
        let state = match hash {
            #[cfg(feature = "blake3")]
            Hash::Blake3 => {
                let mut trees = Trees::new(cpu, count);
                trees.append(prefix);
                State::Trees(trees)
            }
            _ => State::Chains(Chains::new(cpu, hash, prefix, count)),
        };
        Streams { hash, state }
    }

    /// The hash.
    pub fn hash(&self) -> Hash {
        self.hash
    }

    /// The number of messages.
    pub fn count(&self) -> usize {
        match &self.state {
            State::Chains(chains) => chains.count,
            #[cfg(feature = "blake3")]
            State::Trees(trees) => trees.count(),
        }
    }

    /// Appends to each message its slice: `slices.len()` bytes each.
    ///
    /// # Panics
    /// If there are not as many slices as messages.
    pub fn update(&mut self, slices: Messages<'_>) {
        assert_eq!(slices.count(), self.count(), "a slice for each message");
        match &mut self.state {
            State::Chains(chains) => {
                // SAFETY: `Messages` lie in their memory.
                unsafe { chains.feed(slices.bytes().as_ptr(), slices.stride(), slices.len()) }
            }
            #[cfg(feature = "blake3")]
            State::Trees(trees) => trees.update(slices),
        }
    }

    /// Appends the same bytes to every message.
    pub fn append(&mut self, bytes: &[u8]) {
        match &mut self.state {
            State::Chains(chains) => {
                // SAFETY: the same slice for each message.
                unsafe { chains.feed(bytes.as_ptr(), 0, bytes.len()) }
            }
            #[cfg(feature = "blake3")]
            State::Trees(trees) => trees.append(bytes),
        }
    }

    /// Each message alone, left to right: from here on their lengths may differ.
    pub fn split(self) -> impl ExactSizeIterator<Item = Streams> {
        let count = self.count();
        let Streams { hash, state } = self;
        (0..count).map(move |index| Streams {
            hash,
            state: match &state {
                State::Chains(chains) => State::Chains(chains.alone(index)),
                #[cfg(feature = "blake3")]
                State::Trees(trees) => State::Trees(trees.alone(index)),
            },
        })
    }

    /// Writes the digests, left to right.
    ///
    /// # Panics
    /// If `out` is not exactly `self.count() * self.hash().size()` bytes.
    pub fn finish(self, out: &mut [u8]) {
        let size = self.hash.size();
        assert_eq!(out.len(), self.count() * size, "{size} bytes a digest");
        match self.state {
            State::Chains(chains) => chains.finish(out, size),
            #[cfg(feature = "blake3")]
            State::Trees(trees) => trees.finish(out),
        }
    }
}

impl fmt::Debug for Streams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Streams({} × {})", self.count(), self.hash.name())
    }
}

/// The state after the whole blocks of `prefix`, and what is left of it. `memory` is for that state, if there are any.
pub(crate) fn begin<'a, 'b>(
    cpu: Cpu,
    hash: Hash,
    prefix: &'a [u8],
    memory: &'b mut MaybeUninit<Words>,
) -> (&'b Words, &'a [u8]) {
    let (scheme, block) = (hash.scheme(), hash.scheme().block);
    let blocks = match scheme.padding.marks_last() {
        true => prefix.len().saturating_sub(1) / block,
        false => prefix.len() / block,
    };
    if blocks == 0 {
        return (&scheme.start, prefix);
    }
    let state = memory.write(scheme.start);
    let mut plan = Plan::new();
    plan.blocks(scheme, 0, 0, blocks);
    let (start, end) = (Start::Same(scheme.start.as_ptr()), End::Kept(state.as_mut_ptr()));
    let job = Job::new(scheme, &plan, start, Grid::column(prefix.as_ptr(), 0), 1, end);
    // SAFETY: `single` is a kernel of one lane that `cpu` has; `prefix` has the blocks.
    unsafe { (single(cpu, hash.family()).run)(&job) };
    (state, &prefix[blocks * block..])
}

impl Chains {
    fn new(cpu: Cpu, hash: Hash, prefix: &[u8], count: usize) -> Self {
        let (scheme, family) = (hash.scheme(), hash.family());
        let mut memory = MaybeUninit::uninit();
        let (start, rest) = begin(cpu, hash, prefix, &mut memory);
        let mut groups = Vec::new();
        let mut left = count;
        while left > 0 {
            let entry = pick(cpu, family, left);
            let mut group = Group { entry, count: left.min(entry.lanes), states: vec![Words::ZERO; entry.lanes] };
            for lane in 0..entry.lanes {
                group.set(family, lane, start);
            }
            left -= group.count;
            groups.push(group);
        }
        let hashed = (prefix.len() - rest.len()) as u64;
        let mut chains =
            Chains { cpu, family, scheme, count, groups, hashed, fill: 0, tails: vec![0; count * scheme.block] };
        // SAFETY: the same slice for each message.
        unsafe { chains.keep(rest.as_ptr(), 0, rest.len()) };
        chains
    }

    /// The message at `index` alone.
    fn alone(&self, index: usize) -> Self {
        let mut lane = index;
        let mut groups = self.groups.iter();
        let mut group = groups.next().expect("a message has a group");
        while lane >= group.count {
            lane -= group.count;
            group = groups.next().expect("a message has a group");
        }
        let entry = pick(self.cpu, self.family, 1);
        let mut own = Group { entry, count: 1, states: vec![Words::ZERO; entry.lanes] };
        own.set(self.family, 0, &group.get(self.family, lane));
        let block = self.scheme.block;
        Chains { count: 1, groups: vec![own], tails: self.tails[index * block..][..block].to_vec(), ..*self }
    }

    /// Appends `len` bytes to each message: those of the first begin at `base`, the others `stride` bytes further each.
    ///
    /// # Safety
    /// The bytes can be read.
    unsafe fn feed(&mut self, base: *const u8, stride: usize, len: usize) {
        let (block, marks_last) = (self.scheme.block, self.scheme.padding.marks_last());
        let mut at = 0;
        if self.fill > 0 {
            at = len.min(block - self.fill);
            // SAFETY: the caller's promise.
            unsafe { self.keep(base, stride, at) };
            if self.fill < block || (marks_last && at == len) {
                return;
            }
            let grid = Grid::column(self.tails.as_ptr(), block);
            self.fill = 0;
            // SAFETY: a full block of each message waits.
            unsafe { self.fold(grid, 0, 1) };
        }
        let left = len - at;
        let blocks = if marks_last { left.saturating_sub(1) / block } else { left / block };
        // SAFETY: the caller's promise.
        unsafe {
            self.fold(Grid::column(base, stride), at, blocks);
            at += blocks * block;
            self.keep(base.wrapping_add(at), stride, len - at);
        }
    }

    /// Hashes `blocks` full blocks of each message, from `offset` bytes on.
    ///
    /// # Safety
    /// The blocks can be read.
    unsafe fn fold(&mut self, mut grid: Grid, offset: usize, blocks: usize) {
        if blocks == 0 {
            return;
        }
        let mut plan = Plan::new();
        plan.blocks(self.scheme, self.hashed, offset as isize, blocks);
        for group in &mut self.groups {
            let states: *mut u8 = group.states.as_mut_ptr().cast();
            let job = Job::new(self.scheme, &plan, Start::Kept(states), grid, group.count, End::Kept(states));
            // SAFETY: the group was made for a kernel that the machine has; the rest is the caller's promise.
            unsafe { (group.entry.run)(&job) };
            grid = grid.skip(group.count);
        }
        self.hashed += (blocks * self.scheme.block) as u64;
    }

    /// Copies `len` bytes of each message behind those that wait: together no more than a block.
    ///
    /// # Safety
    /// The bytes can be read.
    unsafe fn keep(&mut self, base: *const u8, stride: usize, len: usize) {
        for (index, tail) in self.tails.chunks_exact_mut(self.scheme.block).enumerate() {
            let to = &mut tail[self.fill..self.fill + len];
            // SAFETY: the caller's promise, and `to` is so long.
            unsafe { ptr::copy_nonoverlapping(base.wrapping_add(index * stride), to.as_mut_ptr(), len) };
        }
        self.fill += len;
    }

    fn finish(self, mut out: &mut [u8], size: usize) {
        let mut plan = Plan::new();
        plan.rest(self.scheme, &[], self.fill, self.hashed);
        let mut grid = Grid::column(self.tails.as_ptr(), self.scheme.block);
        for group in &self.groups {
            let (own, rest) = out.split_at_mut(group.count * size);
            let (start, end) = (Start::Kept(group.states.as_ptr().cast()), End::Digests(own.as_mut_ptr(), size));
            let job = Job::new(self.scheme, &plan, start, grid, group.count, end);
            // SAFETY: the group was made for a kernel that the machine has; `fill` bytes wait; `own` has the digests.
            unsafe { (group.entry.run)(&job) };
            grid = grid.skip(group.count);
            out = rest;
        }
    }
}

impl Group {
    /// Where a lane's words are, in bytes: each word's place, and the word's size.
    fn places(&self, family: Family, lane: usize) -> impl Iterator<Item = usize> + use<> {
        let (lanes, word) = (self.entry.lanes, family.word());
        (0..family.words()).map(move |index| (index * lanes + lane) * word)
    }

    /// Sets a lane's state.
    fn set(&mut self, family: Family, lane: usize, state: &Words) {
        let (word, memory) = (family.word(), self.states.as_mut_ptr().cast::<u8>());
        for (index, place) in self.places(family, lane).enumerate() {
            // SAFETY: `lanes` times `Words` have room for so many words of all lanes, and `state` for those of one.
            unsafe { ptr::copy_nonoverlapping(state.as_ptr().add(index * word), memory.add(place), word) };
        }
    }

    /// A lane's state.
    fn get(&self, family: Family, lane: usize) -> Words {
        let (word, memory) = (family.word(), self.states.as_ptr().cast::<u8>());
        let mut state = Words::ZERO;
        for (index, place) in self.places(family, lane).enumerate() {
            // SAFETY: as for `set`.
            unsafe { ptr::copy_nonoverlapping(memory.add(place), state.as_mut_ptr().add(index * word), word) };
        }
        state
    }
}
