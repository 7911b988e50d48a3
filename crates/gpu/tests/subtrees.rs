//! Compares roots in every format on the device that `MKSUM_TEST_DEVICE` names with those of the CPU.

mod common;

use mksum::accelerator::{Accelerated, Accelerator};
use mksum::{Digest, Error, Memory, Plan, Role, Root, Spec, Subtree, Subtrees};
use mksum_gpu::{Device, Fallback, Interface, Options};
use mksum_vectors::bytes;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Opens the device under test, with short subtrees allowed.
fn device(options: Options) -> Device {
    common::device(Options { shortest: 1, ..options })
}

/// A source of leaves only: the device computes the other nodes, or they are joined.
struct Leaves<'a>(Memory<'a>);

impl Subtrees for Leaves<'_> {
    fn digest(&self, spec: &Spec, node: Subtree, role: Role) -> Result<Option<Digest>, Error> {
        if node.level == 0 { self.0.digest(spec, node, role) } else { Ok(None) }
    }
}

/// Computes the root of bytes, with large subtrees on the device. Returns it with the number of bytes the device read.
fn on_device(spec: &Spec, device: &Device, bytes: &[u8]) -> Result<(Root, u64), Error> {
    let read = AtomicU64::new(0);
    let fill = |at: u64, out: &mut [u8]| {
        read.fetch_add(out.len() as u64, Ordering::Relaxed);
        out.copy_from_slice(&bytes[at as usize..][..out.len()]);
        Ok(())
    };
    let large = Accelerated::new(device, spec, &fill).expect("a format that the device supports");
    let plan = Plan { threads: device.threads(), piece: large.longest(), group: 1 };
    let root = spec.root_parallel(&(large, Leaves(Memory::new(bytes))), bytes.len() as u64, &plan)?;
    Ok((root, read.into_inner()))
}

/// Compares roots of lengths around `leaf * count`.
fn compare(device: &Device, text: &str, counts: &[u64]) {
    let spec: Spec = text.parse().unwrap();
    let leaf = spec.leaf();
    for &count in counts {
        for len in [leaf * count - 1, leaf * count, leaf * count + 1, leaf * (count + 3)] {
            let bytes = bytes(len as usize);
            let Ok(root) = spec.root(&bytes) else { continue };
            let (own, read) = on_device(&spec, device, &bytes).unwrap();
            assert_eq!(own, root, "{text}: {len} bytes");
            assert!(read >= len / 4, "{text}: the device read {read} of {len} bytes");
        }
    }
}

#[test]
fn binary_formats_over_every_hash() {
    let device = device(Options::default());
    for hash in ["sha1", "sha224", "sha256", "sha384", "sha512", "sha512-256", "blake3"] {
        for family in ["rfc6962", "plain"] {
            for leaf in ["64", "100", "1KiB", "4099"] {
                compare(&device, &format!("{family}:{hash}:{leaf}"), &[4, 64, 100]);
            }
        }
        compare(&device, &format!("rfc6962:{hash}:64KiB"), &[33]);
    }
}

#[test]
fn formats_with_one_leaf_size_and_wide_nodes() {
    let device = device(Options::default());
    compare(&device, "blake3", &[4, 64, 100, 4096]);
    compare(&device, "btv2", &[4, 64]);
    compare(&device, "glacier", &[5]);
    compare(&device, "fsverity:sha256:1KiB:salt=0102", &[33, 1025]);
    compare(&device, "fsverity:sha512:4KiB", &[65]);
    compare(&device, "dmverity:sha256:512:salt=00112233445566778899", &[17, 300]);
}

#[test]
fn a_failed_read_is_an_error_and_a_failed_device_too_without_fallback() {
    let (spec, bytes): (Spec, _) = ("rfc6962:sha256:1KiB".parse().unwrap(), bytes(64 << 10));
    let notices = Arc::new(Mutex::new(Vec::new()));
    let notice = {
        let notices = notices.clone();
        Arc::new(move |text: &str| notices.lock().unwrap().push(text.to_string()))
    };
    // No program can be built without its file, if the device takes such files.
    let folder = Some(std::env::temp_dir().join("no such folder"));
    let broken = Options { spirv: folder.clone(), cubins: folder, cache: None, notice, ..Options::default() };
    let info = device(Options::default()).info().clone();
    let supported = info.spirv || info.interface == Interface::Cuda;
    let result = on_device(&spec, &device(broken.clone()), &bytes);
    assert_eq!(result.is_err(), supported, "{result:?}");
    if supported {
        let make = if info.interface == Interface::Cuda { "make cubins" } else { "make spirv" };
        assert!(result.unwrap_err().to_string().contains(make));
    } else {
        assert!(notices.lock().unwrap().iter().any(|text| text.contains("does not support SPIR-V")));
    }
    // Errors that are not the device's are errors even with fallback.
    let lenient = device(Options { fallback: Fallback::Cpu, ..Options::default() });
    let fail = |_: u64, _: &mut [u8]| Err(Error::source("the disk is gone"));
    let large = Accelerated::new(&lenient, &spec, &fail).expect("a format that the device supports");
    assert_eq!(spec.root_from(&large, 64 << 10).unwrap_err().to_string(), "the disk is gone");
}

#[test]
fn the_cpu_computes_formats_that_are_not_even_trees() {
    let device = device(Options::default());
    for (text, supported) in
        [("rfc6962", true), ("rfc6962:md5", false), ("mtsum", false), ("s3:sha256", false), ("dropbox", false)]
    {
        let spec = text.parse().unwrap();
        assert_eq!(Accelerated::new(&device, &spec, &|_, _| unreachable!()).is_some(), supported, "{text}");
    }
}
