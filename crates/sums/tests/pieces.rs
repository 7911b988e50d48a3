//! Torrents and metalinks: what is read of them, what is refused, and thousands of changed ones.

use mksum::outboard::Outboard;
use mksum::{Role, Spec};
use mksum_sums::pieces::bencode::Made;
use mksum_sums::pieces::{Manifest, Pieces, flat, write_metalink};
use mksum_sums::url::Url;
use std::path::Path;

const KIB: usize = 1 << 10;

fn noise(len: usize) -> Vec<u8> {
    (0..len as u64).map(|at| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}

fn sha1(bytes: &[u8]) -> Vec<u8> {
    "sha1".parse::<Spec>().unwrap().root(bytes).unwrap().digest().as_bytes().to_vec()
}

fn read(bytes: &[u8]) -> Result<Manifest, String> {
    Manifest::read(bytes).expect("it begins as one")
}

/// A v1 torrent of files with these paths and attributes.
fn v1(name: &str, files: &[(&[&str], usize, &str)], content: &[u8], piece: usize) -> Made {
    let file = |(path, len, attributes): &(&[&str], usize, &str)| {
        let path = path.iter().map(|part| Made::text(part)).collect();
        Made::dict([
            ("attr", Made::text(attributes)),
            ("length", Made::Integer(*len as u64)),
            ("path", Made::List(path)),
        ])
    };
    let sums = content.chunks(piece).flat_map(sha1).collect();
    Made::dict([(
        "info",
        Made::dict([
            ("files", Made::List(files.iter().map(file).collect())),
            ("name", Made::text(name)),
            ("piece length", Made::Integer(piece as u64)),
            ("pieces", Made::Bytes(sums)),
        ]),
    )])
}

/// A v2 torrent of one file, with the layer of its pieces, each joined by itself.
fn v2(name: &str, content: &[u8], piece: usize) -> Made {
    let spec: Spec = "btv2".parse().unwrap();
    let root = spec.root(content).unwrap().digest().as_bytes().to_vec();
    let zero = [0; 32];
    // The definition (BEP 52): blocks of 16 KiB, and zeros for those that are missing up to a power of two.
    let blocks = |bytes: &[u8]| -> Vec<[u8; 32]> {
        let sha256: Spec = "sha256".parse().unwrap();
        let sum = |block: &[u8]| sha256.root(block).unwrap().digest().as_bytes().try_into().unwrap();
        bytes.chunks(16 * KIB).map(sum).collect()
    };
    let layer: Vec<u8> = content
        .chunks(piece)
        .flat_map(|bytes| {
            let mut nodes = blocks(bytes);
            nodes.resize(piece / (16 * KIB), zero);
            while nodes.len() > 1 {
                let sha256: Spec = "sha256".parse().unwrap();
                let pair = |pair: &[[u8; 32]]| {
                    sha256.root(pair.as_flattened()).unwrap().digest().as_bytes().try_into().unwrap()
                };
                nodes = nodes.chunks(2).map(pair).collect();
            }
            nodes[0]
        })
        .collect();
    let mut file = Made::dict([("length", Made::Integer(content.len() as u64))]);
    file.set("pieces root", Made::Bytes(root.clone()));
    let tree = Made::Dict([(name.into(), Made::dict([("", file)]))].into());
    let layers = if content.len() > piece { [(root, Made::Bytes(layer))].into() } else { Default::default() };
    Made::dict([
        (
            "info",
            Made::dict([
                ("file tree", tree),
                ("meta version", Made::Integer(2)),
                ("name", Made::text(name)),
                ("piece length", Made::Integer(piece as u64)),
            ]),
        ),
        ("piece layers", Made::Dict(layers)),
    ])
}

#[test]
fn pieces_are_outboards_that_find_damage() {
    for len in [1, 16 * KIB - 1, 16 * KIB, 16 * KIB + 1, 64 * KIB - 1, 64 * KIB, 64 * KIB + 1, 300_000, 320 * KIB + 1] {
        let content = noise(len);
        for torrent in [v2("a", &content, 64 * KIB), v1("a", &[], &content, 64 * KIB)] {
            let is_v1 = matches!(&torrent, Made::Dict(entries) if entries.len() == 1);
            let mut torrent = torrent;
            if let (true, Made::Dict(entries)) = (is_v1, &mut torrent)
                && let Some(Made::Dict(info)) = entries.get_mut(&b"info"[..])
            {
                info.remove(&b"files"[..]);
                info.insert(b"length".to_vec(), Made::Integer(len as u64));
            }
            let manifest = read(&torrent.encode()).unwrap();
            let [file] = &manifest.files[..] else { panic!("one file") };
            assert_eq!((&*file.path, file.len, manifest.info_hashes.len()), (Path::new("a"), Some(len as u64), 1));
            let (spec, expected) = file.sum.as_ref().unwrap();
            assert!(expected.matches(&spec.root(&content).unwrap()), "{len}");
            let Some(pieces) = &file.pieces else {
                assert!(!is_v1 && len <= 64 * KIB);
                continue;
            };
            let outboard = Outboard::open(pieces.outboard().unwrap()).unwrap();
            assert_eq!(outboard.damaged_in(&content).unwrap().len(), 0, "{len}");
            let mut changed = content.clone();
            changed[len - 1] ^= 1;
            let found = outboard.damaged_in(&changed).unwrap();
            let start = (len - 1) / (64 * KIB) * 64 * KIB;
            assert_eq!((found.len(), found[0].start, found[0].end()), (1, start as u64, len as u64), "{len}");
        }
    }
}

#[test]
fn pieces_that_span_files_are_joint() {
    let content = noise(100_000);
    let files: &[(&[&str], usize, &str)] =
        &[(&["a"], 30_000, ""), (&["b", "c"], 60_000, "x"), (&[".pad", "0"], 10_000, "p")];
    let manifest = read(&v1("d", files, &content, 32 * KIB).encode()).unwrap();
    let paths: Vec<_> = manifest.files.iter().map(|file| file.path.to_str().unwrap()).collect();
    assert_eq!(paths, ["d/a", "d/b/c"]);
    let joint = manifest.joint.unwrap();
    assert_eq!(joint.parts, [(Some(0), 30_000), (Some(1), 60_000), (None, 10_000)]);
    let mut hasher = joint.pieces.spec().leaf_hasher(&[mksum::Subtree { start: 0, len: 32 * KIB as u64, level: 0 }]);
    hasher.update(mksum::Messages::one(&content[..32 * KIB]));
    assert_eq!(joint.pieces.get(0), Some(hasher.finish_one(Role::Inner)));
}

#[test]
fn what_leads_out_of_the_folder_is_refused() {
    for part in ["..", ".", "", "a/b", "/", "a\\b", "a\0b"] {
        let files: &[(&[&str], usize, &str)] = &[(&["a", part], 5, ""), (&["b"], 5, "")];
        assert!(read(&v1("d", files, &noise(10), 16 * KIB).encode()).is_err(), "{part:?}");
        assert!(read(&v2(part, &noise(10), 16 * KIB).encode()).is_err(), "{part:?}");
    }
    let twins: &[(&[&str], usize, &str)] = &[(&["a"], 5, ""), (&["a"], 5, "")];
    assert!(read(&v1("d", twins, &noise(10), 16 * KIB).encode()).is_err());
    let meta4 = metalink(&noise(10), "../a");
    assert_eq!(read(meta4.as_bytes()).unwrap().refused.len(), 1);
}

fn metalink(content: &[u8], name: &str) -> String {
    let sha256: Spec = "sha256".parse().unwrap();
    let sum = |bytes: &[u8]| sha256.root(bytes).unwrap().to_string();
    let pieces: String = content.chunks(1000).map(|piece| format!("<hash>{}</hash>\n", sum(piece))).collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- x -->\n<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\">\n<generator>x</generator>\
         <file name=\"{name}\"><size>{}</size><hash type=\"sha-256\">{}</hash><hash type=\"sha-1\">00</hash>\
         <pieces length=\"1000\" type=\"sha-256\">{pieces}</pieces>\
         <url priority=\"2\">http://host/two?a=1&amp;b=2</url><url priority=\"1\">https://host/one</url><url>ftp://host/a</url></file></metalink>\n",
        content.len(),
        sum(content)
    )
}

