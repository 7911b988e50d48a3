//! Messages that come slice by slice, hashed side by side.

#[cfg(feature = "blake3")]
use crate::hash::blake3::Trees;
use crate::{
    Hash,
    cpu::{Cpu, active_or_detected},
    dispatch::Entry,
    grid::Grid,
    kernel::{End, Job, Start},
    lane_states::LaneStates,
    messages::Messages,
    plan::Plan,
    scheme::Scheme,
    words::Words,
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
    /// States of hashes that fold in one block after another.
    Chains(Chains),
    /// States of BLAKE3.
    #[cfg(feature = "blake3")]
    Trees(Trees),
}

/// States of messages, each a chain of blocks.
#[derive(Clone)]
struct Chains {
    cpu: Cpu,
    scheme: &'static Scheme,
    count: usize,
    /// The kernels that share the messages, left to right.
    groups: Vec<Group>,
    /// The number of bytes of each message that are in the states: whole blocks.
    hashed: u64,
    /// The number of bytes of each message that wait in `tails`: less than a block, or a full one where the last must be marked.
    fill: usize,
    /// A block for each message.
    tails: Vec<u8>,
}

/// Some messages that share a kernel.
#[derive(Clone)]
struct Group {
    entry: &'static Entry,
    /// The number of messages: no more than the kernel's lanes.
    count: usize,
    states: LaneStates,
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
            _ => State::Chains(Chains::new(cpu, hash.scheme(), prefix, count)),
        };
        Streams { hash, state }
    }

    /// Makes the only message the one whose state [`save`](Streams::save) returned. Returns whether the bytes are the state of a message;
    /// otherwise this one has any bytes from here on.
    ///
    /// Every length is checked, so that any bytes are safe; but whether the state is one that was saved, only a checksum of the caller's
    /// tells.
    ///
    /// # Panics
    /// If there is not exactly one message.
    // Like all that saves and loads states, it is `inline`, so that the crate that calls it decides whether it is small or fast: small
    // where it is downloaded.
    #[inline]
    #[must_use]
    pub fn load(&mut self, bytes: &[u8]) -> bool {
        assert_eq!(self.count(), 1, "one message");
        let Some((len, mut rest)) = bytes.split_first_chunk() else { return false };
        let len = u64::from_le_bytes(*len);
        // No message is longer, so that no count overflows later.
        if len >= 1 << 63 {
            return false;
        }
        match &mut self.state {
            State::Chains(chains) => chains.set_len(len),
            #[cfg(feature = "blake3")]
            State::Trees(trees) => trees.set_len(len),
        }
        let mut fits = true;
        self.parts(&mut |part| match rest.split_at_checked(part.len()) {
            Some((own, later)) => {
                part.copy_from_slice(own);
                rest = later;
            }
            None => fits = false,
        });
        fits && rest.is_empty()
    }

    /// Appends the state of the only message to `out`, so that [`load`](Streams::load) continues it, on any machine.
    ///
    /// It is the message's length so far (8 bytes, the least significant first) with its prefix, the values that were made of whole
    /// blocks, and the bytes that wait for a whole one: less than 3,000 bytes in all. The length says how many there are of each. The
    /// values are the state's words, the least significant byte first; of BLAKE3, the chaining values of the subtrees that wait for
    /// their sibling, from the smallest on, then that of the last whole chunk.
    ///
    /// # Panics
    /// If there is not exactly one message.
    #[inline]
    pub fn save(&mut self, out: &mut Vec<u8>) {
        assert_eq!(self.count(), 1, "one message");
        let len = match &self.state {
            State::Chains(chains) => chains.hashed + chains.fill as u64,
            #[cfg(feature = "blake3")]
            State::Trees(trees) => trees.len(),
        };
        out.extend_from_slice(&len.to_le_bytes());
        self.parts(&mut |part| out.extend_from_slice(part));
    }

    /// Visits the parts of the only message's state, as they are saved.
    #[inline]
    fn parts(&mut self, visit: &mut dyn FnMut(&mut [u8])) {
        match &mut self.state {
            State::Chains(chains) => chains.parts(visit),
            #[cfg(feature = "blake3")]
            State::Trees(trees) => trees.parts(visit),
        }
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
                // SAFETY: `Messages` have their bytes, and there are as many as chains, as asserted.
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
                // SAFETY: all messages get the same slice, at a stride of 0.
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

/// The state after the whole blocks of `prefix`, and the rest of the prefix. `memory` is for the state, if there are such blocks.
pub(crate) fn begin<'a, 'b>(
    cpu: Cpu,
    scheme: &'static Scheme,
    prefix: &'a [u8],
    memory: &'b mut MaybeUninit<Words>,
) -> (&'b Words, &'a [u8]) {
    let blocks = scheme.framing.whole_blocks(prefix.len());
    if blocks == 0 {
        return (&scheme.start, prefix);
    }
    let state = memory.write(scheme.start);
    let mut plan = Plan::new(scheme.framing);
    plan.blocks(0, 0, blocks);
    let (start, end) = (Start::Same(&scheme.start), End::Kept(state.as_mut_ptr()));
    let job = Job::new(&plan, start, Grid::apart(prefix.as_ptr(), 0, 1), end);
    // SAFETY: `single` is a kernel of one lane that `cpu` has. The only message is `prefix`, which has the blocks, and `state` has room
    // for its state.
    unsafe { (scheme.family.single(cpu).run)(&job) };
    (state, &prefix[blocks * scheme.framing.block..])
}

impl Chains {
    fn new(cpu: Cpu, scheme: &'static Scheme, prefix: &[u8], count: usize) -> Self {
        let mut memory = MaybeUninit::uninit();
        let (start, rest) = begin(cpu, scheme, prefix, &mut memory);
        Chains::after(cpu, scheme, start, (prefix.len() - rest.len()) as u64, rest, count)
    }

    /// `count` messages with the same bytes so far: `hashed` of them are in the state `start`, and `rest` follows, at most a block.
    fn after(cpu: Cpu, scheme: &'static Scheme, start: &Words, hashed: u64, rest: &[u8], count: usize) -> Self {
        let family = scheme.family;
        let mut groups = Vec::new();
        let mut left = count;
        while left > 0 {
            let entry = family.pick(cpu, left);
            let group =
                Group { entry, count: left.min(entry.lanes), states: LaneStates::same(family, entry.lanes, start) };
            left -= group.count;
            groups.push(group);
        }
        let tails = vec![0; count * scheme.framing.block];
        let mut chains = Chains { cpu, scheme, count, groups, hashed, fill: 0, tails };
        // SAFETY: all messages get the same rest, at a stride of 0.
        unsafe { chains.keep(rest.as_ptr(), 0, rest.len()) };
        chains
    }

    /// Makes the only message, whose state is about to be loaded, one of `len` bytes.
    #[inline]
    fn set_len(&mut self, len: u64) {
        let tail = self.scheme.framing.tail(len);
        (self.hashed, self.fill) = (len - tail, tail as usize);
    }

    /// Visits the parts of the only message's state: its words, and the bytes that wait.
    #[inline]
    fn parts(&mut self, visit: &mut dyn FnMut(&mut [u8])) {
        let family = self.scheme.family;
        for index in 0..family.words {
            let word = self.groups[0].states.word(family, index);
            // The least significant byte comes first on every machine.
            if cfg!(target_endian = "big") {
                word.reverse();
            }
            visit(word);
            if cfg!(target_endian = "big") {
                word.reverse();
            }
        }
        visit(&mut self.tails[..self.fill]);
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
        let mut state = Words::ZERO;
        group.states.get(self.scheme.family, lane, &mut state);
        let rest = &self.tails[index * self.scheme.framing.block..][..self.fill];
        Chains::after(self.cpu, self.scheme, &state, self.hashed, rest, 1)
    }

    /// Appends `len` bytes to each message: those of the first begin at `base`, those of each further one `stride` bytes after those of
    /// the one before.
    ///
    /// # Safety
    /// All of these bytes can be read.
    unsafe fn feed(&mut self, base: *const u8, stride: usize, len: usize) {
        let (block, marks_last) = (self.scheme.framing.block, self.scheme.framing.marks_last());
        let mut at = 0;
        if self.fill > 0 {
            at = len.min(block - self.fill);
            // SAFETY: these are the first of the promised bytes, since `at <= len`; with those that wait, they are at most a block.
            unsafe { self.keep(base, stride, at) };
            if self.fill < block || (marks_last && at == len) {
                return;
            }
            let grid = Grid::apart(self.tails.as_ptr(), block, self.count);
            self.fill = 0;
            // SAFETY: `tails` has a full block of each message.
            unsafe { self.fold(grid, 0, 1) };
        }
        let blocks = self.scheme.framing.whole_blocks(len - at);
        // SAFETY: the bytes from `at` to before `len` are promised: `blocks` blocks of them, and less than a block, or one block, more.
        unsafe {
            self.fold(Grid::apart(base, stride, self.count), at, blocks);
            at += blocks * block;
            self.keep(base.wrapping_add(at), stride, len - at);
        }
    }

    /// Hashes `blocks` full blocks of each message, from `offset` bytes on.
    ///
    /// # Safety
    /// The grid has a message for each chain, with these blocks.
    unsafe fn fold(&mut self, grid: Grid, offset: usize, blocks: usize) {
        if blocks == 0 {
            return;
        }
        let mut plan = Plan::new(self.scheme.framing);
        plan.blocks(self.hashed, offset as isize, blocks);
        let mut done = 0;
        for group in &mut self.groups {
            let states = group.states.as_mut_ptr();
            let job = Job::new(&plan, Start::Kept(states), grid.part(done, group.count), End::Kept(states));
            // SAFETY: the kernel was picked for this machine, and the states are of as many lanes as it has. The blocks are promised.
            unsafe { (group.entry.run)(&job) };
            done += group.count;
        }
        self.hashed += (blocks * self.scheme.framing.block) as u64;
    }

    /// Copies `len` bytes of each message to the end of those that wait: together no more than a block.
    ///
    /// # Safety
    /// As for [`feed`](Chains::feed).
    unsafe fn keep(&mut self, base: *const u8, stride: usize, len: usize) {
        for (index, tail) in self.tails.chunks_exact_mut(self.scheme.framing.block).enumerate() {
            let to = &mut tail[self.fill..self.fill + len];
            // SAFETY: `len` bytes of the message at `index` are promised, and `to` has as many, in memory that is borrowed mutably.
            unsafe { ptr::copy_nonoverlapping(base.wrapping_add(index * stride), to.as_mut_ptr(), len) };
        }
        self.fill += len;
    }

    fn finish(self, mut out: &mut [u8], size: usize) {
        let mut plan = Plan::new(self.scheme.framing);
        plan.rest(&[], self.fill, self.hashed);
        let grid = Grid::apart(self.tails.as_ptr(), self.scheme.framing.block, self.count);
        let mut done = 0;
        for group in &self.groups {
            let (own, rest) = out.split_at_mut(group.count * size);
            let (start, end) = (Start::Kept(group.states.as_ptr()), End::Digests(own.as_mut_ptr(), size));
            let job = Job::new(&plan, start, grid.part(done, group.count), end);
            // SAFETY: the kernel was picked for this machine, and the states are of as many lanes as it has. `fill` bytes of each message
            // wait in `tails`, and `own` has a place for each digest.
            unsafe { (group.entry.run)(&job) };
            done += group.count;
            out = rest;
        }
    }
}
