//! Families of kernels with their measured costs, and how messages are shared among the kernels of a family.

use crate::{
    cpu::{Cpu, Features},
    kernel::{End, Job},
    words::WordSize,
};
use core::{
    ptr,
    sync::atomic::{AtomicU8, Ordering},
};

/// The most messages that any kernel hashes side by side: three vectors of 16.
pub(crate) const MAX_LANES: usize = 48;

/// The kernels that compute the same compression function.
pub(crate) struct Family {
    kernels: &'static [Entry],
    /// The kernel chosen for each number of messages on each instruction set: its place among `kernels` plus one, or 0 if it was
    /// not chosen yet.
    choices: &'static Choices,
    /// The size of a word.
    pub word: WordSize,
    /// The number of words in a state.
    pub words: usize,
}

/// The choices of a [`Family`]: for each instruction set, and each number of messages. They are a variable of their own, so that a
/// file of a program need not hold their zeros.
pub(crate) type Choices = [[AtomicU8; MAX_LANES + 1]; Cpu::LEVELS];

/// No choices yet.
#[allow(clippy::declare_interior_mutable_const)] // It is a value to begin with.
pub(crate) const NO_CHOICES: Choices = [const { [const { AtomicU8::new(0) }; MAX_LANES + 1] }; Cpu::LEVELS];

/// One kernel.
pub(crate) struct Entry {
    /// The instructions and lanes, for people.
    pub name: &'static str,
    /// The number of messages side by side.
    pub lanes: usize,
    /// The instructions that a machine must have.
    pub needs: Features,
    /// The time of a block of all lanes, in nanoseconds, as measured (`costs.rs`): only the ratios within a family count.
    /// Instructions that no machine at hand has get the cost of SSE4.1.
    pub cost: u32,
    /// Does a job.
    ///
    /// # Safety
    /// As for [`run`](crate::run::run).
    pub run: unsafe fn(&Job<'_>),
}

/// Defines a hash's kernels as a [`Family`]: the type of a state, then for each architecture, and for any, the name, instruction
/// set, kernel and cost of each.
macro_rules! family {
    (
        $(#[$doc:meta])*
        $name:ident: [$word:ty; $words:literal];
        x86 $x86:tt arm $arm:tt wasm $wasm:tt any $any:tt
    ) => {
        $(#[$doc])*
        pub(crate) static $name: $crate::dispatch::Family = {
            #[allow(unused_imports)] // Not every hash has a kernel of every kind.
            use $crate::{dispatch::{Choices, Entry, Family, NO_CHOICES}, interleaved::{Three, Two}, words::WordSize};
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
            const KERNELS: &[Entry] = $crate::dispatch::entries!($x86 $any);
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            const KERNELS: &[Entry] = $crate::dispatch::entries!($arm $any);
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            const KERNELS: &[Entry] = $crate::dispatch::entries!($wasm $any);
            #[cfg(not(any(
                all(target_arch = "x86_64", target_feature = "sse2"),
                all(target_arch = "aarch64", target_endian = "little"),
                all(target_arch = "wasm32", target_feature = "simd128"),
            )))]
            const KERNELS: &[Entry] = $crate::dispatch::entries!({} $any);
            static CHOICES: Choices = NO_CHOICES;
            Family::new(WordSize::of::<$word>(), $words, KERNELS, &CHOICES)
        };
    };
}
pub(crate) use family;

/// The table of a [`family`].
macro_rules! entries {
    ($({ $($name:literal $set:ident $kernel:ty, $cost:literal;)* })*) => {
        &[$($(
            Entry {
                name: $name,
                lanes: <$kernel as $crate::kernel::Kernel>::LANES,
                needs: $crate::cpu::Features::$set,
                cost: $cost,
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

impl Family {
    /// Kernels of states of so many words. One kernel must need nothing and have one lane.
    pub const fn new(word: WordSize, words: usize, kernels: &'static [Entry], choices: &'static Choices) -> Self {
        Family { kernels, choices, word, words }
    }

    /// The kernels for a machine.
    pub fn all(&self, cpu: Cpu) -> impl Iterator<Item = &'static Entry> {
        self.kernels.iter().filter(move |entry| cpu.features().contain(entry.needs))
    }

    /// The kernel for the first of `count` messages, so that all of them take the least time.
    pub fn pick(&self, cpu: Cpu, count: usize) -> &'static Entry {
        if count > MAX_LANES {
            return self.widest(cpu);
        }
        // The choice is remembered: making it takes as long as hashing a short message.
        let choice = &self.choices[cpu.level()][count];
        match choice.load(Ordering::Relaxed) {
            0 => {
                let index = choose(cpu, self.kernels, count);
                choice.store(index as u8 + 1, Ordering::Relaxed);
                &self.kernels[index]
            }
            known => &self.kernels[known as usize - 1],
        }
    }

    /// The fastest kernel for one message at a time.
    pub fn single(&self, cpu: Cpu) -> &'static Entry {
        self.all(cpu)
            .filter(|entry| entry.lanes == 1)
            .min_by_key(|entry| entry.cost)
            .expect("portable code runs everywhere")
    }

    /// The fastest kernel where messages are many.
    pub fn widest(&self, cpu: Cpu) -> &'static Entry {
        self.all(cpu)
            .min_by_key(|entry| u64::from(entry.cost) * 65536 / entry.lanes as u64)
            .expect("portable code runs everywhere")
    }

    /// Does a job that writes digests, with the fastest kernels for so many messages.
    ///
    /// # Safety
    /// As for [`run`](crate::run::run), apart from the instruction set. The job begins with one state for all messages and ends
    /// with digests.
    pub unsafe fn dispatch(&self, cpu: Cpu, job: &Job<'_>) {
        let count = job.grid.count;
        let entry = self.pick(cpu, count);
        if entry.lanes >= count {
            // SAFETY: `pick` takes only kernels that `cpu` has; the rest is promised.
            return unsafe { (entry.run)(job) };
        }
        let End::Digests(out, size) = job.end else { unreachable!("states have a kernel of their own") };
        let mut done = 0;
        while done < count {
            let left = count - done;
            let entry = self.pick(cpu, left);
            // All messages that this kernel is best for, at once.
            let mut end = done + entry.lanes * left.saturating_sub(MAX_LANES).div_ceil(entry.lanes).max(1);
            while end < count && ptr::eq(self.pick(cpu, count - end), entry) {
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

/// The place in the table of the kernel to begin with: `times[n]` is the least time of `n` messages.
fn choose(cpu: Cpu, table: &[Entry], count: usize) -> usize {
    let (mut times, mut first) = ([0; MAX_LANES + 1], 0);
    for messages in 1..=count.max(1) {
        let mut least = u32::MAX;
        for (index, entry) in table.iter().enumerate().filter(|(_, entry)| cpu.features().contain(entry.needs)) {
            let time = entry.cost + times[messages.saturating_sub(entry.lanes)];
            if time < least {
                (least, first) = (time, index);
            }
        }
        times[messages] = least;
    }
    first
}