#[test]
fn metalinks_are_read() {
    let content = noise(2500);
    let manifest = read(metalink(&content, "a/b &amp; c").as_bytes()).unwrap();
    let [file] = &manifest.files[..] else { panic!("one file") };
    assert_eq!((&*file.path, file.len), (Path::new("a/b & c"), Some(2500)));
    let mirrors: Vec<_> = file.mirrors.iter().map(|url| url.as_str()).collect();
    assert_eq!((mirrors, manifest.refused.len()), (vec!["https://host/one", "http://host/two?a=1&b=2"], 1));
    let (spec, expected) = file.sum.as_ref().unwrap();
    assert!(expected.matches(&spec.root(&content).unwrap()));
    let outboard = Outboard::open(file.pieces.as_ref().unwrap().outboard().unwrap()).unwrap();
    assert_eq!(outboard.damaged_in(&content).unwrap().len(), 0);
    for wrong in [
        "<metalink/>",
        "<metalink>",
        "<?xml version=\"1.0\"?>",
        "<!-- -->",
        "<?xml version=\"1.0\"?><!DOCTYPE a><metalink/>",
    ] {
        assert!(read(wrong.as_bytes()).is_err(), "{wrong}");
    }
    assert!(Manifest::read(b"d41d8cd98f00b204e9800998ecf8427e  a\n").is_none() && Manifest::read(b"").is_none());
}

