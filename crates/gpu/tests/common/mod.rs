//! The device under test, which `MKSUM_TEST_DEVICE` names.

use mksum_gpu::{Device, LaunchShape, Options, Transfer};

/// Opens the device under test. Without one, none of these tests can pass.
pub fn device(options: Options) -> Device {
    let name = std::env::var("MKSUM_TEST_DEVICE").unwrap_or_else(|_| "auto".into());
    let info = mksum_gpu::find(&name).unwrap_or_else(|error| panic!("{error}"));
    Device::open(&info, forced(options)).unwrap()
}

/// `MKSUM_TEST_SHAPE=group,tile,levels,lanes,pinned` forces the division of the work, the lanes of a work-item and the transfers of
/// other devices: `64,128,4,1,1` is a GPU with memory of its own.
pub fn forced(options: Options) -> Options {
    let Ok(text) = std::env::var("MKSUM_TEST_SHAPE") else { return options };
    let numbers: Vec<usize> = text.split(',').map(|number| number.parse().expect("a number")).collect();
    let &[group, tile, levels, lanes, pinned] = &numbers[..] else { panic!("{text}: expected five numbers") };
    let shape = Some(LaunchShape { group, tile, levels: levels as u32 });
    Options {
        shape,
        lanes: Some(lanes as u32),
        transfer: Some(if pinned == 1 { Transfer::Pinned } else { Transfer::Copied }),
        ..options
    }
}
