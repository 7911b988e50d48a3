//! Compares node trees on the device that `MKSUM_TEST_DEVICE` names with another implementation of each hash.

mod common;

use base16ct::lower::encode_string;
use common::{device, forced};
use mksum::Hash;
use mksum::node_tree::{CpuLanes, Merklize, NodeTree, NodeTreeError};
use mksum_gpu::{Cache, Device, DeviceBuffer, Error, Fallback, Interface, Notice, Options, Transfer};
use mksum_vectors::{Pattern, bytes, node_rows, nodes, reference, same_nodes};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;

/// Returns an empty directory for one test's cache.
fn folder(test: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{test}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

/// Computes the nodes in a buffer that held other bytes before.
fn merklized(device: &Device, hash: Hash, leaves: &[u8]) -> Vec<u8> {
    let mut nodes = vec![0xa5; leaves.len()];
    device.merklize(hash, leaves, &mut nodes).unwrap();
    nodes
}

/// A list of warnings, and the notice that appends to it.
fn notices() -> (Arc<Mutex<Vec<String>>>, Notice) {
    let notices = Arc::new(Mutex::new(Vec::new()));
    let list = notices.clone();
    (notices, Arc::new(move |text: &str| list.lock().unwrap().push(text.to_string())))
}

fn sha256(bytes: &[u8]) -> String {
    encode_string(&reference(Hash::Sha256, &[bytes]))
}

#[test]
fn every_row_of_the_vectors() {
    let device = device(Options::default());
    for row in node_rows() {
        let (size, leaves) = (row.hash.size(), row.input());
        let nodes = merklized(&device, row.hash, &leaves);
        assert_eq!(nodes[..size], vec![0; size], "{}: slot 0", row.at);
        assert_eq!(encode_string(&nodes[size..2 * size]), row.root, "{}: the root", row.at);
        assert_eq!(sha256(&nodes[size..]), row.nodes, "{}: the nodes", row.at);
    }
}

#[test]
fn every_node_of_random_leaves_up_to_2_16() {
    let device = device(Options::default());
    // So little memory that the tree has many tiles.
    let tight = common::device(Options { memory: 1 << 18, ..Options::default() });
    let random = bytes(64 << 16);
    for &hash in NodeTree::HASHES {
        let (size, most) = (hash.size(), 1 << 16);
        let leaves = &random[..most * size];
        let slow = nodes(hash, leaves);
        for levels in 1..=16 {
            let count = 1 << levels;
            for device in [&device, &tight] {
                let at = format!("{} over 2^{levels}", hash.name());
                same_nodes(hash, &merklized(device, hash, &leaves[..count * size]), &slow, &at);
            }
        }
    }
}

#[test]
fn a_million_leaves_give_the_published_nodes_and_four_million_those_of_the_cpu() {
    let device = device(Options::default());
    let leaves = Pattern::Pat.bytes(32 << 20);
    let nodes = merklized(&device, Hash::Blake3, &leaves);
    let root = encode_string(&nodes[32..64]);
    assert_eq!(root, "0e8d1913a38ca6f3c038a38682cb325707e89214442d8c1b2e2a2b18fb713ab3");
    assert_eq!(sha256(&nodes), "16cdec18ee0fee63736b50c9c1b74263817c28aec906813ce6590bcfcdf9293e");
    let leaves = bytes(32 << 22);
    let mut slow = vec![0x5a; leaves.len()];
    CpuLanes { threads: 2 }.merklize(Hash::Blake3, &leaves, &mut slow).unwrap();
    assert!(merklized(&device, Hash::Blake3, &leaves) == slow);
}

/// Minutes on a CPU: `lab/gpu/run.sh` runs it on a GPU.
#[test]
#[ignore = "minutes on a CPU: lab/gpu/run.sh runs it on a GPU"]
fn every_hash_up_to_2_22() {
    let device = device(Options::default());
    let random = bytes(64 << 22);
    let threads = thread::available_parallelism().map_or(1, |threads| threads.get());
    for &hash in NodeTree::HASHES {
        for levels in 1..=22 {
            let leaves = &random[..hash.size() << levels];
            let mut slow = vec![0x5a; leaves.len()];
            CpuLanes { threads }.merklize(hash, leaves, &mut slow).unwrap();
            // Not `assert_eq`, which would print megabytes.
            assert!(merklized(&device, hash, leaves) == slow, "{} over 2^{levels}", hash.name());
        }
    }
}

#[test]
fn trees_from_buffer_to_buffer_are_the_hosts() {
    let device = device(Options::default());
    let random = bytes(64 << 13);
    for &hash in NodeTree::HASHES {
        for levels in 1..=13 {
            let leaves = &random[..hash.size() << levels];
            let mut on_device = device.buffer(leaves.len()).unwrap();
            let mut nodes_there = device.buffer(leaves.len()).unwrap();
            on_device.write(0, leaves).unwrap();
            device.merklize_buffer(hash, &on_device, &mut nodes_there).unwrap();
            let mut found = vec![0xa5; leaves.len()];
            nodes_there.read(0, &mut found).unwrap();
            same_nodes(hash, &found, &nodes(hash, leaves), &format!("{} over 2^{levels}", hash.name()));
        }
    }
}

#[test]
fn nodes_that_stay_on_the_device_are_leaves_there() {
    let device = device(Options::default());
    let leaves = bytes(32 << 20);
    let mut buffers = [(); 3].map(|()| device.buffer(leaves.len()).unwrap());
    let [one, other, third] = &mut buffers;
    // In parts that are not whole pages.
    for (at, part) in leaves.chunks(1_000_003).enumerate() {
        one.write(at * 1_000_003, part).unwrap();
    }
    device.merklize_buffer(Hash::Blake3, one, other).unwrap();
    let timings = device.merklize_buffer(Hash::Sha256, other, third).unwrap();
    let cpu = |hash, leaves: &[u8]| {
        let mut nodes = vec![0; leaves.len()];
        CpuLanes { threads: 2 }.merklize(hash, leaves, &mut nodes).unwrap();
        nodes
    };
    let expected = cpu(Hash::Sha256, &cpu(Hash::Blake3, &leaves));
    let mut found = vec![0xa5; leaves.len()];
    third.read(0, &mut found).unwrap();
    assert!(found == expected);
    let mut part = vec![0; 12_345];
    third.read(54_321, &mut part).unwrap();
    assert!(part == expected[54_321..][..12_345]);
    assert!(timings.kernel > timings.to_device + timings.from_device, "{timings:?}");
    let error = third.read(leaves.len() - 5, &mut part).unwrap_err();
    assert!(matches!(error, Error::Range { len: 12_345, .. }), "{error}");
}

#[test]
fn transfers_beyond_a_buffer_are_errors_and_move_nothing() {
    let device = device(Options::default());
    let size = 33;
    let mut buffer = device.buffer(size).unwrap();
    for (at, len) in
        [(0, 0), (0, 33), (7, 26), (33, 0), (0, 34), (7, 27), (33, 1), (34, 0), (usize::MAX, 1), (usize::MAX, 0)]
    {
        buffer.write(0, &[7; 33]).unwrap();
        let (mut found, fits) = (vec![0xa5; len], at <= size && len <= size - at);
        let expected = if fits { Ok(()) } else { Err(Error::Range { at, len, size }) };
        assert_eq!(buffer.read(at, &mut found), expected, "{at}, {len}");
        assert_eq!(found, vec![if fits { 7 } else { 0xa5 }; len], "{at}, {len}");
        assert_eq!(buffer.write(at, &vec![9; len]), expected, "{at}, {len}");
        let (mut whole, mut written) = (vec![0; size], vec![7; size]);
        buffer.read(0, &mut whole).unwrap();
        if fits {
            written[at..at + len].fill(9);
        }
        assert_eq!(whole, written, "{at}, {len}");
    }
}

#[test]
fn buffers_that_do_not_fit_a_tree_are_errors() {
    let device = device(Options { memory: 1 << 16, ..Options::default() });
    let other = common::device(Options::default());
    let (pair, mut nodes) = (device.buffer(64).unwrap(), device.buffer(64).unwrap());
    let mut foreign = other.buffer(64).unwrap();
    let mut run = |leaves: &DeviceBuffer| device.merklize_buffer(Hash::Sha256, leaves, &mut nodes);
    assert!(run(&pair).is_ok());
    assert!(matches!(run(&device.buffer(96).unwrap()), Err(NodeTreeError::Leaves { found: 96, .. })));
    assert!(matches!(run(&device.buffer(0).unwrap()), Err(NodeTreeError::Leaves { found: 0, .. })));
    assert!(matches!(run(&device.buffer(128).unwrap()), Err(NodeTreeError::Nodes { found: 64, expected: 128 })));
    let is_foreign = |error: NodeTreeError| match error {
        NodeTreeError::Device(error) => error.downcast_ref() == Some(&Error::OtherDevice),
        _ => false,
    };
    assert!(is_foreign(run(&foreign).unwrap_err()));
    assert!(is_foreign(device.merklize_buffer(Hash::Sha256, &pair, &mut foreign).unwrap_err()));
    let hash = device.merklize_buffer(Hash::Md5, &pair, &mut nodes);
    assert!(matches!(hash, Err(NodeTreeError::Hash(Hash::Md5))));
    let long = device.buffer((1 << 16) + 1).unwrap_err();
    assert_eq!(long, Error::Memory { needed: (1 << 16) + 1, offered: 1 << 16 });
}

/// The emulated driver ends the process if a device leaves an object.
#[test]
#[ignore = "needs a driver whose calls fail: scripts/test.sh cuda runs it"]
fn failing_calls_are_errors_and_leave_nothing() {
    let folder = folder("failing");
    let leaves = bytes(32 << 11);
    let (mut right, mut failed) = (0, 0);
    for _ in 0..100 {
        let cache = Some(Cache::at(&folder));
        let device = device(Options { cache, memory: 1 << 17, ..Options::default() });
        for levels in [11, 3, 7, 11] {
            let leaves = &leaves[..32 << levels];
            let mut found = vec![0xa5; leaves.len()];
            match device.merklize(Hash::Sha256, leaves, &mut found) {
                Ok(_) => {
                    same_nodes(Hash::Sha256, &found, &nodes(Hash::Sha256, leaves), &format!("2^{levels}"));
                    right += 1;
                }
                Err(_) => failed += 1,
            }
        }
    }
    assert!(right > 0 && failed > 0, "{right} trees, {failed} errors");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn the_times_are_the_devices() {
    let shared = device(Options::default()).info().unified;
    let device = device(Options { transfer: shared.then_some(Transfer::Copied), ..Options::default() });
    let leaves = bytes(32 << 18);
    let mut nodes = vec![0; leaves.len()];
    device.merklize(Hash::Blake3, &leaves, &mut nodes).unwrap();
    let begin = Instant::now();
    let timings = device.merklize(Hash::Blake3, &leaves, &mut nodes).unwrap();
    // Both clocks may differ by a per cent.
    let most = begin.elapsed() * 101 / 100;
    for time in [timings.kernel, timings.to_device, timings.from_device] {
        assert!(!time.is_zero() && time <= most, "{timings:?} of {most:?}");
    }
}

#[test]
fn a_device_that_shares_the_hosts_memory_copies_nothing() {
    let device = device(Options::default());
    if !device.info().unified || forced(Options::default()).transfer.is_some() {
        return;
    }
    let leaves = bytes(32 << 16);
    let slow = nodes(Hash::Blake3, &leaves);
    for at in [0, 1] {
        let [mut shifted, mut found] = [(); 2].map(|()| vec![0xa5; leaves.len() + 8192]);
        let page = |bytes: &[u8]| bytes.as_ptr().addr().next_multiple_of(4096) - bytes.as_ptr().addr();
        let (from, to) = (page(&shifted) + at, page(&found));
        shifted[from..][..leaves.len()].copy_from_slice(&leaves);
        let (below, found) = (&shifted[from..][..leaves.len()], &mut found[to..][..leaves.len()]);
        let timings = device.merklize(Hash::Blake3, below, found).unwrap();
        assert!(found == slow);
        assert_eq!(timings.to_device.is_zero(), at == 0, "{timings:?}");
    }
}

#[test]
fn two_trees_at_once() {
    let device = device(Options::default());
    let (one, other) = (bytes(64 << 14), Pattern::Pat.bytes(64 << 14));
    thread::scope(|scope| {
        for leaves in [&one, &other] {
            for hash in [Hash::Blake3, Hash::Sha512] {
                let device = &device;
                scope.spawn(move || {
                    let slow = nodes(hash, leaves);
                    for _ in 0..4 {
                        assert!(merklized(device, hash, leaves) == slow, "{}", hash.name());
                    }
                });
            }
        }
    });
}

#[test]
fn wrong_sizes_are_errors_and_nothing_is_written() {
    let device = device(Options::default());
    let mut out = vec![0xa5; 4096];
    for found in [0, 1, 32, 33, 63, 65, 96, 192] {
        let error = device.merklize(Hash::Blake3, &vec![0; found], &mut out[..found]).unwrap_err();
        assert!(matches!(error, NodeTreeError::Leaves { found: reported, .. } if reported == found), "{found}");
    }
    let error = device.merklize(Hash::Blake3, &[0; 64], &mut out[..63]).unwrap_err();
    assert!(matches!(error, NodeTreeError::Nodes { found: 63, expected: 64 }));
    let error = device.merklize(Hash::Md5, &[0; 32], &mut out[..32]).unwrap_err();
    assert!(matches!(error, NodeTreeError::Hash(Hash::Md5)));
    assert!(out.iter().all(|&byte| byte == 0xa5));
}

#[test]
fn too_little_memory_is_an_error_or_the_cpu_if_that_is_allowed() {
    let leaves = bytes(32 << 10);
    // Not even for the smallest tile of a work-item with one lane.
    let strict = device(Options { memory: 64, ..Options::default() });
    let error = strict.merklize(Hash::Blake3, &leaves, &mut vec![0; leaves.len()]).unwrap_err();
    let NodeTreeError::Device(error) = error else { panic!("{error}") };
    assert!(matches!(error.downcast_ref(), Some(Error::Memory { .. })), "{error}");
    let (notices, notice) = notices();
    let lenient = device(Options { memory: 64, fallback: Fallback::Cpu, notice, ..Options::default() });
    assert!(merklized(&lenient, Hash::Blake3, &leaves) == nodes(Hash::Blake3, &leaves));
    let notices = notices.lock().unwrap();
    assert!(notices.len() == 1 && notices[0].contains("the CPU hashes instead"), "{notices:?}");
}

#[test]
fn the_cache_is_used_and_damage_to_it_is_detected() {
    let folder = folder("cache");
    let leaves = bytes(32 << 8);
    let slow = nodes(Hash::Blake3, &leaves);
    let run = || {
        let (notices, notice) = notices();
        let device = device(Options { cache: Some(Cache::at(&folder)), notice, ..Options::default() });
        assert!(merklized(&device, Hash::Blake3, &leaves) == slow);
        notices.lock().unwrap().clone()
    };
    assert_eq!(run(), [""; 0]);
    let files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()).collect();
    let measured = usize::from(forced(Options::default()).shape.is_none());
    assert_eq!(files.len(), 1 + measured, "a program and a shape: {files:?}");
    let written = |path: &PathBuf| std::fs::metadata(path).unwrap().modified().unwrap();
    let before: Vec<_> = files.iter().map(written).collect();
    assert_eq!(run(), [""; 0]);
    assert_eq!(files.iter().map(written).collect::<Vec<_>>(), before, "nothing was built again");
    for (path, at) in files.iter().zip([0, 1]) {
        let mut bytes = std::fs::read(path).unwrap();
        let middle = bytes.len() / 2 + at;
        bytes[middle] ^= 1;
        std::fs::write(path, bytes).unwrap();
    }
    let notices = run();
    assert!(notices.len() == 1 + measured && notices.iter().all(|text| text.contains("damaged")), "{notices:?}");
    assert_eq!(run(), [""; 0], "both were written again");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn spirv_is_used_if_the_device_supports_it_and_else_source_with_a_notice() {
    let folder = std::env::var("MKSUM_TEST_SPIRV").expect("scripts/test.sh gpu: the directory of SPIR-V programs");
    let (notices, notice) = notices();
    let device = device(Options { cache: None, spirv: Some(folder.into()), notice, ..Options::default() });
    // SPIR-V is OpenCL's.
    let expected = device.info().interface == Interface::OpenCl && !device.info().spirv;
    let leaves = bytes(32 << 12);
    for hash in [Hash::Blake3, Hash::Sha256] {
        assert!(merklized(&device, hash, &leaves) == nodes(hash, &leaves), "{}", hash.name());
    }
    let notices = notices.lock().unwrap();
    assert_eq!(notices.iter().any(|text| text.contains("does not support SPIR-V")), expected, "{notices:?}");
}

#[test]
fn unknown_devices_are_errors() {
    let error = mksum_gpu::find("no such device").unwrap_err().to_string();
    assert!(error.contains("no device 'no such device': expected cpu, auto, a number below"), "{error}");
    assert!(mksum_gpu::find("99").is_err());
    assert!(mksum_gpu::find("").is_err());
}
