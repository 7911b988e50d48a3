//! The table of kernels: which hash runs on which lanes, and how a number of messages is shared among them.

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use crate::rows::{self, ByRows, Chunks, Few, Nodes};
#[allow(unused_imports)] // Where there are no vectors.
use crate::{
    Hash,
    blake2::{Big, Blake2, Small},
    blake3::Blake3,
    cpu::{Cpu, Features},
    isa,
    keccak::Keccak,
    kernel::{End, Job, run},
    lane::{Three, Two},
    md5::Md5,
    sha1::Sha1,
    sha2::Sha2,
    sha256::Sha256,
    sha512::Sha512,
};
use core::{
    ptr,
    sync::atomic::{AtomicU8, Ordering},
};

/// Hashes that one kernel computes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Family {
    Md5,
    Sha1,
    Sha256,
    Sha512,
    Blake2s,
    Blake2b,
    Blake3,
    Keccak,
}

impl Family {
    const COUNT: usize = Family::Keccak as usize + 1;

    /// The size of a word, in bytes.
    pub fn word(self) -> usize {
        match self {
            Family::Sha512 | Family::Blake2b | Family::Keccak => 8,
            _ => 4,
        }
    }

    /// The number of words in a state.
    pub fn words(self) -> usize {
        match self {
            Family::Md5 => 4,
            Family::Sha1 => 5,
            Family::Keccak => 25,
            _ => 8,
        }
    }
}

/// One kernel.
pub(crate) struct Entry {
    /// The lanes, for people.
    pub name: &'static str,
    /// The number of messages side by side.
    pub lanes: usize,
    /// What the machine must have.
    pub needs: Features,
    /// The time of a block of all lanes, in nanoseconds, as measured (lab/lanes): only the ratios within a hash count.
    /// What no machine at hand could measure has the cost of SSE4.1.
    pub cost: u32,
    /// Does a job.
    ///
    /// # Safety
    /// As [`run`].
    pub run: unsafe fn(&Job<'_>),
}

/// One table a hash: name, instruction set, kernel, cost; of each architecture, and of any. Each is a module, so that the
/// compiler takes them as units of their own, side by side.
macro_rules! tables {
    ($($module:ident $family:ident if $feature:literal x86 $x86:tt arm $arm:tt wasm $wasm:tt any $any:tt)*) => {
        $(#[cfg(feature = $feature)]
        mod $module {
            #[allow(unused_imports)] // Where there are no vectors.
            use super::*;

            #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
            pub(super) static TABLE: &[Entry] = entries!($x86 $any);
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            pub(super) static TABLE: &[Entry] = entries!($arm $any);
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            pub(super) static TABLE: &[Entry] = entries!($wasm $any);
            #[cfg(not(any(
                all(target_arch = "x86_64", target_feature = "sse2"),
                all(target_arch = "aarch64", target_endian = "little"),
                all(target_arch = "wasm32", target_feature = "simd128"),
            )))]
            pub(super) static TABLE: &[Entry] = entries!({} $any);
        })*

        fn table(family: Family) -> &'static [Entry] {
            match family {
                $(
                    #[cfg(feature = $feature)]
                    Family::$family => $module::TABLE,
                )*
                #[allow(unreachable_patterns)] // Where all are compiled in.
                _ => &[],
            }
        }
    };
}

macro_rules! entries {
    ($({ $($name:literal $set:ident $kernel:ty, $cost:literal;)* })*) => {
        &[$($(
            Entry {
                name: $name,
                lanes: <$kernel as crate::kernel::Kernel>::LANES,
                needs: Features::$set,
                cost: $cost,
                run: kernel!($set $kernel),
            },
        )*)*]
    };
}

