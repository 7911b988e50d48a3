//! The choice of an instruction set, and the environment variable that overrides it.

use mksum_lanes::{
    Hash,
    cpu::{self, Cpu, Error},
};

#[test]
fn names() {
    for cpu in Cpu::available() {
        assert_eq!(Cpu::from_name(cpu.name()), Ok(cpu));
    }
    assert_eq!(Cpu::from_name("portable").map(Cpu::name), Ok("portable"));
    assert_eq!(Cpu::from_name("mmx"), Err(Error::Unknown));
    let foreign = if cfg!(target_arch = "x86_64") { "neon" } else { "avx2" };
    assert_eq!(Cpu::from_name(foreign), Err(Error::Unavailable));
    assert!(Error::Unknown.to_string().contains("avx512, neon"));
    assert!(Error::Unavailable.to_string().contains("portable"));
    assert!(Cpu::available().any(|cpu| cpu == Cpu::detected()));
}

#[test]
fn kernels_are_described() {
    for kernel in Cpu::detected().kernels(Hash::Sha256) {
        assert!(kernel.lanes >= 1 && !kernel.name.is_empty());
    }
}

// The variable is read once a process, so these two run alone: see test.sh.
#[test]
#[ignore = "needs MKSUM_CPU=portable"]
fn portable_when_asked() {
    assert_eq!(cpu::active().map(Cpu::name), Ok("portable"));
    assert_eq!(Hash::Sha256.lanes(), 1);
}

#[test]
#[ignore = "needs MKSUM_CPU=nonsense"]
fn an_error_when_unknown() {
    assert_eq!(cpu::active(), Err(Error::Unknown));
    assert_eq!(Hash::Sha256.lanes(), Hash::Sha256.lanes_on(Cpu::detected()));
}
