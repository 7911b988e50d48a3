//! Cycles a block of SHA-256 on the SHA unit of x86, by the place of the message schedule: see `../../README.md`.
//!
//! The clock is measured beside each sample, by multiplications that wait for each other, three cycles each. There are no closures and
//! iterators in kernels: they are no part of the function that has the instruction set.

#![cfg_attr(not(target_arch = "x86_64"), allow(unused))]

/// Each contender is timed so often.
const ROUNDS: usize = 101;

/// The runs of a sample, which is long beside reading the clock.
const RUNS: usize = 32;

/// The blocks of each message.
const BLOCKS: usize = 128;

/// The distance between two messages, which lie in different cache sets.
const STRIDE: usize = 64 * BLOCKS + 64;

/// What is timed, and the number of blocks or instructions in it.
type Contender<'a> = (&'static str, String, usize, Box<dyn FnMut() + 'a>);

/// The processor time of this thread, in nanoseconds.
fn nanoseconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock is there on every Linux, and `time` is a place for it.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    assert_eq!(failed, 0);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

/// The frequency now, in GHz.
#[cfg(target_arch = "x86_64")]
fn clock() -> f64 {
    const TURNS: u64 = 100_000;
    let begin = nanoseconds();
    // SAFETY: arithmetic of registers alone.
    unsafe {
        core::arch::asm!(
            "2: imul {0}, {0}", "imul {0}, {0}", "imul {0}, {0}", "imul {0}, {0}", "dec {1}", "jnz 2b",
            inout(reg) 3u64 => _, inout(reg) TURNS => _, options(nomem, nostack)
        );
    }
    (12 * TURNS) as f64 / (nanoseconds() - begin)
}

#[cfg(not(target_arch = "x86_64"))]
fn main() {
    eprintln!("sha_unit: only for x86-64");
    std::process::exit(2);
}

#[cfg(target_arch = "x86_64")]
fn main() {
    let has = |name: &str| match name {
        "sha" => is_x86_feature_detected!("sha") && is_x86_feature_detected!("sse4.1"),
        "avx2" => is_x86_feature_detected!("avx2"),
        _ => is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("avx512vl"),
    };
    if !has("sha") {
        eprintln!("sha_unit: this machine has no SHA extensions");
        std::process::exit(2);
    }
    let memory: Vec<u8> = (0..32 * STRIDE).map(|at| (at * 131 + (at >> 8) * 17) as u8).collect();
    let mut contenders: Vec<Contender<'_>> = instructions::contenders();
    // SAFETY: the machine has the instruction sets; `memory` has the messages.
    unsafe { kernels::contenders(&memory, has("avx2"), has("avx512"), &mut contenders) };
    mksum(&memory, &mut contenders);
    let mut samples = vec![Vec::new(); contenders.len()];
    for _ in 0..ROUNDS {
        for ((.., count, run), samples) in contenders.iter_mut().zip(&mut samples) {
            let clock = clock();
            let begin = nanoseconds();
            for _ in 0..RUNS {
                run();
            }
            samples.push((nanoseconds() - begin) * clock / (RUNS * *count) as f64);
        }
    }
    let mut case = "";
    for ((of, name, ..), mut samples) in contenders.into_iter().zip(samples) {
        if of != case {
            println!("{of}");
            case = of;
        }
        samples.sort_by(f64::total_cmp);
        let [low, median, high] = [1, 2, 3].map(|quarter| samples[ROUNDS * quarter / 4]);
        println!("    {name:<48} {median:>9.2} cycles {low:>9.2} {high:>9.2}    1.00");
    }
}

/// The noun after a number.
fn messages_of(count: usize) -> &'static str {
    if count == 1 { "message" } else { "messages" }
}

/// What `crates/lanes` takes, with padding and digests.
#[cfg(target_arch = "x86_64")]
fn mksum<'a>(memory: &'a [u8], contenders: &mut Vec<Contender<'a>>) {
    use mksum_lanes::{Hash, Messages, cpu::Cpu, digests_on};
    for (level, counts) in [("shani", &[1, 2, 3, 4, 6][..]), ("avx2", &[8]), ("avx512", &[8, 16, 32])] {
        let Ok(cpu) = Cpu::from_name(level) else { continue };
        for &count in counts {
            let mut out = vec![0; 32 * count];
            let messages = Messages::strided(memory, 64 * BLOCKS, STRIDE, count);
            let run = move || digests_on(cpu, Hash::Sha256, &[], messages, &mut out);
            contenders.push((
                "mksum-lanes, cycles a block",
                format!("{level}, {count} {}", messages_of(count)),
                count * (BLOCKS + 1),
                Box::new(run),
            ));
        }
    }
}