/// A function that carries the target features.
macro_rules! kernel {
    (SSE41 $kernel:ty) => { kernel!(@with "sse4.1,ssse3" $kernel) };
    (AVX2 $kernel:ty) => { kernel!(@with "avx2,bmi1,bmi2" $kernel) };
    (BMI $kernel:ty) => { kernel!(@with "bmi1,bmi2" $kernel) };
    (AVX512 $kernel:ty) => { kernel!(@with "avx512f,avx512bw,avx512vl,bmi2" $kernel) };
    (SHANI $kernel:ty) => { kernel!(@with "sha,sse2,ssse3,sse4.1" $kernel) };
    (NEON $kernel:ty) => { kernel!(@with "neon" $kernel) };
    (ARMSHA $kernel:ty) => { kernel!(@with "neon,sha2" $kernel) };
    (@with $features:literal $kernel:ty) => {{
        #[target_feature(enable = $features)]
        unsafe fn kernel(job: &Job<'_>) {
            // SAFETY: the caller's promise.
            unsafe { run::<$kernel>(job) }
        }
        kernel
    }};
    ($any:ident $kernel:ty) => { run::<$kernel> };
}

/// The fastest way of a few nodes of BLAKE3's tree, where it is not the way of all messages.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) fn few(cpu: Cpu, count: usize) -> Option<Few> {
    macro_rules! by {
        ($features:literal $row:ty) => {{
            #[target_feature(enable = $features)]
            unsafe fn by(nodes: Nodes, count: usize, out: *mut u8) {
                // SAFETY: the caller's promise.
                unsafe { rows::few::<$row>(nodes, count, out) }
            }
            Some(by)
        }};
    }
    macro_rules! by_avx512 {
        ($row:ident) => {
            by!("avx512f,avx512bw,avx512vl,bmi2" isa::avx512::$row)
        };
    }
    let features = cpu.features();
    match count {
        1 if features.have(Features::AVX512) => by_avx512!(X32),
        2 if features.have(Features::AVX512) => by_avx512!(Y32),
        3 | 4 if features.have(Features::AVX512) => by_avx512!(Z32),
        1 if features.have(Features::AVX2) => by!("avx2,bmi1,bmi2" isa::sse41::X32),
        1 if features.have(Features::SSE41) => by!("sse4.1,ssse3" isa::sse41::X32),
        _ => None,
    }
}

