//! Node trees from files and to files.

use mksum::Hash;
use mksum::node_tree::{Aligned, CpuLanes, Merklize, NodeTreeError, Timings};
use mksum_io::{Error, Input, Leaves, Options, Refusal, merklize, random};
use mksum_vectors::{bytes, nodes};
use std::fs;
use std::process::Command;
use std::thread;

const CPU: CpuLanes = CpuLanes { threads: 2 };

#[test]
fn a_file_of_leaves_becomes_a_file_of_nodes() {
    let folder = tempfile::tempdir().unwrap();
    let (leaves, output) = (folder.path().join("leaves"), folder.path().join("nodes"));
    for (hash, levels) in [(Hash::Blake3, 1), (Hash::Sha1, 3), (Hash::Sha3_224, 10), (Hash::Sha512, 15)] {
        let input = bytes(hash.size() << levels);
        fs::write(&leaves, &input).unwrap();
        let done = merklize(Leaves::At(&(&leaves).into()), hash, &CPU, Some(&output), &Options::new()).unwrap();
        let slow = nodes(hash, &input);
        assert!(fs::read(&output).unwrap() == slow, "{} over 2^{levels}", hash.name());
        assert_eq!((done.leaves, &done.root[..]), (1 << levels, &slow[hash.size()..2 * hash.size()]));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}

#[test]
fn a_tree_of_several_subtrees_is_the_same_as_a_whole_one() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("nodes");
    // 2 and 8 times what is in memory at once.
    for (hash, levels) in [(Hash::Blake3, 22), (Hash::Sha1, 24)] {
        let len = hash.size() << levels;
        let leaves = Leaves::Random { seed: 7, len: len as u64 };
        let options = Options::new();
        let done = merklize(leaves, hash, &CPU, Some(&output), &options).unwrap();
        let (mut leaves, mut whole) = (vec![0; len], vec![0xa5; len]);
        random(7, 0, &mut leaves);
        CPU.merklize(hash, &leaves, &mut whole).unwrap();
        assert!(fs::read(&output).unwrap() == whole, "{}", hash.name());
        assert_eq!(done.root, whole[hash.size()..2 * hash.size()]);
        assert_eq!(options.meter.bytes(), len as u64);
        let root =
            merklize(Leaves::Random { seed: 7, len: len as u64 }, hash, &CPU, None, &Options::new()).unwrap().root;
        assert_eq!(root, done.root, "without an output");
    }
}

/// The CPU, with memory that a device can use without copies only.
struct InPlace;

impl Merklize for InPlace {
    fn name(&self) -> String {
        "in place".into()
    }

    fn merklize(&self, hash: Hash, leaves: &[u8], nodes: &mut [u8]) -> Result<Timings, NodeTreeError> {
        assert!([leaves.as_ptr(), nodes.as_ptr()].iter().all(|bytes| bytes.addr().is_multiple_of(Aligned::TO)));
        CPU.merklize(hash, leaves, nodes)
    }
}

#[test]
fn a_device_can_use_leaves_and_nodes_without_copies() {
    let folder = tempfile::tempdir().unwrap();
    let (file, pipe) = (folder.path().join("leaves"), folder.path().join("pipe"));
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    // Of a pipe, memory grows three times and is cut; of random leaves, there are two subtrees and the tree above them.
    let (mut input, random) = (bytes(64 << 16), Leaves::Random { seed: 7, len: 128 << 20 });
    input.truncate(32 << 16);
    fs::write(&file, &input).unwrap();
    let root = nodes(Hash::Blake3, &input)[32..64].to_vec();
    let run = |leaves| merklize(leaves, Hash::Blake3, &InPlace, None, &Options::new()).unwrap().root;
    let (file, named) = (Input::from(&file), Input::from(&pipe));
    assert_eq!(run(Leaves::At(&file)), root);
    thread::scope(|scope| {
        scope.spawn(|| fs::write(&pipe, &input).unwrap());
        assert_eq!(run(Leaves::At(&named)), root);
    });
    run(random);
}

#[test]
fn random_leaves_are_those_of_splitmix64() {
    // The first numbers with seed 1234567, from the test of Java's SplittableRandom as Rosetta Code lists them.
    let expected: [u64; 5] =
        [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821];
    let mut found = [0; 40];
    random(1234567, 0, &mut found);
    assert_eq!(found.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect::<Vec<_>>(), expected);
    let mut middle = [0; 12];
    random(1234567, 16, &mut middle);
    assert_eq!(middle, found[16..28]);
}

#[test]
fn a_failure_leaves_what_was_there() {
    let folder = tempfile::tempdir().unwrap();
    let (leaves, output) = (folder.path().join("leaves"), folder.path().join("nodes"));
    fs::write(&output, "old").unwrap();
    for (len, end) in
        [(0, "at least 64 bytes"), (96, "the nearest lengths are 64 and 128 bytes"), (63, "at least 64 bytes")]
    {
        fs::write(&leaves, vec![1; len]).unwrap();
        let error =
            merklize(Leaves::At(&(&leaves).into()), Hash::Blake3, &CPU, Some(&output), &Options::new()).unwrap_err();
        assert!(matches!(&error, Error::Nodes { path, .. } if *path == *leaves));
        assert!(error.to_string().starts_with(&format!("{len} bytes of leaves")), "{error}");
        assert!(error.to_string().ends_with(end), "{error}");
    }
    fs::write(&leaves, [1; 64]).unwrap();
    let error =
        merklize(Leaves::At(&(&leaves).into()), Hash::Blake3, &CPU, Some(&leaves), &Options::new()).unwrap_err();
    assert!(matches!(error, Error::Refused { refusal: Refusal::Input, .. }), "{error}");
    let error = merklize(Leaves::At(&(&leaves).into()), Hash::Md5, &CPU, Some(&output), &Options::new()).unwrap_err();
    assert!(error.to_string().starts_with("there are no node trees with md5"), "{error}");
    assert_eq!((fs::read(&output).unwrap(), fs::read(&leaves).unwrap()), (b"old".into(), vec![1; 64]));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}
