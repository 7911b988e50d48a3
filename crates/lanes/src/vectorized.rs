//! Plain loops, compiled for the vectors of each instruction set.

#[allow(unused_imports)] // Some architectures have nothing to choose.
use crate::cpu::Features;
use crate::cpu::{Cpu, active_or_detected};

/// Work that is plain loops over words, of which the compiler makes vector instructions.
///
/// `run` and all that it calls must be `#[inline(always)]`: what is compiled apart has the vectors of every machine alone.
pub trait Loops {
    /// The result.
    type Output;

    /// Does the work.
    fn run(self) -> Self::Output;
}

/// Does the work with the widest vectors of the instruction set in use.
pub fn vectorized<L: Loops>(loops: L) -> L::Output {
    vectorized_on(active_or_detected(), loops)
}

/// [`vectorized`], on a given instruction set.
pub fn vectorized_on<L: Loops>(cpu: Cpu, loops: L) -> L::Output {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    {
        #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
        fn avx512<L: Loops>(loops: L) -> L::Output {
            loops.run()
        }
        #[target_feature(enable = "avx2,bmi1,bmi2")]
        fn avx2<L: Loops>(loops: L) -> L::Output {
            loops.run()
        }
        if cpu.features().contain(Features::AVX512) {
            // SAFETY: the machine has these features.
            return unsafe { avx512(loops) };
        }
        if cpu.features().contain(Features::AVX2) {
            // SAFETY: the machine has these features.
            return unsafe { avx2(loops) };
        }
    }
    let _ = cpu;
    loops.run()
}