tables! {
    md5 Md5 if "md5"
    x86 {
        "AVX-512 × 3" AVX512 Md5<Three<isa::avx512::Z32>>, 285;
        "AVX-512 × 2" AVX512 Md5<Two<isa::avx512::Z32>>, 191;
        "AVX-512" AVX512 Md5<isa::avx512::Z32>, 122;
        "AVX-512, 256 bits" AVX512 Md5<isa::avx512::Y32>, 105;
        "AVX2 × 2" AVX2 Md5<Two<isa::avx2::Y32>>, 218;
        "AVX2" AVX2 Md5<isa::avx2::Y32>, 150;
        "SSE4.1 × 2" SSE41 Md5<Two<isa::sse41::X32>>, 205;
        "SSE4.1" SSE41 Md5<isa::sse41::X32>, 146;
        "BMI2" BMI Md5<u32>, 116;
    }
    arm {
        "NEON × 2" NEON Md5<Two<isa::neon::N32>>, 205;
        "NEON" NEON Md5<isa::neon::N32>, 146;
    }
    wasm {
        "simd128 × 2" SIMD128 Md5<Two<isa::simd128::W32>>, 205;
    }
    any {
        "portable" NONE Md5<u32>, 117;
    }

    sha1 Sha1 if "sha1"
    x86 {
        "AVX-512 × 2" AVX512 Sha1<Two<isa::avx512::Z32>>, 327;
        "AVX-512" AVX512 Sha1<isa::avx512::Z32>, 163;
        "AVX-512, 256 bits" AVX512 Sha1<isa::avx512::Y32>, 104;
        "AVX2" AVX2 Sha1<isa::avx2::Y32>, 182;
        "SHA-NI × 2" SHANI isa::shani::Sha1<2>, 74;
        "SHA-NI" SHANI isa::shani::Sha1<1>, 41;
        "SSE4.1" SSE41 Sha1<isa::sse41::X32>, 196;
        "BMI2" BMI Sha1<u32>, 92;
    }
    arm {
        "Armv8 SHA × 2" ARMSHA isa::armsha::Sha1<2>, 79;
        "Armv8 SHA" ARMSHA isa::armsha::Sha1<1>, 45;
        "NEON" NEON Sha1<isa::neon::N32>, 203;
    }
    wasm {
        "simd128" SIMD128 Sha1<isa::simd128::W32>, 203;
    }
    any {
        "portable" NONE Sha1<u32>, 100;
    }

    sha256 Sha256 if "sha2"
    x86 {
        "AVX-512 × 2" AVX512 Sha2<Sha256, Two<isa::avx512::Z32>>, 641;
        "AVX-512" AVX512 Sha2<Sha256, isa::avx512::Z32>, 326;
        "AVX-512, 256 bits" AVX512 Sha2<Sha256, isa::avx512::Y32>, 207;
        "AVX2" AVX2 Sha2<Sha256, isa::avx2::Y32>, 401;
        "SHA-NI × 2" SHANI isa::shani::Sha256<2>, 77;
        "SHA-NI" SHANI isa::shani::Sha256<1>, 43;
        "SSE4.1" SSE41 Sha2<Sha256, isa::sse41::X32>, 403;
        "BMI2" BMI Sha2<Sha256, u32>, 197;
    }
    arm {
        "Armv8 SHA × 2" ARMSHA isa::armsha::Sha256<2>, 73;
        "Armv8 SHA" ARMSHA isa::armsha::Sha256<1>, 44;
        "NEON" NEON Sha2<Sha256, isa::neon::N32>, 402;
    }
    wasm {
        "simd128" SIMD128 Sha2<Sha256, isa::simd128::W32>, 402;
    }
    any {
        "portable" NONE Sha2<Sha256, u32>, 239;
    }

    sha512 Sha512 if "sha2"
    x86 {
        "AVX-512 × 2" AVX512 Sha2<Sha512, Two<isa::avx512::Z64>>, 789;
        "AVX-512" AVX512 Sha2<Sha512, isa::avx512::Z64>, 385;
        "AVX-512, 256 bits" AVX512 Sha2<Sha512, isa::avx512::Y64>, 256;
        "AVX2" AVX2 Sha2<Sha512, isa::avx2::Y64>, 483;
        "SSE4.1" SSE41 Sha2<Sha512, isa::sse41::X64>, 487;
        "BMI2" BMI Sha2<Sha512, u64>, 246;
    }
    arm {
        "NEON" NEON Sha2<Sha512, isa::neon::N64>, 488;
    }
    wasm {}
    any {
        "portable" NONE Sha2<Sha512, u64>, 295;
    }

    blake2s Blake2s if "blake2"
    x86 {
        "AVX-512 × 2" AVX512 Blake2<Small, Two<isa::avx512::Z32>>, 459;
        "AVX-512" AVX512 Blake2<Small, isa::avx512::Z32>, 235;
        "AVX-512, 256 bits" AVX512 Blake2<Small, isa::avx512::Y32>, 156;
        "AVX-512 rows" AVX512 ByRows<Small, isa::avx512::X32>, 95;
        "AVX2" AVX2 Blake2<Small, isa::avx2::Y32>, 234;
        "SSE4.1" SSE41 Blake2<Small, isa::sse41::X32>, 215;
        "BMI2" BMI Blake2<Small, u32>, 116;
    }
    arm {
        "NEON" NEON Blake2<Small, isa::neon::N32>, 222;
    }
    wasm {
        "simd128" SIMD128 Blake2<Small, isa::simd128::W32>, 222;
    }
    any {
        "portable" NONE Blake2<Small, u32>, 116;
    }

    blake2b Blake2b if "blake2"
    x86 {
        "AVX-512 × 2" AVX512 Blake2<Big, Two<isa::avx512::Z64>>, 518;
        "AVX-512" AVX512 Blake2<Big, isa::avx512::Z64>, 253;
        "AVX-512, 256 bits" AVX512 Blake2<Big, isa::avx512::Y64>, 180;
        "AVX-512 rows" AVX512 ByRows<Big, isa::avx512::Y64>, 125;
        "AVX2" AVX2 Blake2<Big, isa::avx2::Y64>, 235;
        "SSE4.1" SSE41 Blake2<Big, isa::sse41::X64>, 229;
        "BMI2" BMI Blake2<Big, u64>, 139;
    }
    arm {
        "NEON" NEON Blake2<Big, isa::neon::N64>, 233;
    }
    wasm {}
    any {
        "portable" NONE Blake2<Big, u64>, 147;
    }

    blake3 Blake3 if "blake3"
    x86 {
        "AVX-512 × 2" AVX512 Blake3<Two<isa::avx512::Z32>>, 330;
        "AVX-512" AVX512 Blake3<isa::avx512::Z32>, 170;
        "AVX-512, 256 bits" AVX512 Blake3<isa::avx512::Y32>, 112;
        "AVX-512 rows × 4" AVX512 ByRows<Chunks, isa::avx512::Z32>, 70;
        "AVX-512 rows × 2" AVX512 ByRows<Chunks, isa::avx512::Y32>, 62;
        "AVX-512 rows" AVX512 ByRows<Chunks, isa::avx512::X32>, 61;
        "AVX2" AVX2 Blake3<isa::avx2::Y32>, 162;
        "SSE4.1" SSE41 Blake3<isa::sse41::X32>, 150;
        "AVX2 rows" AVX2 ByRows<Chunks, isa::sse41::X32>, 72;
        "BMI2" BMI Blake3<u32>, 82;
    }
    arm {
        "NEON" NEON Blake3<isa::neon::N32>, 160;
    }
    wasm {
        "simd128" SIMD128 Blake3<isa::simd128::W32>, 160;
    }
    any {
        "portable" NONE Blake3<u32>, 82;
    }

    keccak Keccak if "sha3"
    x86 {
        "AVX-512" AVX512 Keccak<isa::avx512::Z64>, 446;
        "AVX-512, 256 bits" AVX512 Keccak<isa::avx512::Y64>, 294;
        "AVX2" AVX2 Keccak<isa::avx2::Y64>, 634;
        "SSE4.1" SSE41 Keccak<isa::sse41::X64>, 542;
        "BMI2" BMI Keccak<u64>, 316;
    }
    arm {
        "NEON" NEON Keccak<isa::neon::N64>, 527;
    }
    wasm {}
    any {
        "portable" NONE Keccak<u64>, 395;
    }
}