/// The instructions alone, of independent chains.
#[cfg(target_arch = "x86_64")]
mod instructions {
    use super::Contender;

    const TURNS: usize = 1000;

    /// A loop over instructions; the registers that they use are forgotten after it.
    macro_rules! turns {
        ($($line:literal)*) => {
            Box::new(|| {
                // SAFETY: the caller saw that the machine has the instructions, which touch only the registers named.
                unsafe {
                    core::arch::asm!(
                        "2:", $($line,)* "dec {0}", "jnz 2b", inout(reg) TURNS => _,
                        out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _, out("xmm4") _, out("xmm5") _, out("xmm6") _,
                        out("xmm7") _, out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _, out("xmm12") _,
                        out("xmm13") _, out("xmm14") _, out("xmm15") _, options(nomem, nostack)
                    );
                }
            })
        };
    }

    pub fn contenders() -> Vec<Contender<'static>> {
        let case = "instructions of independent chains, cycles a turn";
        vec![
            (case, "1 sha256rnds2".into(), TURNS, turns!("sha256rnds2 xmm1, xmm15")),
            (
                case,
                "8 sha256rnds2".into(),
                TURNS,
                turns!(
                    "sha256rnds2 xmm1, xmm15" "sha256rnds2 xmm2, xmm15" "sha256rnds2 xmm3, xmm15" "sha256rnds2 xmm4, xmm15"
                    "sha256rnds2 xmm5, xmm15" "sha256rnds2 xmm6, xmm15" "sha256rnds2 xmm7, xmm15" "sha256rnds2 xmm8, xmm15"
                ),
            ),
            (
                case,
                "6 sha256msg1".into(),
                TURNS,
                turns!(
                    "sha256msg1 xmm1, xmm15" "sha256msg1 xmm2, xmm15" "sha256msg1 xmm3, xmm15"
                    "sha256msg1 xmm4, xmm15" "sha256msg1 xmm5, xmm15" "sha256msg1 xmm6, xmm15"
                ),
            ),
            (
                case,
                "6 sha256msg2".into(),
                TURNS,
                turns!(
                    "sha256msg2 xmm1, xmm15" "sha256msg2 xmm2, xmm15" "sha256msg2 xmm3, xmm15"
                    "sha256msg2 xmm4, xmm15" "sha256msg2 xmm5, xmm15" "sha256msg2 xmm6, xmm15"
                ),
            ),
            (
                case,
                "8 sha256rnds2, 3 sha256msg1, 3 sha256msg2".into(),
                TURNS,
                turns!(
                    "sha256rnds2 xmm1, xmm15" "sha256msg2 xmm9, xmm15" "sha256msg1 xmm12, xmm15" "sha256rnds2 xmm2, xmm15"
                    "sha256rnds2 xmm3, xmm15" "sha256msg2 xmm10, xmm15" "sha256msg1 xmm13, xmm15" "sha256rnds2 xmm4, xmm15"
                    "sha256rnds2 xmm5, xmm15" "sha256msg2 xmm11, xmm15" "sha256msg1 xmm14, xmm15" "sha256rnds2 xmm6, xmm15"
                    "sha256rnds2 xmm7, xmm15" "sha256rnds2 xmm8, xmm15"
                ),
            ),
        ]
    }
}

/// Kernels that differ in the place of the schedule. They fold whole blocks into states; there is no padding.
#[cfg(target_arch = "x86_64")]
mod kernels {
    use super::{BLOCKS, Contender, STRIDE, messages_of};
    use core::{
        arch::x86_64::*,
        mem::MaybeUninit,
        sync::atomic::{Ordering, compiler_fence},
    };
    use std::hint::black_box;

    /// `a b e f` and `c d g h`, the first word highest.
    type State = [__m128i; 2];

    #[repr(align(64))]
    struct Aligned<T>(T);

