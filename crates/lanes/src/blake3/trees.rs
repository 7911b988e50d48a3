//! The trees of messages of more than one chunk: in memory whole, or slice by slice.

use super::{CHUNK, Role, Value, chunks_of, parents_of};
use crate::{Messages, cpu::Cpu, kernel::Grid};
use alloc::{vec, vec::Vec};

/// The distance between the messages' chunks that wait, in bytes: skewed, see [`Messages`].
const STRIDE: usize = CHUNK + 64;

/// How many values wait before they are joined: few enough to stay in the cache, enough that few parents lack company.
const WAITING: usize = 4096;

/// Messages of equal length: their trees grow alike, so that chunks and parents of all of them go side by side.
#[derive(Clone)]
pub(crate) struct Trees {
    cpu: Cpu,
    count: usize,
    /// The number of whole chunks of each message that are in `stack`.
    done: u64,
    /// `stack[h]`, where bit `h` of `done` is set: the values of the subtrees of `2^h` chunks that wait for their right
    /// sibling, one a message.
    stack: Vec<Vec<Value>>,
    /// The values of the chunks after those: `waits` of each message, with room for `room`. The last chunk is always here,
    /// because only the end of the messages says which parent is the root.
    waiting: Vec<Value>,
    waits: usize,
    room: usize,
    /// The bytes of each message that wait in `chunks`: of a chunk that is not whole, or of one that may be the only one.
    fill: usize,
    chunks: Vec<u8>,
}

impl Trees {
    pub fn new(cpu: Cpu, count: usize) -> Self {
        let room = (WAITING / count.max(1)).clamp(4, 512) + 1;
        let (stack, waiting, chunks) = (Vec::new(), Vec::new(), vec![0; count * STRIDE]);
        Trees { cpu, count, done: 0, stack, waiting, waits: 0, room, fill: 0, chunks }
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
            let grid = Grid { counter: self.hashed(), ..Grid::column(self.chunks.as_ptr(), STRIDE) };
            self.fill = 0;
            // SAFETY: a full chunk of each message.
            unsafe { self.hash(grid, 1) };
        }
        while len - at > CHUNK || (len - at == CHUNK && self.hashed() > 0) {
            if self.waits == self.room {
                self.join();
            }
            let run = ((len - at) / CHUNK).min(self.room - self.waits);
            let (base, stride, counter) = (slices.bytes()[at..].as_ptr(), slices.stride(), self.hashed());
            // SAFETY: `run` chunks of each slice.
            unsafe { self.hash(Grid { base, stride, columns: run, step: CHUNK, first: 0, counter, up: 1 }, run) };
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
        let all = self.count * run;
        let mut values = vec![[0; 32]; all];
        // SAFETY: the caller's promise, and a place for each.
        unsafe { chunks_of(self.cpu, grid, &[], CHUNK, all, Role::Inner, values.as_mut_ptr().cast()) };
        self.waiting.resize(self.count * self.room, [0; 32]);
        for (row, values) in self.waiting.chunks_exact_mut(self.room).zip(values.chunks_exact(run)) {
            row[self.waits..self.waits + run].copy_from_slice(values);
        }
        self.waits += run;
    }

    /// Joins the values that wait, but the last one of each message, to the subtrees before them.
    fn join(&mut self) {
        let run = self.waits - 1;
        let mut values = Vec::with_capacity(self.count * run);
        for row in self.waiting.chunks_exact_mut(self.room) {
            values.extend_from_slice(&row[..run]);
            row[0] = row[run];
        }
        self.push(values, run);
        self.waits = 1;
    }

    /// Appends the same bytes to every message.
    pub fn append(&mut self, bytes: &[u8]) {
        if self.count == 1 {
            return self.update(Messages::one(bytes));
        }
        // All slices are the same ones: a stride of 0, which `Messages` does not allow.
        for piece in bytes.chunks(CHUNK) {
            let all = piece.repeat(self.count);
            self.update(Messages::strided(&all, piece.len(), piece.len(), self.count));
        }
    }

    /// Copies `len` bytes of each slice, from `at` on, behind those that wait.
    fn keep(&mut self, slices: Messages<'_>, at: usize, len: usize) {
        for (chunk, slice) in self.chunks.chunks_exact_mut(STRIDE).zip(slices.iter()) {
            chunk[self.fill..self.fill + len].copy_from_slice(&slice[at..at + len]);
        }
        self.fill += len;
    }