/// The kernels of a family that a machine has.
pub(crate) fn all(cpu: Cpu, family: Family) -> impl Iterator<Item = &'static Entry> {
    table(family).iter().filter(move |entry| cpu.features().have(entry.needs))
}

/// The most messages that any kernel hashes side by side: three vectors of 16.
const MAX_LANES: usize = 48;

/// The kernel for the first of `count` messages, so that all of them take the least time.
pub(crate) fn pick(cpu: Cpu, family: Family, count: usize) -> &'static Entry {
    if count > MAX_LANES {
        return widest(cpu, family);
    }
    // The choice is remembered, as a place in the table and one: a short message takes no longer than making it.
    static CHOICES: [[[AtomicU8; MAX_LANES + 1]; Family::COUNT]; Cpu::LEVELS] =
        [const { [const { [const { AtomicU8::new(0) }; MAX_LANES + 1] }; Family::COUNT] }; Cpu::LEVELS];
    let (table, choice) = (table(family), &CHOICES[cpu.level()][family as usize][count]);
    match choice.load(Ordering::Relaxed) {
        0 => {
            let index = choose(cpu, table, count);
            choice.store(index as u8 + 1, Ordering::Relaxed);
            &table[index]
        }
        known => &table[known as usize - 1],
    }
}

/// The place in the table of the kernel to begin with: `times[n]` is the least time of `n` messages.
fn choose(cpu: Cpu, table: &[Entry], count: usize) -> usize {
    let (mut times, mut first) = ([0; MAX_LANES + 1], 0);
    for messages in 1..=count.max(1) {
        let mut least = u32::MAX;
        for (index, entry) in table.iter().enumerate().filter(|(_, entry)| cpu.features().have(entry.needs)) {
            let time = entry.cost + times[messages.saturating_sub(entry.lanes)];
            if time < least {
                (least, first) = (time, index);
            }
        }
        times[messages] = least;
    }
    first
}

