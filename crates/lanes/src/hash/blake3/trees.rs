//! The trees of messages of more than one chunk, which lie in memory whole or come slice by slice.

use crate::{
    cpu::Cpu,
    grid::Grid,
    hash::blake3::nodes::{CHUNK, Chunks, Key, Output, Value, hash_chunks_with, hash_parents_with},
    messages::Messages,
    words::Words,
};
use alloc::{boxed::Box, vec, vec::Vec};

/// The distance between the waiting chunks of two messages, in bytes. It is skewed: see [`Messages`].
const STRIDE: usize = CHUNK + 64;

/// The number of values that wait before they are joined: few enough to stay in the cache, and enough that few parents are hashed
/// alone.
const WAITING: usize = 4096;

/// The trees of messages of equal length. They grow alike, so that chunks and parents of all messages are hashed side by side.
#[derive(Clone)]
pub(crate) struct Trees {
    cpu: Cpu,
    /// The parts of the [`Key`], if there is one.
    key: Option<Box<(Words, u32)>>,
    count: usize,
    /// The number of whole chunks of each message that are in `stack`.
    done: u64,
    /// `stack[h]`, where bit `h` of `done` is set: the values of the subtrees of `2^h` chunks that wait for their right
    /// sibling, one for each message.
    stack: Vec<Vec<Value>>,
    /// The values of the chunks after those: `waits` of each message, with room for `room`. The last chunk is always among them,
    /// because only the end of the messages tells which parent is the root.
    waiting: Vec<Value>,
    waits: usize,
    room: usize,
    /// The number of bytes of each message that wait in `chunks`: those of a chunk that is not whole, or that may be the only one.
    fill: usize,
    chunks: Vec<u8>,
}

impl Trees {
    pub fn new(cpu: Cpu, count: usize) -> Self {
        Self::with_key(None, cpu, count)
    }

    /// The trees of keyed hashes.
    pub fn with_key(key: Option<(Words, u32)>, cpu: Cpu, count: usize) -> Self {
        let room = (WAITING / count.max(1)).clamp(4, 512) + 1;
        let (stack, waiting, chunks) = (Vec::new(), Vec::new(), vec![0; count * STRIDE]);
        Trees { cpu, key: key.map(Box::new), count, done: 0, stack, waiting, waits: 0, room, fill: 0, chunks }
    }