    /// Adds the values of the next `run` chunks of each message: as a binary number is added to another, a level a digit.
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
                // A subtree that waited is the first one's left sibling.
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
            let grid =
                Grid { base: memory.cast(), stride: 32 * run, columns: pairs, step: 64, first: 0, counter: 0, up: 0 };
            // SAFETY: `pairs` pairs of each message; each parent's place is before those of pairs not yet read.
            unsafe { parents_of(self.cpu, grid, self.count * pairs, Role::Inner, memory.cast()) };
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
        Trees { count: 1, stack, waiting, chunks: self.chunks[index * STRIDE..][..STRIDE].to_vec(), ..*self }
    }

    /// Writes the digests, left to right: `out` has 32 bytes for each message.
    pub fn finish(mut self, out: &mut [u8]) {
        assert_eq!(out.len(), 32 * self.count);
        let role = |left: u64| if left == 0 { Role::Root } else { Role::Inner };
        if self.fill > 0 || self.hashed() == 0 {
            let counter = self.hashed();
            let grid = Grid { counter, ..Grid::column(self.chunks.as_ptr(), STRIDE) };
            // SAFETY: `fill` bytes of each message, and a place for each.
            unsafe { chunks_of(self.cpu, grid, &[], self.fill, self.count, role(counter), out.as_mut_ptr()) };
            if self.waits > 0 {
                // The last one is no longer the last.
                let mut values = Vec::with_capacity(self.count * self.waits);
                for row in self.waiting.chunks_exact(self.room) {
                    values.extend_from_slice(&row[..self.waits]);
                }
                self.push(values, self.waits);
            }
        } else {
            self.join();
            for (out, row) in out.chunks_exact_mut(32).zip(self.waiting.chunks_exact(self.room)) {
                out.copy_from_slice(&row[0]);
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
            let grid = Grid::column(pairs.as_ptr().cast(), 64);
            // SAFETY: a pair of each message, and a place for each.
            unsafe { parents_of(self.cpu, grid, self.count, role(left), out.as_mut_ptr()) };
        }
    }
}

/// The digests of messages `prefix ‖ message` that lie in memory whole: more than a chunk each, the prefix no more than a
/// block. Level by level over all messages, so that even the few nodes of a small tree have company in the lanes.
pub(crate) fn digests(cpu: Cpu, prefix: &[u8], messages: Messages<'_>, out: &mut [u8]) {
    let (count, total) = (messages.count(), prefix.len() + messages.len());
    let (base, stride) = (messages.bytes().as_ptr(), messages.stride());
    // Chunks that begin with the prefix, those that are all message, and those that end it.
    let first = !prefix.is_empty() as usize;
    let middle = total / CHUNK - first;
    let rest = total % CHUNK;
    let last = (rest > 0) as usize;
    let mut nodes = first + middle + last;
    let mut values = vec![[0; 32]; count * nodes];
    let at = |chunks: usize| base.wrapping_add(chunks * CHUNK).wrapping_sub(prefix.len());
    let (inner, done) = (Role::Inner, (total / CHUNK) as u64);
    // SAFETY: the chunks lie in the messages, and there is a place for each value.
    unsafe {
        let firsts: *mut u8 = values.as_mut_ptr().cast();
        let middles = firsts.add(32 * count * first);
        let lasts = middles.add(32 * count * middle);
        let grid = Grid::column(base, stride);
        chunks_of(cpu, grid, prefix, CHUNK - prefix.len(), count * first, inner, firsts);
        let (base, counter) = (at(first), first as u64);
        let grid = Grid { base, stride, columns: middle.max(1), step: CHUNK, first: 0, counter, up: 1 };
        chunks_of(cpu, grid, &[], CHUNK, count * middle, inner, middles);
        let grid = Grid { counter: done, ..Grid::column(at(first + middle), stride) };
        chunks_of(cpu, grid, &[], rest, count * last, inner, lasts);
    }
    if count > 1 && first + last > 0 {
        // All first chunks, all middle ones, all last ones: now message by message.
        let (firsts, others) = values.split_at(count * first);
        let (middles, lasts) = others.split_at(count * middle);
        let mut all = Vec::with_capacity(count * nodes);
        for index in 0..count {
            all.extend_from_slice(&firsts[index * first..][..first]);
            all.extend_from_slice(&middles[index * middle..][..middle]);
            all.extend_from_slice(&lasts[index * last..][..last]);
        }
        values = all;
    }
    // A node without a sibling moves up as it is: so the left subtree is the largest perfect one (the BLAKE3 paper, 2.1).
    while nodes > 1 {
        let (pairs, odd) = (nodes / 2, nodes % 2);
        let promoted: Vec<Value> =
            values.chunks_exact(nodes).flat_map(|row| row.last().filter(|_| odd == 1)).copied().collect();
        let role = if nodes == 2 { Role::Root } else { Role::Inner };
        let memory = values.as_mut_ptr();
        let grid =
            Grid { base: memory.cast(), stride: 32 * nodes, columns: pairs, step: 64, first: 0, counter: 0, up: 0 };
        // SAFETY: `pairs` pairs of each message; each parent's place is before those of pairs not yet read.
        unsafe { parents_of(cpu, grid, count * pairs, role, memory.cast()) };
        if odd == 1 {
            // From the last message on: each row becomes a node wider.
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