/// The fastest kernel for one message at a time.
pub(crate) fn single(cpu: Cpu, family: Family) -> &'static Entry {
    all(cpu, family)
        .filter(|entry| entry.lanes == 1)
        .min_by_key(|entry| entry.cost)
        .expect("portable code runs everywhere")
}

/// The kernel that is fastest where messages are many.
pub(crate) fn widest(cpu: Cpu, family: Family) -> &'static Entry {
    all(cpu, family)
        .min_by_key(|entry| u64::from(entry.cost) * 65536 / entry.lanes as u64)
        .expect("portable code runs everywhere")
}

/// Does a job that writes digests, with the fastest kernels for so many messages.
///
/// # Safety
/// The job's pointers reach as far as its steps say.
pub(crate) unsafe fn dispatch(cpu: Cpu, family: Family, job: &Job<'_>) {
    let entry = pick(cpu, family, job.count);
    if entry.lanes >= job.count {
        // SAFETY: `cpu` has what the kernel needs; the rest is the caller's promise.
        return unsafe { (entry.run)(job) };
    }
    let End::Digests(out, size) = job.end else { unreachable!("states have a kernel of their own") };
    let mut done = 0;
    while done < job.count {
        let left = job.count - done;
        let entry = pick(cpu, family, left);
        // All that this kernel is best for, at once.
        let mut end = done + entry.lanes * left.saturating_sub(MAX_LANES).div_ceil(entry.lanes).max(1);
        while end < job.count && ptr::eq(pick(cpu, family, job.count - end), entry) {
            end += entry.lanes;
        }
        let count = end.min(job.count) - done;
        let end = End::Digests(out.wrapping_add(done * size), size);
        // SAFETY: `cpu` has what the kernel needs; the rest is the caller's promise.
        unsafe { (entry.run)(&Job { grid: job.grid.skip(done), count, end, ..*job }) };
        done += count;
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;
    use crate::{
        kernel::{Grid, Start},
        plan::{Plan, Words},
    };
    use std::{println, time::Instant, vec, vec::Vec};

    /// The costs for the tables: cargo test --release -p mksum-lanes costs -- --ignored --nocapture
    #[test]
    #[ignore = "measures"]
    fn costs() {
        let cpu = Cpu::detected();
        let mut families = Vec::new();
        for hash in Hash::ALL {
            let (family, scheme) = (hash.family(), hash.scheme());
            if families.contains(&family) {
                continue;
            }
            families.push(family);
            let (blocks, stride) = (16, 16 * scheme.block + 64);
            let memory = vec![1u8; MAX_LANES * stride];
            let mut plan = Plan::new();
            plan.blocks(scheme, 0, 0, blocks);
            let mut costs: Vec<(&Entry, Vec<f64>)> = all(cpu, family).map(|entry| (entry, Vec::new())).collect();
            for _ in 0..41 {
                for (entry, samples) in &mut costs {
                    let mut states = vec![Words::ZERO; entry.lanes];
                    let (start, end) = (Start::Same(scheme.start.as_ptr()), End::Kept(states.as_mut_ptr().cast()));
                    let grid = Grid::column(memory.as_ptr(), stride);
                    let job = Job::new(scheme, &plan, start, grid, entry.lanes, end);
                    let begin = Instant::now();
                    for _ in 0..20 {
                        // SAFETY: the machine has the kernel; there is memory for its messages and states.
                        unsafe { (entry.run)(core::hint::black_box(&job)) };
                    }
                    samples.push(begin.elapsed().as_secs_f64() * 1e9 / (20 * blocks) as f64);
                }
            }
            println!("{family:?}");
            for (entry, mut samples) in costs {
                samples.sort_by(f64::total_cmp);
                let (cost, lanes) = (samples[samples.len() / 4], entry.lanes);
                println!("    {:<20} {lanes:>2} {cost:>6.0} {:>6.1} a message", entry.name, cost / lanes as f64);
            }
        }
    }
}
