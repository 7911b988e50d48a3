//! Families of kernels with their measured costs, and how messages are shared among the kernels of a family.

use crate::{
    cpu::{Cpu, Features, Kernel},
    kernel::{End, Job},
    words::WordSize,
};
use core::{
    ptr,
    sync::atomic::{AtomicU8, AtomicUsize, Ordering},
};

/// The most messages that any kernel hashes side by side: three vectors of 16.
pub(crate) const MAX_LANES: usize = 48;

/// The kernels that compute the same compression function.
pub(crate) struct Family {
    kernels: &'static [Entry],
    choices: &'static Choices,
    /// The size of a word.
    pub word: WordSize,
    /// The number of words in a state.
    pub words: usize,
}

/// How messages of many blocks lie in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Layout {
    /// At equal distances from their begins, they lie in different cache sets.
    Apart,
    /// At distances that share few cache sets, so each piece is copied before it is hashed.
    Conflicting,
}

impl Layout {
    const COUNT: usize = 2;

    /// The layout of a job's messages.
    fn of(job: &Job<'_>) -> Layout {
        // Nothing is copied in WebAssembly.
        match !cfg!(target_family = "wasm") && job.stages() {
            true => Layout::Conflicting,
            false => Layout::Apart,
        }
    }
}

/// What is known of a [`Family`] on this machine. It is a variable of its own, so that a file of a program need not hold its zeros.
pub(crate) struct Choices {
    /// The kernel chosen in each layout, on each instruction set and for each number of messages: its place in the table plus one, or 0
    /// if it was not chosen yet. The last one is for all larger numbers.
    kernels: [[[AtomicU8; MAX_LANES + 2]; Cpu::LEVELS]; Layout::COUNT],
    /// Pairs fewer than this have a function of their own, on the instruction set in use; 0 if that is not known yet, or they do not.
    pub few: AtomicUsize,
}

impl Choices {
    /// Nothing.
    pub const fn new() -> Self {
        Choices {
            kernels: [const { [const { [const { AtomicU8::new(0) }; MAX_LANES + 2] }; Cpu::LEVELS] }; Layout::COUNT],
            few: AtomicUsize::new(0),
        }
    }
}

/// One kernel.
pub(crate) struct Entry {
    /// The instructions and lanes, for people.
    pub name: &'static str,
    /// The number of messages side by side.
    pub lanes: usize,
    /// The instructions that a machine must have.
    pub needs: Features,
    /// Whether a message's state is in rows of four words.
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    pub by_rows: bool,
    /// The time of a block of all lanes, in nanoseconds, as measured on an Intel Xeon (`costs.rs`): only the ratios within a family
    /// count. Instructions that no machine at hand has get the cost of SSE4.1.
    pub cost: u32,
    /// The same as measured on a Zen 5, where it was, in each [`Layout`].
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    pub zen5: Option<[u32; Layout::COUNT]>,
    /// Does a job.
    ///
    /// # Safety
    /// As for [`run`](crate::run::run).
    pub run: unsafe fn(&Job<'_>),
}

/// Defines a hash's kernels as a [`Family`]: the type of a state, then for each architecture, and for any, the name, instruction
/// set, kernel and cost of each; and the costs of those of x86 on Zen 5, where messages lie apart and where they conflict.
macro_rules! family {
    (
        $(#[$doc:meta])*
        $name:ident: [$word:ty; $words:literal];
        x86 $x86:tt arm $arm:tt wasm $wasm:tt any $any:tt
        zen5 { $($kernel:literal, $apart:literal $conflicting:literal;)* }
    ) => {
        $(#[$doc])*
        pub(crate) static $name: $crate::dispatch::Family = {
            #[allow(unused_imports)] // Not every hash has a kernel of every kind.
            use $crate::{dispatch::{Choices, Entry, Family}, interleaved::{Three, Two}, words::WordSize};
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            #[allow(unused_imports)]
            use $crate::isa::neon;
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            #[allow(unused_imports)]
            use $crate::isa::simd128;
            #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
            #[allow(unused_imports)]
            use $crate::isa::{avx2, avx512, sse41};

            #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
            const KERNELS: &[Entry] = &$crate::dispatch::with_zen5(
                $crate::dispatch::entries!($x86 $any),
                &[$(($kernel, [$apart, $conflicting])),*],
            );
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            const KERNELS: &[Entry] = &$crate::dispatch::entries!($arm $any);
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128", feature = "many"))]
            const KERNELS: &[Entry] = &$crate::dispatch::entries!($wasm $any);
            #[cfg(not(any(
                all(target_arch = "x86_64", target_feature = "sse2"),
                all(target_arch = "aarch64", target_endian = "little"),
                all(target_arch = "wasm32", target_feature = "simd128", feature = "many"),
            )))]
            const KERNELS: &[Entry] = &$crate::dispatch::entries!({} $any);
            static CHOICES: Choices = Choices::new();
            Family::new(WordSize::of::<$word>(), $words, KERNELS, &CHOICES)
        };
    };
}
pub(crate) use family;

