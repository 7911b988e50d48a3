//! One file an instruction set: its vectors as lanes, and nothing about any hash.
//!
//! x86-64 without SSE2 is a kernel's or a firmware's: it may not touch vector registers.

#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
pub(crate) mod armsha;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) mod avx2;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) mod avx512;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
pub(crate) mod neon;
pub(crate) mod portable;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) mod shani;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub(crate) mod simd128;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) mod sse41;
