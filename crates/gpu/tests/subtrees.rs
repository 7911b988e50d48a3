//! Bytes hashed on a device in every format that it computes, against the CPU: the device that `MKSUM_TEST_DEVICE`
//! names.

use mksum::{Accelerated, Accelerator, Error, Format, Memory, NodeHash, Plan, Role, Spec, Subtree, Subtrees, Visitor};
use mksum_gpu::{Device, Fallback, Options};
use mksum_vectors::bytes;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// The device under test, which is asked for short subtrees too; without one, none of these tests can pass.
fn device(options: Options) -> Device {
    let name = std::env::var("MKSUM_TEST_DEVICE").unwrap_or_else(|_| "auto".into());
    let info = mksum_gpu::find(&name).unwrap_or_else(|error| panic!("{error}"));
    Device::open(&info, Options { shortest: 1, ..options }).unwrap()
}

/// Bytes that answer leaves only: all else is the device's, or joined.
struct Leaves<'a>(Memory<'a>);

impl<N: NodeHash> Subtrees<N> for Leaves<'_> {
    fn digest(&self, format: &Format<N>, node: Subtree, role: Role) -> Result<Option<N::Digest>, Error> {
        if node.level == 0 { self.0.digest(format, node, role) } else { Ok(None) }
    }
}

/// The root of bytes, with large subtrees from the device; and how many bytes that had.
struct OnDevice<'a>(&'a Device, &'a [u8]);

impl Visitor for OnDevice<'_> {
    type Output = Result<(Vec<u8>, u64), Error>;

    fn visit<const N: usize, H: NodeHash<Digest = [u8; N]>>(self, format: &Format<H>) -> Self::Output {
        let OnDevice(device, bytes) = self;
        let read = AtomicU64::new(0);
        let fill = |at: u64, out: &mut [u8]| {
            read.fetch_add(out.len() as u64, Ordering::Relaxed);
            out.copy_from_slice(&bytes[at as usize..][..out.len()]);
            Ok(())
        };
        let large = Accelerated::new(device, format, &fill).expect("a format of the device's");
        let plan = Plan { threads: device.threads(), piece: large.longest(), group: 1 };
        let root = format.root_parallel(&(&large, &Leaves(Memory::new(bytes))), bytes.len() as u64, &plan)?;
        Ok((root.into(), read.into_inner()))
    }
}

/// Compares roots of lengths around `leaf * count`.
fn compare(device: &Device, text: &str, counts: &[u64]) {
    let spec: Spec = text.parse().unwrap();
    let leaf = spec.leaf();
    for &count in counts {
        for len in [leaf * count - 1, leaf * count, leaf * count + 1, leaf * (count + 3)] {
            let bytes = bytes(len as usize);
            let Ok(root) = spec.root(&bytes) else { continue };
            let (own, read) = spec.visit(OnDevice(device, &bytes)).unwrap();
            assert_eq!(spec.sealed(len, own).to_string(), root.to_string(), "{text}: {len} bytes");
            assert!(read >= len / 4, "{text}: of {len} bytes, the device had {read}");
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
fn a_failed_read_is_an_error_and_a_failed_device_too_unless_the_cpu_may() {
    let (spec, bytes): (Spec, _) = ("rfc6962:sha256:1KiB".parse().unwrap(), bytes(64 << 10));
    let told = Arc::new(Mutex::new(Vec::new()));
    let notice = {
        let told = told.clone();
        Arc::new(move |text: &str| told.lock().unwrap().push(text.to_string()))
    };
    // A folder of programs that is empty: none can be built.
    let spirv = Some(std::env::temp_dir().join("no such folder"));
    let broken = Options { spirv, cache: None, notice, ..Options::default() };
    let takes_spirv = device(Options::default()).info().spirv;
    let result = spec.visit(OnDevice(&device(broken.clone()), &bytes));
    assert_eq!(result.is_err(), takes_spirv, "{result:?}");
    if takes_spirv {
        assert!(result.unwrap_err().to_string().contains("make spirv"));
    } else {
        assert!(told.lock().unwrap().iter().any(|text| text.contains("takes no SPIR-V")));
    }
    // What is not of the device is an error, whoever may hash.
    let lenient = device(Options { fallback: Fallback::Cpu, ..Options::default() });
    struct Failing<'a>(&'a Device);
    impl Visitor for Failing<'_> {
        type Output = Result<Vec<u8>, Error>;

        fn visit<const N: usize, H: NodeHash<Digest = [u8; N]>>(self, format: &Format<H>) -> Self::Output {
            let fail = |_: u64, _: &mut [u8]| Err(Error::Source("the disk is gone".into()));
            let large = Accelerated::new(self.0, format, &fail).expect("a format of the device's");
            Ok(format.root(&large, 64 << 10)?.into())
        }
    }
    assert_eq!(spec.visit(Failing(&lenient)).unwrap_err().to_string(), "the disk is gone");
}

#[test]
fn formats_that_are_no_even_trees_are_left_to_the_cpu() {
    struct Lengths<'a>(&'a Device);
    impl Visitor for Lengths<'_> {
        type Output = bool;

        fn visit<const N: usize, H: NodeHash<Digest = [u8; N]>>(self, format: &Format<H>) -> bool {
            Accelerated::new(self.0, format, &|_, _| unreachable!()).is_some()
        }
    }
    let device = device(Options::default());
    for (text, takes) in
        [("rfc6962", true), ("rfc6962:md5", false), ("mtsum", false), ("s3:sha256", false), ("dropbox", false)]
    {
        assert_eq!(text.parse::<Spec>().unwrap().visit(Lengths(&device)), takes, "{text}");
    }
}