/// The table of a [`family`].
macro_rules! entries {
    ($({ $($name:literal $set:ident $kernel:ty, $cost:literal;)* })*) => {
        [$($(
            $crate::dispatch::Entry {
                name: $name,
                lanes: <$kernel as $crate::kernel::Kernel>::LANES,
                needs: $crate::cpu::Features::$set,
                #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
                by_rows: <$kernel as $crate::kernel::Kernel>::BY_ROWS,
                cost: $cost,
                #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
                zen5: None,
                run: $crate::dispatch::featured! {
                    $set unsafe fn kernel(job: &$crate::kernel::Job<'_>) {
                        // SAFETY: the same promises. The instruction set is the one that this kernel needs.
                        unsafe { $crate::run::run::<$kernel>(job) }
                    }
                },
            },
        )*)*]
    };
}
pub(crate) use entries;

/// Gives kernels their costs on Zen 5, by their names.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) const fn with_zen5<const N: usize>(mut kernels: [Entry; N], costs: &[(&str, [u32; 2])]) -> [Entry; N] {
    let mut row = 0;
    while row < costs.len() {
        let (name, mut place) = (costs[row].0.as_bytes(), 0);
        while !equal(kernels[place].name.as_bytes(), name) {
            place += 1;
            assert!(place < N, "costs on Zen 5 are of a kernel that is not there");
        }
        kernels[place].zen5 = Some(costs[row].1);
        row += 1;
    }
    kernels
}

