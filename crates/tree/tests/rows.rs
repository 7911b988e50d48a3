//! Every row of `vectors/rows` from every source: bytes in memory, threads, a stream.

use mksum::{Error, Memory, Plan, Root, Spec};
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

/// The root as text, or `-` where the format has none.
fn text(row: &Row, root: Result<Root, Error>) -> String {
    match root {
        Ok(root) => root.to_string(),
        Err(Error::Length(_)) => "-".into(),
        Err(error) => panic!("{}: {error}", row.at),
    }
}

#[test]
fn memory_gives_each_row_its_root() {
    for (row, spec, input) in rows() {
        assert_eq!(text(&row, spec.root(&input)), row.root, "{}", row.at);
    }
}

#[test]
fn threads_give_each_row_its_root() {
    for ((row, spec, input), turn) in rows().iter().zip(0_u64..) {
        let pieces = row.len / (1 + turn % 40) + turn % 3;
        let plan = Plan { threads: 1 + turn as usize % 8, piece: pieces.max(1), group: 1 + turn as usize % 5 };
        let root = spec.root_parallel(&Memory::new(input), row.len, &plan);
        assert_eq!(text(row, root), row.root, "{} with {plan:?}", row.at);
    }
}

/// The root of a stream in writes of random lengths.
fn streamed(spec: &Spec, input: &[u8], mut seed: u64) -> Result<Root, Error> {
    if !spec.family().streams() {
        assert!(spec.frontier().is_err(), "the length is needed first");
        return spec.root(input);
    }
    let (mut frontier, mut rest) = (spec.frontier()?, input);
    while !rest.is_empty() {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let most = [1, 7, 64, 1000, 65536, 1 << 20, 300_000][(seed >> 33) as usize % 7];
        let (now, later) = rest.split_at((1 + (seed >> 40) as usize % most).min(rest.len()));
        frontier.update(now)?;
        rest = later;
        if seed >> 60 == 0 {
            let so_far = &input[..input.len() - rest.len()];
            assert_eq!(frontier.root().ok(), spec.root(so_far).ok(), "after {} bytes", so_far.len());
        }
    }
    assert_eq!(frontier.position(), input.len() as u64);
    frontier.root()
}

#[test]
fn a_stream_in_random_writes_gives_each_row_its_root() {
    for ((row, spec, input), seed) in rows().iter().zip(1..) {
        assert_eq!(text(row, streamed(spec, input, seed)), row.root, "{}", row.at);
    }
}