    fn key(&self) -> Key<'_> {
        self.key.as_deref().map(|(words, flag)| (words, *flag))
    }

    pub fn count(&self) -> usize {
        self.count
    }

    /// The number of whole chunks of each message that are hashed.
    fn hashed(&self) -> u64 {
        self.done + self.waits as u64
    }

    /// Appends to each message its slice.
    pub fn update(&mut self, slices: Messages<'_>) {
        let (len, mut at) = (slices.len(), 0);
        if self.count == 0 {
            return;
        }
        if self.fill > 0 {
            at = len.min(CHUNK - self.fill);
            self.keep(slices, 0, at);
            if self.fill < CHUNK || (at == len && self.hashed() == 0) {
                return;
            }
            let grid = Grid::apart(self.chunks.as_ptr(), STRIDE, self.count);
            self.fill = 0;
            // SAFETY: `chunks` has a full chunk of each message, `STRIDE` bytes apart.
            unsafe { self.hash(grid, 1) };
        }
        while len - at > CHUNK || (len - at == CHUNK && self.hashed() > 0) {
            if self.waits == self.room {
                self.join();
            }
            let run = ((len - at) / CHUNK).min(self.room - self.waits);
            let base = slices.bytes()[at..].as_ptr();
            let grid = Grid::runs(base, slices.stride(), run, CHUNK, self.count * run);
            // SAFETY: each slice has `run` more chunks from `at` on, because `len - at` bytes are left.
            unsafe { self.hash(grid, run) };
            at += run * CHUNK;
        }
        self.keep(slices, at, len - at);
    }

    /// Hashes the next `run` chunks of each message.
    ///
    /// # Safety
    /// They lie in `grid`.
    unsafe fn hash(&mut self, grid: Grid, run: usize) {
        if self.waits + run > self.room {
            self.join();
        }
        let mut values = vec![[0; 32]; grid.count];
        let chunks = Chunks { grid, counter: self.hashed(), prefix: &[], len: CHUNK };
        // SAFETY: the grid's messages are chunks, as promised, and there is a place for the value of each.
        unsafe { hash_chunks_with(self.key(), self.cpu, chunks, Output::ChainingValue, values.as_mut_ptr().cast()) };
        self.waiting.resize(self.count * self.room, [0; 32]);
        for (waiting, values) in self.waiting.chunks_exact_mut(self.room).zip(values.chunks_exact(run)) {
            waiting[self.waits..self.waits + run].copy_from_slice(values);
        }
        self.waits += run;
    }

    /// Joins the waiting values, except for the last one of each message, to the subtrees before them.
    fn join(&mut self) {
        let run = self.waits - 1;
        let mut values = Vec::with_capacity(self.count * run);
        for waiting in self.waiting.chunks_exact_mut(self.room) {
            values.extend_from_slice(&waiting[..run]);
            waiting[0] = waiting[run];
        }
        self.push(values, run);
        self.waits = 1;
    }

    /// Appends the same bytes to every message.
    pub fn append(&mut self, bytes: &[u8]) {
        if self.count == 1 {
            return self.update(Messages::one(bytes));
        }
        // All slices would be the same one, at a stride of 0, which `Messages` does not allow.
        for piece in bytes.chunks(CHUNK) {
            let all = piece.repeat(self.count);
            self.update(Messages::strided(&all, piece.len(), piece.len(), self.count));
        }
    }

    /// Copies `len` bytes of each slice, from `at` on, to the end of the waiting ones.
    fn keep(&mut self, slices: Messages<'_>, at: usize, len: usize) {
        for (chunk, slice) in self.chunks.chunks_exact_mut(STRIDE).zip(slices.iter()) {
            chunk[self.fill..self.fill + len].copy_from_slice(&slice[at..at + len]);
        }
        self.fill += len;
    }

    /// Adds the values of the next `run` chunks of each message, level by level, as one binary number is added to another digit by
    /// digit.
    fn push(&mut self, mut values: Vec<Value>, mut run: usize) {
        let before = self.done;
        self.done += run as u64;
        for height in 0.. {
            if run == 0 {
                return;
            }
            if height == self.stack.len() {
                self.stack.push(Vec::new());
            }
            if before >> height & 1 == 1 {
                // The subtree that waited is the left sibling of the first one.
                let mut joined = Vec::with_capacity(values.len() + self.count);
                for (left, values) in self.stack[height].iter().zip(values.chunks_exact(run)) {
                    joined.push(*left);
                    joined.extend_from_slice(values);
                }
                values = joined;
                run += 1;
            }
            if run % 2 == 1 {
                self.stack[height] = values.chunks_exact(run).map(|values| values[run - 1]).collect();
            }
            let pairs = run / 2;
            let memory = values.as_mut_ptr();
            let grid = Grid::runs(memory.cast(), 32 * run, pairs, 64, self.count * pairs);
            // SAFETY: `values` has `pairs` pairs for each message. Parent `n` is written to place `n`, and pairs that were not yet read
            // begin at place `2n + 2` or later.
            unsafe { hash_parents_with(self.key(), self.cpu, grid, Output::ChainingValue, memory.cast()) };
            values.truncate(self.count * pairs);
            run = pairs;
        }
    }

    /// The message at `index` alone.
    pub fn alone(&self, index: usize) -> Trees {
        let mut stack = vec![Vec::new(); self.stack.len()];
        for (height, values) in self.stack.iter().enumerate() {
            if self.done >> height & 1 == 1 {
                stack[height] = vec![values[index]];
            }
        }
        let waiting = self.waiting.chunks_exact(self.room).nth(index).unwrap_or_default().to_vec();
        let (key, chunks) = (self.key.clone(), self.chunks[index * STRIDE..][..STRIDE].to_vec());
        Trees { count: 1, key, stack, waiting, chunks, ..*self }
    }

    /// The number of bytes of each message.
    #[inline]
    pub fn len(&self) -> u64 {
        CHUNK as u64 * self.hashed() + self.fill as u64
    }

    /// Makes the only message, whose state is about to be loaded, one of `len` bytes.
    #[inline]
    pub fn set_len(&mut self, len: u64) {
        // The only chunk waits as bytes, because it may be the root.
        let chunks = if len > CHUNK as u64 { len / CHUNK as u64 } else { 0 };
        self.waits = (chunks > 0) as usize;
        self.done = chunks - self.waits as u64;
        self.fill = (len - CHUNK as u64 * chunks) as usize;
        self.stack.clear();
        for _ in 0..u64::BITS - self.done.leading_zeros() {
            self.stack.push(vec![[0; 32]]);
        }
        self.waiting.resize(self.room, [0; 32]);
    }

    /// Visits the parts of the only message's state: the values of its subtrees, that of the last whole chunk, and the bytes that wait.
    #[inline]
    pub fn parts(&mut self, visit: &mut dyn FnMut(&mut [u8])) {
        if self.waits > 0 {
            // Only the last chunk waits then, whatever the slices were.
            self.join();
        }
        for (height, values) in self.stack.iter_mut().enumerate() {
            if self.done >> height & 1 == 1 {
                visit(&mut values[0]);
            }
        }
        visit(self.waiting[..self.waits].as_flattened_mut());
        visit(&mut self.chunks[..self.fill]);
    }

    /// Writes the digests, left to right: `out` has 32 bytes for each message.
    pub fn finish(mut self, out: &mut [u8]) {
        assert_eq!(out.len(), 32 * self.count);
        let output = |left: u64| if left == 0 { Output::Digest } else { Output::ChainingValue };
        if self.fill > 0 || self.hashed() == 0 {
            let counter = self.hashed();
            let grid = Grid::apart(self.chunks.as_ptr(), STRIDE, self.count);
            let chunks = Chunks { grid, counter, prefix: &[], len: self.fill };
            // SAFETY: `chunks` has `fill` bytes of each message, `STRIDE` bytes apart; `out` has a place for each value.
            unsafe { hash_chunks_with(self.key(), self.cpu, chunks, output(counter), out.as_mut_ptr()) };
            if self.waits > 0 {
                // The last one of the waiting chunks is not the message's last.
                let mut values = Vec::with_capacity(self.count * self.waits);
                for waiting in self.waiting.chunks_exact(self.room) {
                    values.extend_from_slice(&waiting[..self.waits]);
                }
                self.push(values, self.waits);
            }
        } else {
            self.join();
            for (out, waiting) in out.chunks_exact_mut(32).zip(self.waiting.chunks_exact(self.room)) {
                out.copy_from_slice(&waiting[0]);
            }
        }
        let mut pairs = vec![[[0; 32]; 2]; self.count];
        let mut left = self.done;
        while left > 0 {
            let height = left.trailing_zeros() as usize;
            left &= left - 1;
            for ((pair, subtree), right) in pairs.iter_mut().zip(&self.stack[height]).zip(out.chunks_exact(32)) {
                *pair = [*subtree, right.try_into().expect("32 bytes")];
            }
            let grid = Grid::apart(pairs.as_ptr().cast(), 64, self.count);
            // SAFETY: `pairs` has one for each message, and `out` a place for its parent's value.
            unsafe { hash_parents_with(self.key(), self.cpu, grid, output(left), out.as_mut_ptr()) };
        }
    }
}

