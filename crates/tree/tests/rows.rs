//! Every row of `vectors/rows` from every source: bytes in memory, threads, a stream.

use mksum::{Error, Format, Memory, NodeHash, Plan, Shape, Spec, Visitor};
use std::fs;
use std::path::Path;

struct Row {
    at: String,
    spec: Spec,
    input: Vec<u8>,
    root: String,
}

fn rows() -> Vec<Row> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/rows");
    let mut rows = Vec::new();
    for entry in fs::read_dir(&folder).expect("vectors/rows") {
        let path = entry.unwrap().path();
        for (line, number) in fs::read_to_string(&path).unwrap().lines().zip(1..) {
            if line.starts_with('#') {
                continue;
            }
            let at = format!("{}:{number}", path.display());
            let columns: Vec<_> = line.split('\t').collect();
            let [format, input, len, root, _source] = columns[..] else { panic!("{at}: not five columns") };
            let spec: Spec = format.parse().unwrap_or_else(|error| panic!("{at}: {error}"));
            assert_eq!(spec.to_string(), format, "{at}: not in the canonical form");
            let byte: fn(u64) -> u8 = match input {
                "mod251" => |i| (i % 251) as u8,
                "pat" => |i| (i * 131 + (i >> 8) * 17) as u8,
                other => panic!("{at}: unknown input {other}"),
            };
            let input = (0..len.parse().unwrap()).map(byte).collect();
            rows.push(Row { at, spec, input, root: root.into() });
        }
    }
    assert!(rows.len() > 1000, "only {} rows", rows.len());
    rows
}

/// The root by way of a source, or `-` where the format has none.
fn text<V>(row: &Row, visitor: V) -> String
where
    V: Visitor<Output = Result<Vec<u8>, Error>>,
{
    match row.spec.visit(visitor) {
        Ok(digest) => row.spec.sealed(row.input.len() as u64, digest).to_string(),
        Err(Error::Length(_)) => "-".into(),
        Err(error) => panic!("{}: {error}", row.at),
    }
}

#[test]
fn memory_gives_each_row_its_root() {
    for row in rows() {
        let root = match row.spec.root(&row.input) {
            Ok(root) => root.to_string(),
            Err(Error::Length(_)) => "-".into(),
            Err(error) => panic!("{}: {error}", row.at),
        };
        assert_eq!(root, row.root, "{}", row.at);
    }
}

struct Parallel<'a>(&'a [u8], Plan);

impl Visitor for Parallel<'_> {
    type Output = Result<Vec<u8>, Error>;

    fn visit<const N: usize, H: NodeHash<Digest = [u8; N]>>(self, format: &Format<H>) -> Self::Output {
        Ok(format.root_parallel(&Memory::new(self.0), self.0.len() as u64, &self.1)?.into())
    }
}

#[test]
fn threads_give_each_row_its_root() {
    for (row, turn) in rows().iter().zip(0_u64..) {
        let pieces = row.input.len() as u64 / (1 + turn % 40) + turn % 3;
        let plan = Plan { threads: 1 + turn as usize % 8, piece: pieces.max(1), group: 1 + turn as usize % 5 };
        assert_eq!(text(row, Parallel(&row.input, plan)), row.root, "{} with {plan:?}", row.at);
    }
}

struct Stream<'a>(&'a [u8], u64);

impl Visitor for Stream<'_> {
    type Output = Result<Vec<u8>, Error>;

    fn visit<const N: usize, H: NodeHash<Digest = [u8; N]>>(self, format: &Format<H>) -> Self::Output {
        if let Shape::Halved { .. } = format.shape {
            assert!(format.frontier().is_err(), "mtsum needs the length first");
            return Ok(format.hash(self.0)?.into());
        }
        let mut frontier = format.frontier().unwrap();
        let (mut rest, mut seed) = (self.0, self.1);
        while !rest.is_empty() {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let most = [1, 7, 64, 1000, 65536, 1 << 20, 300_000][(seed >> 33) as usize % 7];
            let (now, later) = rest.split_at((1 + (seed >> 40) as usize % most).min(rest.len()));
            frontier.update(now)?;
            rest = later;
            if seed >> 60 == 0 {
                let so_far = &self.0[..self.0.len() - rest.len()];
                assert_eq!(frontier.root().ok(), format.hash(so_far).ok(), "after {} bytes", so_far.len());
            }
        }
        assert_eq!(frontier.position(), self.0.len() as u64);
        Ok(frontier.root()?.into())
    }
}

#[test]
fn a_stream_in_random_writes_gives_each_row_its_root() {
    for (row, seed) in rows().iter().zip(1..) {
        assert_eq!(text(row, Stream(&row.input, seed)), row.root, "{}", row.at);
    }
}
