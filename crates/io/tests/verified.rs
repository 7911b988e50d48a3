//! Verified reads: the bytes are the file's, or the read is an error.
#![cfg(unix)]

use mksum::outboard::{ForeignFormat, KeptLayout};
use mksum::{Root, Spec};
use mksum_io::outboard::{Keeping, keep, keep_foreign};
use mksum_io::{Error, File, Input, Opening, Options, Refusal, Verified, VerifiedReader, WriteBack};
use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::{Arc, Barrier};
use std::thread;
use tempfile::TempDir;

/// Numbers without a pattern, the same every time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % bound.max(1)
    }

    fn range(&mut self, len: u64) -> Range<u64> {
        let start = self.below(len);
        start..start + 1 + self.below(len - start)
    }

    fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.below(256) as u8).collect()
    }
}

/// A file with its outboard.
struct Case {
    folder: TempDir,
    bytes: Vec<u8>,
    root: Root,
}

impl Case {
    fn new(format: &str, bytes: Vec<u8>) -> Case {
        let folder = tempfile::tempdir().unwrap();
        let spec: Spec = format.parse().unwrap();
        let (path, place) = (folder.path().join("f"), folder.path().join("f.mkt"));
        fs::write(&path, &bytes).unwrap();
        let unit = KeptLayout::unit_within(spec.shape(), 0);
        let kept = keep(File::open(&path, &options()).unwrap(), &spec, &Keeping::new(unit, &place)).unwrap();
        Case { folder, bytes, root: kept.root }
    }