/// Whether two names are equal, before the program runs.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
const fn equal(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

/// A function that carries the target features of an instruction set.
macro_rules! featured {
    (SSE41 $($function:tt)*) => { $crate::dispatch::featured!(@with "sse4.1,ssse3", $($function)*) };
    (AVX2 $($function:tt)*) => { $crate::dispatch::featured!(@with "avx2,bmi1,bmi2", $($function)*) };
    (BMI $($function:tt)*) => { $crate::dispatch::featured!(@with "bmi1,bmi2", $($function)*) };
    (AVX512 $($function:tt)*) => { $crate::dispatch::featured!(@with "avx512f,avx512bw,avx512vl,bmi2", $($function)*) };
    (ZEN $($function:tt)*) => { $crate::dispatch::featured!(SHANI $($function)*) };
    (SHANI $($function:tt)*) => { $crate::dispatch::featured!(@with "sha,sse2,ssse3,sse4.1", $($function)*) };
    (NEON $($function:tt)*) => { $crate::dispatch::featured!(@with "neon", $($function)*) };
    (ARMSHA $($function:tt)*) => { $crate::dispatch::featured!(@with "neon,sha2", $($function)*) };
    (SIMD128 $($function:tt)*) => { $crate::dispatch::featured!(@plain $($function)*) };
    (NONE $($function:tt)*) => { $crate::dispatch::featured!(@plain $($function)*) };
    (@with $features:literal, unsafe fn $name:ident($($argument:ident: $type:ty),*) $body:block) => {{
        #[target_feature(enable = $features)]
        unsafe fn $name($($argument: $type),*) $body
        $name
    }};
    (@plain unsafe fn $name:ident($($argument:ident: $type:ty),*) $body:block) => {{
        unsafe fn $name($($argument: $type),*) $body
        $name
    }};
}
pub(crate) use featured;

impl Entry {
    /// The kernel, described.
    pub fn kernel(&self) -> Kernel {
        Kernel { name: self.name, lanes: self.lanes }
    }
}

impl Family {
    /// Kernels of states of so many words. One kernel must need nothing and have one lane.
    pub const fn new(word: WordSize, words: usize, kernels: &'static [Entry], choices: &'static Choices) -> Self {
        assert!(kernels.len() < u8::MAX as usize, "a choice is a byte");
        Family { kernels, choices, word, words }
    }

    /// The kernels for a machine.
    pub fn all(&self, cpu: Cpu) -> impl Iterator<Item = &'static Entry> {
        self.places(cpu).map(|(_, entry)| entry)
    }

    /// The kernels for a machine, each with its place in the table.
    fn places(&self, cpu: Cpu) -> impl Iterator<Item = (usize, &'static Entry)> {
        self.kernels.iter().enumerate().filter(move |(_, entry)| cpu.features().contain(entry.needs))
    }

    /// What is known of the family on this machine.
    pub fn choices(&self) -> &'static Choices {
        self.choices
    }

    /// The time of a block of all lanes of a kernel, in nanoseconds, on the chip that is the most like this machine's.
    fn cost(&self, layout: Layout, place: usize) -> u32 {
        let (entry, _) = (&self.kernels[place], layout);
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        if let Some(costs) = entry.zen5
            && crate::cpu::Chip::of_this_machine().is_some_and(crate::cpu::Chip::is_zen5)
        {
            return costs[layout as usize];
        }
        entry.cost
    }

    /// The kernel for the first of `count` messages, so that all of them take the least time.
    pub fn pick(&'static self, cpu: Cpu, count: usize) -> &'static Entry {
        self.pick_for(Layout::Apart, cpu, count)
    }

    /// The same for messages that lie so.
    pub fn pick_for(&'static self, layout: Layout, cpu: Cpu, count: usize) -> &'static Entry {
        // The choice is remembered: making it takes as long as hashing a short message.
        let choice = &self.choices.kernels[layout as usize][cpu.level()][count.min(MAX_LANES + 1)];
        match choice.load(Ordering::Relaxed) {
            0 => {
                let place = self.choose(layout, cpu, count);
                choice.store(place as u8 + 1, Ordering::Relaxed);
                &self.kernels[place]
            }
            known => &self.kernels[known as usize - 1],
        }
    }

    /// The place of the kernel that [`pick_for`](Family::pick_for) returns.
    fn choose(&self, layout: Layout, cpu: Cpu, count: usize) -> usize {
        if count > MAX_LANES {
            // The least time of a message.
            let time = |place, lanes| u64::from(self.cost(layout, place)) * 65536 / lanes as u64;
            let best = self.places(cpu).min_by_key(|&(place, entry)| time(place, entry.lanes));
            return best.expect("portable code runs everywhere").0;
        }
        // `times[n]` is the least time of `n` messages.
        let (mut times, mut first) = ([0; MAX_LANES + 1], 0);
        for messages in 1..=count.max(1) {
            let mut least = u64::MAX;
            for (place, entry) in self.places(cpu) {
                let time = u64::from(self.cost(layout, place)) + times[messages.saturating_sub(entry.lanes)];
                if time < least {
                    (least, first) = (time, place);
                }
            }
            times[messages] = least;
        }
        first
    }

    /// The fastest kernel for one message at a time.
    pub fn single(&self, cpu: Cpu) -> &'static Entry {
        self.places(cpu)
            .filter(|(_, entry)| entry.lanes == 1)
            .min_by_key(|&(place, _)| self.cost(Layout::Apart, place))
            .expect("portable code runs everywhere")
            .1
    }

    /// The fastest kernel where messages are many.
    pub fn widest(&'static self, cpu: Cpu) -> &'static Entry {
        self.pick(cpu, usize::MAX)
    }

    /// Does a job that writes digests, with the fastest kernels for so many messages.
    ///
    /// # Safety
    /// As for [`run`](crate::run::run), apart from the instruction set. The job begins with one state for all messages and ends
    /// with digests.
    pub unsafe fn dispatch(&'static self, cpu: Cpu, job: &Job<'_>) {
        let (layout, count) = (Layout::of(job), job.grid.count);
        let entry = self.pick_for(layout, cpu, count);
        if entry.lanes >= count {
            // SAFETY: `pick` takes only kernels that `cpu` has; the rest is promised.
            return unsafe { (entry.run)(job) };
        }
        let End::Digests(out, size) = job.end else { unreachable!("states have a kernel of their own") };
        let mut done = 0;
        while done < count {
            let left = count - done;
            let entry = self.pick_for(layout, cpu, left);
            // All messages that this kernel is best for, at once.
            let mut end = done + entry.lanes * left.saturating_sub(MAX_LANES).div_ceil(entry.lanes).max(1);
            while end < count && ptr::eq(self.pick_for(layout, cpu, count - end), entry) {
                end += entry.lanes;
            }
            let some = end.min(count) - done;
            let end = End::Digests(out.wrapping_add(done * size), size);
            // SAFETY: `pick` takes only kernels that `cpu` has. The part lies within the grid, and its digests within those of the
            // job; the rest is promised.
            unsafe { (entry.run)(&Job { grid: job.grid.part(done, some), end, ..*job }) };
            done += some;
        }
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;
    use crate::{Hash, Messages, digests::digests_by, scheme::Scheme};
    use core::slice::from_ref;
    use std::{boxed::Box, vec, vec::Vec};

    /// The costs of any chip may choose any kernel for any messages. Those of BLAKE3 have terms of their own, and tests in `tests/whole.rs`.
    #[test]
    fn every_kernel_hashes_any_number_of_messages() {
        let cpu = Cpu::detected();
        let bytes: Vec<u8> = (0..100 * 2048).map(|at| (at % 251) as u8).collect();
        for &hash in Hash::ALL.iter().filter(|hash| hash.name() != "blake3") {
            let Scheme { framing, start, family, prepare } = hash.scheme();
            let alone = |entry: &'static Entry| -> &'static Scheme {
                let choices = Box::leak(Box::new(Choices::new()));
                let family = Box::leak(Box::new(Family { kernels: from_ref(entry), choices, ..**family }));
                Box::leak(Box::new(Scheme { framing: *framing, start: *start, family, prepare: *prepare }))
            };
            let by = |scheme, messages: Messages<'_>| {
                let mut out = vec![0; messages.count() * hash.size()];
                digests_by(cpu, scheme, hash.size(), &[], messages, &mut out);
                out
            };
            let portable = alone(family.kernels.last().unwrap());
            for entry in family.all(cpu) {
                let scheme = alone(entry);
                for count in 1..=entry.lanes * 2 + 1 {
                    // At multiples of 2 KiB, pieces are copied before they are hashed.
                    for (len, stride) in [(64, 64), (64, 2048), (700, 707), (1500, 2048)] {
                        let messages = Messages::strided(&bytes[..(count - 1) * stride + len], len, stride, count);
                        let name = entry.name;
                        assert!(by(scheme, messages) == by(portable, messages), "{hash:?} {name}: {count} of {len}");
                    }
                }
            }
        }
    }
}