#[test]
fn changed_ones_do_not_panic_and_never_lead_out_of_the_folder() {
    let content = noise(300_000);
    let files: &[(&[&str], usize, &str)] = &[(&["a"], 250_000, ""), (&["b", "c"], 50_000, "")];
    let originals = [
        v1("d", files, &content, 64 * KIB).encode(),
        v2("d", &content, 64 * KIB).encode(),
        metalink(&content[..5000], "a").into_bytes(),
    ];
    let mut state = 7_u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut accepted = 0;
    for turn in 0..6000 {
        let mut bytes = originals[turn % 3].clone();
        for _ in 0..1 + random(3) {
            let at = random(bytes.len());
            match random(5) {
                0 => bytes[at] ^= 1 << random(8),
                1 => bytes[at] = b"0123456789dlie:<>/&\""[random(20)],
                2 => drop(bytes.remove(at)),
                3 => bytes.insert(at, b"0123456789dlie:<>/&\""[random(20)]),
                _ => bytes.truncate(at.max(2)),
            }
        }
        let Some(Ok(manifest)) = Manifest::read(&bytes) else { continue };
        accepted += 1;
        for file in &manifest.files {
            assert!(
                file.path.components().all(|part| matches!(part, std::path::Component::Normal(_))),
                "{:?}",
                file.path
            );
            if let Some(pieces) = &file.pieces {
                let outboard = Outboard::open(pieces.outboard().unwrap()).unwrap();
                assert_eq!(Some(outboard.len()), file.len);
            }
        }
    }
    assert!(accepted > 100, "{accepted}");
}

#[test]
fn a_metalink_that_is_written_is_read() {
    let content = noise(300 * KIB + 1);
    let (sha256, flat): (Spec, Spec) = ("sha256".parse().unwrap(), flat("sha256", 64 << 10).unwrap());
    let sum = sha256.root(&content).unwrap();
    let digests = content.chunks(64 * KIB).flat_map(|piece| sha256.root(piece).unwrap().digest().as_bytes().to_vec());
    let pieces = Pieces::new(flat, (content.len() as u64, 64 << 10), digests.collect()).unwrap();
    let mirrors = ["https://one/a?b&c=%20", "http://two/d'e"].map(|url| Url::parse(url).unwrap());
    for name in ["a", "it's <a> & \"b\" ]]>", "&amp;", "\u{e4} \u{65e5}"] {
        let text = write_metalink(name, &sum, Some(&pieces), &mirrors).unwrap();
        let read = read(text.as_bytes()).unwrap();
        let [file] = &read.files[..] else { panic!("{text}") };
        assert_eq!((&*file.path, file.len, &file.mirrors[..]), (Path::new(name), Some(sum.len()), &mirrors[..]));
        assert!(file.sum.as_ref().unwrap().1.matches(&sum));
        let found = file.pieces.as_ref().unwrap();
        assert_eq!(
            (found.spec(), found.piece(), found.root().unwrap()),
            (pieces.spec(), 64 << 10, pieces.root().unwrap())
        );
    }
    let other = "blake3".parse::<Spec>().unwrap().root(&content).unwrap();
    assert_eq!(write_metalink("a", &other, None, &[]).unwrap_err(), "metalinks have no sums of blake3");
}