    fn place(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn opening(&self) -> Opening {
        Opening::new(self.place("f"), self.place("f.mkt")).trusting(&self.root)
    }

    fn open(&self) -> Result<Verified, Error> {
        Verified::open(self.opening(), &options())
    }

    /// The file, to be damaged.
    fn writable(&self, name: &str) -> fs::File {
        fs::OpenOptions::new().write(true).open(self.place(name)).unwrap()
    }

    /// The bytes of a range, which are the right ones; else the error, without a wrong byte.
    fn read(&self, verified: &Verified, range: Range<u64>) -> Result<(), Error> {
        const UNTOUCHED: u8 = 0x5a;
        let right = &self.bytes[range.start as usize..range.end as usize];
        let mut found = vec![UNTOUCHED; right.len()];
        let read = verified.read_at(range.start, &mut found);
        match &read {
            Ok(count) => assert!(*count == right.len() && found == right, "{range:?}"),
            Err(_) => {
                let is_right = |(found, right): (&u8, &u8)| found == right || *found == 0 || *found == UNTOUCHED;
                assert!(found.iter().zip(right).all(is_right), "{range:?}");
            }
        }
        read.map(drop)
    }
}

fn options() -> Options {
    Options { threads: 3, ..Options::new() }
}

const FORMATS: [&str; 9] = [
    "rfc6962:sha256:1000",
    "blake3",
    "fsverity:sha256:1KiB",
    "btv2",
    "sha256tree",
    "mtsum:sha256:3000",
    "s3:md5:10000",
    "plain:sha1:4KiB",
    "rfc6962:sha256:1MiB",
];

#[test]
fn the_bytes_are_those_of_the_file() {
    let mut numbers = Numbers(1);
    for format in FORMATS {
        let leaf = format.parse::<Spec>().unwrap().leaf().min(1 << 16) as usize;
        for len in [1, 2, leaf - 1, leaf, leaf + 1, 5 * leaf + 7, 300_000] {
            let case = Case::new(format, numbers.bytes(len));
            let (verified, len) = (Arc::new(case.open().unwrap()), len as u64);
            assert_eq!((verified.len(), verified.root()), (len, case.root.clone()));
            let mut all = Vec::new();
            VerifiedReader::new(verified.clone()).read_to_end(&mut all).unwrap();
            assert!(all == case.bytes, "{format}, {len} bytes");
            let borders = (0..len).step_by(leaf).take(7).chain([len]);
            for border in borders {
                for range in [border.saturating_sub(1)..len.min(border + 1), border..border, 0..border, border..len] {
                    case.read(&verified, range).unwrap();
                }
            }
            for _ in 0..30 {
                case.read(&verified, numbers.range(len)).unwrap();
            }
            for (offset, room) in [(len, 10), (len + 1, 10), (u64::MAX, 10), (0, 0)] {
                assert_eq!(verified.read_at(offset, &mut vec![0; room]).unwrap(), 0);
            }
            let mut more = vec![7; 100];
            assert_eq!(verified.read_at(len - 1, &mut more).unwrap(), 1);
            assert_eq!(more[..2], [*case.bytes.last().unwrap(), 7]);
        }
        // Some formats have no root for it.
        if format.parse::<Spec>().unwrap().root(b"").is_ok() {
            let empty = Case::new(format, Vec::new()).open().unwrap();
            assert_eq!((empty.len(), empty.read_at(0, &mut [0]).unwrap()), (0, 0), "{format}");
        }
    }
}

#[test]
fn a_flipped_bit_is_never_handed_out() {
    let mut numbers = Numbers(2);
    for (format, len) in [("rfc6962:sha256:1000", 70_001), ("blake3", 50_000), ("fsverity:sha256:1KiB", 40_000)] {
        let case = Case::new(format, numbers.bytes(len));
        let (file, len, threads) = (case.writable("f"), len as u64, [1, 3]);
        for round in 0..700 {
            let (offset, bit) = (numbers.below(len), 1 << numbers.below(8));
            file.write_all_at(&[case.bytes[offset as usize] ^ bit], offset).unwrap();
            let options = Options { threads: threads[round % 2], ..options() };
            let verified = Verified::open(case.opening(), &options).unwrap();
            let unit = verified.unit_over(offset).unwrap();
            let mut ranges = vec![offset..offset + 1, 0..len];
            ranges.extend((0..4).map(|_| numbers.range(len)));
            for range in ranges {
                let reads_it = range.start < unit.end() && unit.start < range.end;
                match case.read(&verified, range.clone()) {
                    Ok(()) => assert!(!reads_it, "{range:?} has the damaged byte {offset}"),
                    Err(Error::Unit(damaged)) => {
                        assert!(reads_it, "{range:?}");
                        assert_eq!(damaged.range, unit.start..unit.end());
                        assert_ne!(damaged.expected, damaged.found);
                    }
                    Err(error) => panic!("{error}"),
                }
            }
            file.write_all_at(&[case.bytes[offset as usize]], offset).unwrap();
            // What was an error is one of the disk alone: the file is right again.
            case.read(&verified, 0..len).unwrap();
        }
    }
}

#[test]
fn a_mutated_outboard_is_never_believed() {
    let mut numbers = Numbers(3);
    for (format, len) in [("rfc6962:sha256:1000", 60_001), ("blake3", 40_000), ("s3:md5:10000", 90_000)] {
        let case = Case::new(format, numbers.bytes(len));
        let stored = fs::read(case.place("f.mkt")).unwrap();
        let mut refused = 0;
        for round in 0..800 {
            let mut mutated = stored.clone();
            match round % 8 {
                // A whole digest, so that no two that are compared agree by chance.
                0 => {
                    let at = 1024 + numbers.below((stored.len() - 1024) as u64) as usize;
                    let end = mutated.len().min(at + 16);
                    mutated[at..end].copy_from_slice(&numbers.bytes(end - at));
                }
                1 => mutated.truncate(numbers.below(stored.len() as u64) as usize),
                _ => mutated[numbers.below(stored.len() as u64) as usize] ^= 1 << numbers.below(8),
            }
            fs::write(case.place("f.mkt"), &mutated).unwrap();
            let read = case.open().and_then(|verified| {
                (0..3).try_for_each(|_| case.read(&verified, numbers.range(len as u64)))?;
                case.read(&verified, 0..len as u64)?;
                // Many units are compared with a node above them; one alone with its own digest.
                let (verified, unit) = (case.open()?, verified.unit());
                (0..len as u64).step_by(unit as usize).try_for_each(|start| case.read(&verified, start..start + 1))
            });
            refused += u32::from(read.is_err());
            assert!(round % 8 != 1 || read.is_err(), "a truncated outboard");
        }
        // Bytes of the header that mean nothing, and the second copy of the root, may have changed.
        assert!(refused > 400, "{format}: {refused}");
        // A right outboard, but of other bytes.
        let other = Case::new(format, numbers.bytes(len));
        fs::copy(other.place("f.mkt"), case.place("f.mkt")).unwrap();
        let refusal = case.open().map(drop).unwrap_err();
        assert!(matches!(refusal, Error::Refused { refusal: Refusal::Unsuitable(_), .. }), "{refusal}");
    }
}

#[test]
fn a_file_that_is_not_what_it_was_is_an_error() {
    let case = |numbers: &mut Numbers| Case::new("rfc6962:sha256:1000", numbers.bytes(10_000));
    let mut numbers = Numbers(4);
    for len in [0, 9_999, 10_001, 20_000] {
        let case = case(&mut numbers);
        let verified = case.open().unwrap();
        case.read(&verified, 0..1).unwrap();
        case.writable("f").set_len(len).unwrap();
        // What was verified is in memory, and still right.
        case.read(&verified, 0..1000).unwrap();
        for range in [1000..2000, 5000..5001, 9000..10_000, 0..10_000] {
            assert!(matches!(case.read(&verified, range), Err(Error::Changed { .. })), "{len}");
        }
        let refusal = case.open().map(drop).unwrap_err();
        assert!(matches!(refusal, Error::Refused { refusal: Refusal::Length { .. }, .. }), "{refusal}");
    }
    let replaced = case(&mut numbers);
    let verified = replaced.open().unwrap();
    replaced.read(&verified, 0..10).unwrap();
    fs::write(replaced.place("new"), &replaced.bytes).unwrap();
    fs::rename(replaced.place("new"), replaced.place("f")).unwrap();
    assert!(matches!(replaced.read(&verified, 5000..6000), Err(Error::Changed { .. })));
    fs::remove_file(replaced.place("f")).unwrap();
    assert!(matches!(replaced.read(&verified, 5000..6000), Err(Error::Changed { .. })));
    // With the same content at another time, nothing has changed.
    let touched = case(&mut numbers);
    let verified = touched.open().unwrap();
    touched.writable("f").set_modified(std::time::UNIX_EPOCH).unwrap();
    touched.read(&verified, 0..10_000).unwrap();
}

#[test]
fn many_threads_read_at_once() {
    let case = Arc::new(Case::new("rfc6962:sha256:4KiB", Numbers(5).bytes(900_000)));
    let verified = Arc::new(case.open().unwrap());
    let threads: Vec<_> = (0..8)
        .map(|thread| {
            let (case, verified) = (case.clone(), verified.clone());
            thread::spawn(move || {
                let mut numbers = Numbers(100 + thread);
                for round in 0..200 {
                    let range = numbers.range(900_000);
                    let end = if round % 2 == 0 { range.end } else { range.end.min(range.start + 5000) };
                    case.read(&verified, range.start..end).unwrap();
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn readers_of_one_unit_share_its_verification() {
    let case = Arc::new(Case::new("rfc6962:sha256:256KiB", Numbers(6).bytes(600_000)));
    let options = options();
    let verified = Arc::new(Verified::open(case.opening(), &options).unwrap());
    let (start, before) = (Arc::new(Barrier::new(8)), options.meter.bytes());
    let threads: Vec<_> = (0..8)
        .map(|thread| {
            let (case, verified, start) = (case.clone(), verified.clone(), start.clone());
            thread::spawn(move || {
                start.wait();
                case.read(&verified, thread * 1000..thread * 1000 + 500).unwrap();
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(options.meter.bytes() - before, 256 << 10);
}

#[test]
fn small_reads_in_order_hash_each_unit_once() {
    let case = Case::new("rfc6962:sha256:10000", Numbers(7).bytes(1_000_001));
    let options = options();
    let mut reader = VerifiedReader::new(Verified::open(case.opening(), &options).unwrap());
    let (before, mut all, mut part) = (options.meter.bytes(), Vec::new(), [0; 777]);
    loop {
        match reader.read(&mut part).unwrap() {
            0 => break,
            count => all.extend_from_slice(&part[..count]),
        }
    }
    assert!(all == case.bytes);
    assert_eq!(options.meter.bytes() - before, 1_000_001);
    // As often as one likes.
    for (to, at) in [(SeekFrom::Start(5), 5), (SeekFrom::Current(-2), 3), (SeekFrom::End(-1), 1_000_000)] {
        assert_eq!((reader.seek(to).unwrap(), reader.position()), (at, at));
        let mut byte = [0];
        reader.read_exact(&mut byte).unwrap();
        assert_eq!(byte[0], case.bytes[at as usize]);
        reader.seek(SeekFrom::Start(at)).unwrap();
    }
    assert_eq!(options.meter.bytes() - before, 1_000_001);
    assert!(reader.seek(SeekFrom::End(-1_000_002)).is_err());
    assert_eq!(reader.seek(SeekFrom::End(5)).unwrap(), 1_000_006);
    assert_eq!(reader.read(&mut part).unwrap(), 0);
}

#[test]
fn replicas_replace_what_is_damaged() {
    let mut numbers = Numbers(8);
    let case = Case::new("rfc6962:sha256:1000", numbers.bytes(20_500));
    let damage = || {
        [1500, 7000, 20_400].iter().for_each(|&at| {
            case.writable("f").write_all_at(&[!case.bytes[at as usize]], at).unwrap();
        });
    };
    fs::write(case.place("liar"), numbers.bytes(20_500)).unwrap();
    fs::write(case.place("good"), &case.bytes).unwrap();
    let replicas = |names: &[&str]| names.iter().map(|name| Input::from(case.place(name))).collect::<Vec<_>>();
    let modified = || fs::metadata(case.place("f")).unwrap().modified().unwrap();
    let before = modified();
    damage();

    let lying = Opening { replicas: replicas(&["liar", "gone"]), ..case.opening() };
    let verified = Verified::open(lying, &options()).unwrap();
    case.read(&verified, 0..1000).unwrap();
    let Err(Error::Unit(unit)) = case.read(&verified, 0..20_500) else { panic!() };
    assert_eq!(unit.range, 1000..2000);
    let (places, reasons): (Vec<_>, Vec<_>) = unit.refused.iter().cloned().unzip();
    assert_eq!((places, &*reasons[0]), (replicas(&["liar", "gone"]), "it is damaged there too"));

    // The file stays as it is, unless asked.
    let helped = Opening { replicas: replicas(&["gone", "liar", "good"]), ..case.opening() };
    let verified = Verified::open(helped.clone(), &options()).unwrap();
    case.read(&verified, 0..20_500).unwrap();
    assert_eq!(verified.replaced(), 2500);
    assert!(fs::read(case.place("f")).unwrap() != case.bytes);

    // A change of the content alone gives the file back the time that its outboard has.
    case.writable("f").set_modified(before).unwrap();
    let verified = Verified::open(Opening { write_back: WriteBack::Yes, ..helped.clone() }, &options()).unwrap();
    case.read(&verified, 1900..1901).unwrap();
    assert_eq!(modified(), before);
    let mut now = fs::read(case.place("f")).unwrap();
    assert!(now[..7000] == case.bytes[..7000] && now != case.bytes);
    case.read(&verified, 0..20_500).unwrap();
    now = fs::read(case.place("f")).unwrap();
    assert!(now == case.bytes);
    assert_eq!((verified.replaced(), modified()), (2500, before));

    // A truncated file is read from the replicas, and not written to.
    let verified = Verified::open(helped.clone(), &options()).unwrap();
    case.writable("f").set_len(5000).unwrap();
    case.read(&verified, 0..20_500).unwrap();
    assert_eq!(fs::metadata(case.place("f")).unwrap().len(), 5000);
}

#[test]
fn a_root_that_does_not_bind_the_length_needs_it() {
    // The nodes of glacier's tree have no prefix: these 64 bytes are the two leaves of another file.
    let case = Case::new("glacier", Numbers(9).bytes(64));
    let text = format!("glacier:{}", case.root);
    let expected = mksum_sums::expected::Expected::parse(&text, None).unwrap();
    let opening = Opening { expected: Some(expected), len: None, ..case.opening() };
    let refusal = Verified::open(opening.clone(), &options()).map(drop).unwrap_err();
    assert!(refusal.to_string().contains("its length is needed, too"), "{refusal}");
    let verified = Verified::open(Opening { len: Some(64), ..opening.clone() }, &options()).unwrap();
    case.read(&verified, 0..64).unwrap();
    assert!(Verified::open(Opening { len: Some(65), ..opening }, &options()).is_err());
}

#[test]
fn trees_of_other_programs_serve_as_outboards() {
    let mut numbers = Numbers(8);
    for (format, len) in
        [("blake3", 300_000), ("obao4", 300_000), ("fsverity:sha512:1KiB", 300_000), ("dmverity:sha256:512", 512 * 257)]
    {
        let format: ForeignFormat = format.parse().unwrap();
        let mut case = Case::new(&format.spec().to_string(), numbers.bytes(len));
        let file = File::open(case.place("f"), &options()).unwrap();
        let place = case.place("f.tree");
        case.root = keep_foreign(file, &format, [0; 16], &Keeping::new(1 << 20, &place)).unwrap().root;
        let opening =
            Opening { foreign: Some(format.clone()), ..Opening::new(case.place("f"), &*place).trusting(&case.root) };
        let verified = Verified::open(opening.clone(), &options()).unwrap();
        for _ in 0..20 {
            case.read(&verified, numbers.range(len as u64)).unwrap();
        }
        // Of a damaged file, a damaged tree, another root and a tree of another length.
        let at = numbers.below(len as u64);
        let old = case.bytes[at as usize];
        case.writable("f").write_all_at(&[!old], at).unwrap();
        let verified = Verified::open(opening.clone(), &options()).unwrap();
        let found = case.read(&verified, at..at + 1);
        assert!(matches!(&found, Err(Error::Unit(unit)) if unit.range.contains(&at)), "{format:?}: {found:?}");
        case.writable("f").write_all_at(&[old], at).unwrap();

        let tree = fs::read(&place).unwrap();
        let head = format.layout(len as u64).unwrap().head([0; 16]).len();
        let mut changed = tree.clone();
        changed[head..].iter_mut().step_by(3).for_each(|byte| *byte = !*byte);
        fs::write(&place, changed).unwrap();
        let read = Verified::open(opening.clone(), &options()).and_then(|verified| case.read(&verified, 0..len as u64));
        assert!(read.is_err(), "{format:?}");
        fs::write(&place, &tree[..tree.len() - 1]).unwrap();
        assert!(Verified::open(opening, &options()).is_err(), "{format:?}");
    }
}
#[test]
fn a_file_without_an_outboard_is_one_unit() {
    let case = Case::new("rfc6962:sha256:64KiB", Numbers(9).bytes(200_000));
    let whole = || Opening::whole(case.place("f"), &case.root);
    let verified = Verified::open(whole(), &options()).unwrap();
    assert_eq!((verified.len(), verified.unit(), verified.root()), (200_000, 200_000, case.root.clone()));
    for range in [0..1, 5..70_000, 199_999..200_000, 0..200_000] {
        case.read(&verified, range).unwrap();
    }
    // What was verified is in memory.
    case.writable("f").write_all_at(b"\xff", 123_456).unwrap();
    case.read(&verified, 0..200_000).unwrap();
    for replicas in [vec![], vec![Input::from(case.place("copy"))]] {
        fs::write(case.place("copy"), &case.bytes).unwrap();
        let opening = Opening { replicas: replicas.clone(), write_back: WriteBack::Yes, ..whole() };
        let verified = Verified::open(opening, &options()).unwrap();
        match case.read(&verified, 0..10) {
            Ok(()) => assert_eq!((replicas.len(), verified.replaced()), (1, 200_000)),
            Err(Error::Unit(unit)) => {
                assert_eq!((replicas.len(), unit.range, unit.expected), (0, 0..200_000, case.root.digest()));
            }
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!(fs::read(case.place("f")).unwrap(), case.bytes);
    // Another length, no root, and a root of unknown format are refused when it is opened.
    let refused = |opening: Opening| match Verified::open(opening, &options()).map(drop) {
        Err(Error::Refused { refusal: Refusal::NotWhole(why), .. }) => why,
        other => panic!("{other:?}"),
    };
    assert!(refused(Opening { expected: None, ..whole() }).contains("a trusted root is needed"));
    let bare = mksum_sums::expected::Expected::parse(&case.root.to_string(), None).unwrap();
    assert!(refused(Opening { expected: Some(bare), ..whole() }).contains("needs the name of its format"));
    case.writable("f").set_len(199_999).unwrap();
    assert!(refused(whole()).contains("it has 199999 bytes: expected 200000"));
    case.writable("f").set_len(0).unwrap();
    assert!(refused(Opening { len: None, ..whole() }).contains("it has no bytes"));
}

#[test]
fn what_was_prefetched_is_not_read_again() {
    let case = Case::new("rfc6962:sha256:64KiB", Numbers(10).bytes(3_000_000));
    let verified = case.open().unwrap();
    verified.prefetch(65_536..1_000_000);
    verified.prefetch(2_999_999..9_000_000);
    verified.prefetch(7_000_000..8_000_000);
    case.writable("f").write_all_at(&[0; 2_000_000], 0).unwrap();
    case.read(&verified, 65_536..1_000_000).unwrap();
    assert!(matches!(case.read(&verified, 0..10), Err(Error::Unit(_))));
    // Damage that is read ahead is an error of the read that wants it.
    verified.prefetch(0..65_536);
    assert!(matches!(case.read(&verified, 10..20), Err(Error::Unit(_))));
    case.read(&verified, 2_990_000..3_000_000).unwrap();
}