/// Writes the digests of messages `prefix ‖ message` that lie in memory whole. They are longer than a chunk, the prefix no longer than
/// a block. The trees of all messages are hashed level by level, so that even the few nodes of small trees fill the lanes.
pub(crate) fn digests(key: Key<'_>, cpu: Cpu, prefix: &[u8], messages: Messages<'_>, out: &mut [u8]) {
    let count = messages.count();
    let (mut values, mut nodes) = values_of_chunks(key, cpu, prefix, messages);
    // A node without a sibling moves up as it is: so the left subtree is the largest perfect one (the BLAKE3 paper, 2.1).
    while nodes > 1 {
        let (pairs, odd) = (nodes / 2, nodes % 2);
        let promoted: Vec<Value> =
            values.chunks_exact(nodes).flat_map(|level| level.last().filter(|_| odd == 1)).copied().collect();
        let output = if nodes == 2 { Output::Digest } else { Output::ChainingValue };
        let memory = values.as_mut_ptr();
        let grid = Grid::runs(memory.cast(), 32 * nodes, pairs, 64, count * pairs);
        // SAFETY: `values` has `pairs` pairs for each message. Parent `n` is written to place `n`, and pairs that were not yet read begin
        // at place `2n + 2` or later.
        unsafe { hash_parents_with(key, cpu, grid, output, memory.cast()) };
        if odd == 1 {
            // From the last message on, because each message's level becomes one node wider.
            for index in (0..count).rev() {
                values.copy_within(index * pairs..(index + 1) * pairs, index * (pairs + 1));
                values[index * (pairs + 1) + pairs] = promoted[index];
            }
        }
        nodes = pairs + odd;
        values.truncate(count * nodes);
    }
    out.copy_from_slice(values.as_flattened());
}