    /// FIPS 180-4, 4.2.2.
    static K: Aligned<[u32; 64]> = Aligned([
        0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
        0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
        0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
        0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
        0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
        0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
        0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
        0xc67178f2,
    ]);

    const START: [u32; 8] =
        [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19];

    fn start() -> State {
        let [a, b, c, d, e, f, g, h] = START.map(|word| word as i32);
        // SAFETY: SSE2 is there on x86-64.
        unsafe { [_mm_set_epi32(a, b, e, f), _mm_set_epi32(c, d, g, h)] }
    }

    fn words([abef, cdgh]: State) -> [u32; 8] {
        // SAFETY: both are 128 bits that any value of the other can be.
        let [[f, e, b, a], [h, g, d, c]]: [[u32; 4]; 2] = unsafe { core::mem::transmute([abef, cdgh]) };
        [a, b, c, d, e, f, g, h]
    }

    /// Kernels of `N` messages of [`BLOCKS`] blocks, [`STRIDE`] bytes apart.
    ///
    /// # Safety
    /// The machine has the SHA extensions, and AVX2 and AVX-512 as said; `memory` has 32 messages.
    pub unsafe fn contenders<'a>(memory: &'a [u8], avx2: bool, avx512: bool, all: &mut Vec<Contender<'a>>) {
        fn add<'a, const N: usize>(
            memory: &'a [u8],
            all: &mut Vec<Contender<'a>>,
            name: &str,
            same: bool,
            kernel: unsafe fn(&mut [State; N], [*const u8; N]),
        ) {
            let messages: [&[u8]; N] = core::array::from_fn(|n| &memory[n * STRIDE..][..64 * BLOCKS]);
            let pointers = messages.map(<[u8]>::as_ptr);
            let run = move || {
                let mut states = [start(); N];
                // SAFETY: the machine has the instructions; there are `N` messages.
                unsafe { kernel(&mut states, black_box(pointers)) };
                states
            };
            if same {
                for (state, message) in run().into_iter().zip(messages) {
                    let (mut expected, (blocks, [])) = (START, message.as_chunks::<64>()) else { unreachable!() };
                    sha2::block_api::compress256(&mut expected, blocks);
                    assert_eq!(words(state), expected, "{name}");
                }
            }
            all.push((
                "kernels, cycles a block",
                format!("{name}, {N} {}", messages_of(N)),
                N * BLOCKS,
                Box::new(move || {
                    black_box(run());
                }),
            ));
        }
        add::<1>(memory, all, "schedules in registers", true, in_registers);
        add::<2>(memory, all, "schedules in registers", true, in_registers);
        add::<3>(memory, all, "schedules in registers", true, in_registers);
        add::<4>(memory, all, "schedules in registers", true, in_registers);
        add::<2>(memory, all, "schedules in memory", true, in_memory);
        add::<3>(memory, all, "schedules in memory", true, in_memory);
        add::<4>(memory, all, "schedules in memory", true, in_memory);
        add::<5>(memory, all, "schedules in memory", true, in_memory);
        add::<6>(memory, all, "schedules in memory", true, in_memory);
        add::<4>(memory, all, "rounds alone", false, rounds_alone);
        add::<6>(memory, all, "rounds alone", false, rounds_alone);
        if avx2 {
            add::<4>(memory, all, "schedules in AVX2 lanes", true, avx2_lanes);
        }
        if avx512 {
            add::<4>(memory, all, "schedules in AVX-512 lanes of 256 bits", true, avx512_half_lanes);
            add::<4>(memory, all, "schedules in AVX-512 lanes", true, avx512_lanes);
        }
    }

    /// Four rounds.
    macro_rules! four {
        ($state:expr, $words:expr) => {{
            let words = $words;
            $state[1] = _mm_sha256rnds2_epu32($state[1], $state[0], words);
            $state[0] = _mm_sha256rnds2_epu32($state[0], $state[1], _mm_shuffle_epi32::<0b00_00_11_10>(words));
        }};
    }

    #[inline(always)]
    fn order() -> __m128i {
        // SAFETY: SSE2 is there on x86-64.
        unsafe { _mm_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12) }
    }

    /// The schedule's next four words.
    macro_rules! scheduled {
        ($w:expr) => {{
            let w: [__m128i; 4] = $w;
            let sum = _mm_add_epi32(_mm_sha256msg1_epu32(w[0], w[1]), _mm_alignr_epi8::<4>(w[3], w[2]));
            _mm_sha256msg2_epu32(sum, w[3])
        }};
    }

    /// Adds the states before the block.
    macro_rules! end {
        ($state:ident, $before:ident) => {
            let mut n = 0;
            while n < $state.len() {
                $state[n] = [_mm_add_epi32($state[n][0], $before[n][0]), _mm_add_epi32($state[n][1], $before[n][1])];
                n += 1;
            }
        };
    }

    /// All rounds unrolled, so that words have names.
    #[target_feature(enable = "sha,ssse3,sse4.1")]
    unsafe fn in_registers<const N: usize>(states: &mut [State; N], messages: [*const u8; N]) {
        let mut s = *states;
        for block in 0..BLOCKS {
            let (before, mut w, mut words) = (s, [[s[0][0]; 4]; N], [s[0][0]; N]);
            macro_rules! next {
                ($($t:literal)*) => { $(
                    let mut n = 0;
                    while n < N {
                        // SAFETY: the messages are promised, and there are 64 constants.
                        let (data, k) = unsafe {
                            let data = messages[n].add(64 * block + 16 * ($t % 4));
                            (_mm_loadu_si128(data.cast()), _mm_load_si128(K.0.as_ptr().add(4 * $t).cast()))
                        };
                        let w = &mut w[n];
                        w[$t % 4] = match $t < 4 {
                            true => _mm_shuffle_epi8(data, order()),
                            false => scheduled!([w[$t % 4], w[($t + 1) % 4], w[($t + 2) % 4], w[($t + 3) % 4]]),
                        };
                        words[n] = _mm_add_epi32(w[$t % 4], k);
                        n += 1;
                    }
                    let mut n = 0;
                    while n < N {
                        four!(s[n], words[n]);
                        n += 1;
                    }
                )* };
            }
            next!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
            end!(s, before);
        }
        *states = s;
    }

    /// A loop over memory, as `crates/lanes` has it.
    #[target_feature(enable = "sha,ssse3,sse4.1")]
    unsafe fn in_memory<const N: usize>(states: &mut [State; N], messages: [*const u8; N]) {
        let mut s = *states;
        let mut memory = MaybeUninit::<[[__m128i; N]; 16]>::uninit();
        let first: *mut __m128i = memory.as_mut_ptr().cast();
        for block in 0..BLOCKS {
            let before = s;
            let mut t = 0;
            macro_rules! step {
                ($n:ident, $to:ident: $words:expr) => {
                    let mut $n = 0;
                    while $n < N {
                        // SAFETY: the messages are promised; `memory` has 16 vectors of each, the first `t` of which are written.
                        unsafe {
                            let $to = first.add(t * N + $n);
                            let words = $words;
                            $to.write(words);
                            four!(s[$n], _mm_add_epi32(words, _mm_load_si128(K.0.as_ptr().add(4 * t).cast())));
                        }
                        compiler_fence(Ordering::SeqCst);
                        $n += 1;
                    }
                    t += 1;
                };
            }
            while t < 4 {
                step!(n, to: _mm_shuffle_epi8(_mm_loadu_si128(messages[n].add(64 * block + 16 * t).cast()), order()));
            }
            while t < 16 {
                step!(n, to: scheduled!([*to.sub(4 * N), *to.sub(3 * N), *to.sub(2 * N), *to.sub(N)]));
            }
            end!(s, before);
        }
        *states = s;
    }

    /// The same words for every message and block: what the rounds take if the schedule costs nothing.
    #[target_feature(enable = "sha,ssse3,sse4.1")]
    unsafe fn rounds_alone<const N: usize>(states: &mut [State; N], _: [*const u8; N]) {
        let (mut s, words) = (*states, black_box(K.0.as_ptr()));
        for _ in 0..BLOCKS {
            let before = s;
            let mut t = 0;
            while t < 16 {
                // SAFETY: there are 64 constants.
                let words = unsafe { _mm_load_si128(words.add(4 * t).cast()) };
                let mut n = 0;
                while n < N {
                    four!(s[n], words);
                    n += 1;
                }
                compiler_fence(Ordering::SeqCst);
                t += 1;
            }
            end!(s, before);
        }
        *states = s;
    }

    /// Four messages: while the unit does the rounds of some blocks of each, their next ones are scheduled in lanes, as many blocks at
    /// a time as there are lanes. Words go to memory in the order of the rounds, with the constants added.
    macro_rules! lanes {
        (
            $name:ident $features:literal $vector:ty: $load:ident $store:ident $add:ident $broadcast:ident,
            $low:ident $high:ident $low2:ident $high2:ident, $take:ident $sigma:ident
        ) => {
            #[target_feature(enable = $features)]
            unsafe fn $name(states: &mut [State; 4], messages: [*const u8; 4]) {
                /// The blocks of each message that are scheduled at a time.
                const GROUP: usize = size_of::<$vector>() / 16;
                let mut s = *states;
                let mut before = s;
                let mut words = MaybeUninit::<Aligned<[$vector; 64]>>::uninit();
                let words: *mut $vector = words.as_mut_ptr().cast();
                // Of two groups of blocks: the vectors of the first four words of each message, then the next four.
                let mut ready = MaybeUninit::<Aligned<[[$vector; 64]; 2]>>::uninit();
                let ready: *mut $vector = ready.as_mut_ptr().cast();
                macro_rules! transposed {
                    ($a:ident) => {
                        let (t0, t1) = ($low($a[0], $a[1]), $high($a[0], $a[1]));
                        let (t2, t3) = ($low($a[2], $a[3]), $high($a[2], $a[3]));
                        $a = [$low2(t0, t2), $high2(t0, t2), $low2(t1, t3), $high2(t1, t3)];
                    };
                }
                // Four words of each lane.
                macro_rules! schedule {
                    ($q:expr, $to:expr, $at:expr) => {
                        // SAFETY: the messages are promised; `words` and `ready` have 64 vectors each.
                        unsafe {
                            let (to, mut j) = (words.add(4 * $q), 0);
                            let mut four = [$broadcast(0); 4];
                            while j < 4 {
                                if $q < 4 {
                                    four[j] = $take(messages[j].add($at + 16 * $q));
                                } else {
                                    let back = to.add(j).cast_const();
                                    let early = $add($load(back.sub(16).cast()), $load(back.sub(7).cast()));
                                    let early = $add(early, $sigma($load(back.sub(15).cast()), 7, 18, 3));
                                    four[j] = $add(early, $sigma($load(back.sub(2).cast()), 17, 19, 10));
                                    $store(to.add(j).cast(), four[j]);
                                }
                                j += 1;
                            }
                            if $q < 4 {
                                transposed!(four);
                                j = 0;
                                while j < 4 {
                                    $store(to.add(j).cast(), four[j]);
                                    j += 1;
                                }
                            }
                            j = 0;
                            while j < 4 {
                                four[j] = $add(four[j], $broadcast(K.0[4 * $q + j] as i32));
                                j += 1;
                            }
                            transposed!(four);
                            j = 0;
                            while j < 4 {
                                $store($to.add(4 * $q + j).cast(), four[j]);
                                j += 1;
                            }
                        }
                    };
                }
                let mut q = 0;
                while q < 16 {
                    schedule!(q, ready, 0);
                    q += 1;
                }
                for group in 0..BLOCKS / GROUP {
                    // SAFETY: `ready` has two groups.
                    let (from, to) = unsafe { (ready.add(group % 2 * 64), ready.add((1 - group % 2) * 64)) };
                    // After the last group comes none: it is scheduled again.
                    let next = 64 * GROUP * (group + 1).min(BLOCKS / GROUP - 1);
                    let mut q = 0;
                    while q < 16 {
                        let (block, mut t) = (q * GROUP / 16, q * GROUP % 16);
                        if t == 0 {
                            if q > 0 {
                                end!(s, before);
                            }
                            before = s;
                        }
                        let end = t + GROUP;
                        while t < end {
                            let mut n = 0;
                            while n < 4 {
                                // SAFETY: these words were scheduled with the group before.
                                four!(s[n], unsafe { *from.add(4 * t + n).cast::<__m128i>().add(block) });
                                n += 1;
                            }
                            t += 1;
                        }
                        schedule!(q, to, next);
                        compiler_fence(Ordering::SeqCst);
                        q += 1;
                    }
                    end!(s, before);
                }
                *states = s;
            }
        };
    }

    /// 16 bytes of each of two blocks, as words.
    #[target_feature(enable = "avx2")]
    unsafe fn take2(from: *const u8) -> __m256i {
        // SAFETY: the blocks are promised.
        unsafe {
            let low = _mm256_castsi128_si256(_mm_loadu_si128(from.cast()));
            let both = _mm256_inserti128_si256::<1>(low, _mm_loadu_si128(from.add(64).cast()));
            _mm256_shuffle_epi8(both, _mm256_broadcastsi128_si256(order()))
        }
    }

    /// The same of four blocks.
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn take4(from: *const u8) -> __m512i {
        // SAFETY: the blocks are promised.
        unsafe {
            let mut all = _mm512_castsi128_si512(_mm_loadu_si128(from.cast()));
            all = _mm512_inserti32x4::<1>(all, _mm_loadu_si128(from.add(64).cast()));
            all = _mm512_inserti32x4::<2>(all, _mm_loadu_si128(from.add(128).cast()));
            all = _mm512_inserti32x4::<3>(all, _mm_loadu_si128(from.add(192).cast()));
            _mm512_shuffle_epi8(all, _mm512_broadcast_i32x4(order()))
        }
    }

    /// Two rotations and a shift.
    #[target_feature(enable = "avx2")]
    fn sigma8(x: __m256i, first: i32, second: i32, shift: i32) -> __m256i {
        macro_rules! turned {
            ($bits:expr) => {
                _mm256_or_si256(
                    _mm256_srl_epi32(x, _mm_cvtsi32_si128($bits)),
                    _mm256_sll_epi32(x, _mm_cvtsi32_si128(32 - $bits)),
                )
            };
        }
        _mm256_xor_si256(
            _mm256_xor_si256(turned!(first), turned!(second)),
            _mm256_srl_epi32(x, _mm_cvtsi32_si128(shift)),
        )
    }

    /// The same.
    #[target_feature(enable = "avx512f,avx512vl")]
    fn sigma8_ternary(x: __m256i, first: i32, second: i32, shift: i32) -> __m256i {
        _mm256_ternarylogic_epi32::<0b1001_0110>(
            _mm256_rorv_epi32(x, _mm256_set1_epi32(first)),
            _mm256_rorv_epi32(x, _mm256_set1_epi32(second)),
            _mm256_srlv_epi32(x, _mm256_set1_epi32(shift)),
        )
    }

    /// The same.
    #[target_feature(enable = "avx512f")]
    fn sigma16(x: __m512i, first: i32, second: i32, shift: i32) -> __m512i {
        _mm512_ternarylogic_epi32::<0b1001_0110>(
            _mm512_rorv_epi32(x, _mm512_set1_epi32(first)),
            _mm512_rorv_epi32(x, _mm512_set1_epi32(second)),
            _mm512_srlv_epi32(x, _mm512_set1_epi32(shift)),
        )
    }

    lanes! {
        avx2_lanes "sha,avx2" __m256i: _mm256_load_si256 _mm256_store_si256 _mm256_add_epi32 _mm256_set1_epi32,
        _mm256_unpacklo_epi32 _mm256_unpackhi_epi32 _mm256_unpacklo_epi64 _mm256_unpackhi_epi64, take2 sigma8
    }
    lanes! {
        avx512_half_lanes "sha,avx512f,avx512bw,avx512vl" __m256i:
        _mm256_load_si256 _mm256_store_si256 _mm256_add_epi32 _mm256_set1_epi32,
        _mm256_unpacklo_epi32 _mm256_unpackhi_epi32 _mm256_unpacklo_epi64 _mm256_unpackhi_epi64, take2 sigma8_ternary
    }
    lanes! {
        avx512_lanes "sha,avx512f,avx512bw,avx512vl" __m512i:
        _mm512_load_si512 _mm512_store_si512 _mm512_add_epi32 _mm512_set1_epi32,
        _mm512_unpacklo_epi32 _mm512_unpackhi_epi32 _mm512_unpacklo_epi64 _mm512_unpackhi_epi64, take4 sigma16
    }
}
