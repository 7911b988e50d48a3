//! Every row of `vectors/rows` from every source: bytes in memory, threads, a stream.

use mksum::{Error, Format, Memory, NodeHash, Plan, Shape, Spec, Visitor};
use mksum_vectors::Row;

/// Each row with its format and its input.
fn rows() -> Vec<(Row, Spec, Vec<u8>)> {
    let parsed = |row: Row| {
        let spec: Spec = row.format.parse().unwrap_or_else(|error| panic!("{}: {error}", row.at));
        assert_eq!(spec.to_string(), row.format, "{}: not in the canonical form", row.at);
        let input = row.input();
        (row, spec, input)
    };
    mksum_vectors::rows().into_iter().map(parsed).collect()
}

/// The root by way of a source, or `-` where the format has none.
fn text<V>(row: &Row, spec: &Spec, visitor: V) -> String
where
    V: Visitor<Output = Result<Vec<u8>, Error>>,
{
    match spec.visit(visitor) {
        Ok(digest) => spec.sealed(row.len, digest).to_string(),
        Err(Error::Length(_)) => "-".into(),
        Err(error) => panic!("{}: {error}", row.at),
    }
}

#[test]
fn memory_gives_each_row_its_root() {
    for (row, spec, input) in rows() {
        let root = match spec.root(&input) {
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
    for ((row, spec, input), turn) in rows().iter().zip(0_u64..) {
        let pieces = row.len / (1 + turn % 40) + turn % 3;
        let plan = Plan { threads: 1 + turn as usize % 8, piece: pieces.max(1), group: 1 + turn as usize % 5 };
        assert_eq!(text(row, spec, Parallel(input, plan)), row.root, "{} with {plan:?}", row.at);
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
    for ((row, spec, input), seed) in rows().iter().zip(1..) {
        assert_eq!(text(row, spec, Stream(input, seed)), row.root, "{}", row.at);
    }
}