/// The values of all chunks of messages `prefix ‖ message`, message by message, and the number of chunks of each.
fn values_of_chunks(key: Key<'_>, cpu: Cpu, prefix: &[u8], messages: Messages<'_>) -> (Vec<Value>, usize) {
    let (count, total) = (messages.count(), prefix.len() + messages.len());
    let (base, stride) = (messages.bytes().as_ptr(), messages.stride());
    // Chunks that begin with the prefix, those that are all message, and those that are not whole.
    let first = !prefix.is_empty() as usize;
    let middle = total / CHUNK - first;
    let rest = total % CHUNK;
    let last = (rest > 0) as usize;
    let nodes = first + middle + last;
    let mut values = vec![[0; 32]; count * nodes];
    let at = |chunks: usize| base.wrapping_add(chunks * CHUNK).wrapping_sub(prefix.len());
    let inner = Output::ChainingValue;
    // SAFETY: a message has `total - prefix.len()` bytes from `base` on, of which the first chunk takes `CHUNK - prefix.len()`, the
    // middle ones `CHUNK` each, and the last one the `rest`. `values` has a place for each: those of all first chunks, of all middle
    // ones, and of all last ones.
    unsafe {
        let firsts: *mut u8 = values.as_mut_ptr().cast();
        let middles = firsts.add(32 * count * first);
        let lasts = middles.add(32 * count * middle);
        let grid = Grid::apart(base, stride, count * first);
        hash_chunks_with(key, cpu, Chunks { grid, counter: 0, prefix, len: CHUNK - prefix.len() }, inner, firsts);
        let grid = Grid::runs(at(first), stride, middle.max(1), CHUNK, count * middle);
        hash_chunks_with(key, cpu, Chunks { grid, counter: first as u64, prefix: &[], len: CHUNK }, inner, middles);
        let grid = Grid::apart(at(first + middle), stride, count * last);
        hash_chunks_with(
            key,
            cpu,
            Chunks { grid, counter: (total / CHUNK) as u64, prefix: &[], len: rest },
            inner,
            lasts,
        );
    }
    if count == 1 || first + last == 0 {
        return (values, nodes);
    }
    let (firsts, others) = values.split_at(count * first);
    let (middles, lasts) = others.split_at(count * middle);
    let mut all = Vec::with_capacity(count * nodes);
    for index in 0..count {
        all.extend_from_slice(&firsts[index * first..][..first]);
        all.extend_from_slice(&middles[index * middle..][..middle]);
        all.extend_from_slice(&lasts[index * last..][..last]);
    }
    (all, nodes)
}
