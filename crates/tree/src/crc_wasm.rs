//! CRCs in WebAssembly, with the names of the crate `crc-fast`. Their tables are made when they are first needed.

use crc::{CRC_32_ISCSI, CRC_32_ISO_HDLC, CRC_64_NVME, Crc, Table};
use spin::Once;

/// A CRC.
#[derive(Clone, Copy)]
pub enum CrcAlgorithm {
    /// CRC-32/ISO-HDLC.
    Crc32IsoHdlc,
    /// CRC-32/ISCSI.
    Crc32Iscsi,
    /// CRC-64/NVME.
    Crc64Nvme,
}

/// The CRC of the bytes so far.
#[derive(Clone)]
pub enum Digest {
    /// A CRC of 32 bits.
    Short(crc::Digest<'static, u32, Table<16>>),
    /// A CRC of 64 bits.
    Long(crc::Digest<'static, u64, Table<16>>),
}

impl Digest {
    /// Begins a CRC.
    pub fn new(algorithm: CrcAlgorithm) -> Self {
        static ISO_HDLC: Once<Crc<u32, Table<16>>> = Once::new();
        static ISCSI: Once<Crc<u32, Table<16>>> = Once::new();
        static NVME: Once<Crc<u64, Table<16>>> = Once::new();
        match algorithm {
            CrcAlgorithm::Crc32IsoHdlc => {
                Digest::Short(ISO_HDLC.call_once(|| Crc::<u32, Table<16>>::new(&CRC_32_ISO_HDLC)).digest())
            }
            CrcAlgorithm::Crc32Iscsi => {
                Digest::Short(ISCSI.call_once(|| Crc::<u32, Table<16>>::new(&CRC_32_ISCSI)).digest())
            }
            CrcAlgorithm::Crc64Nvme => {
                Digest::Long(NVME.call_once(|| Crc::<u64, Table<16>>::new(&CRC_64_NVME)).digest())
            }
        }
    }

    /// Appends bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        match self {
            Digest::Short(sum) => sum.update(bytes),
            Digest::Long(sum) => sum.update(bytes),
        }
    }

    /// Returns the CRC.
    pub fn finalize(&self) -> u64 {
        match self {
            Digest::Short(sum) => sum.clone().finalize().into(),
            Digest::Long(sum) => sum.clone().finalize(),
        }
    }
}
