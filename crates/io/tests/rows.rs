//! Every row of `vectors/rows` from files and from pipes.

use mksum_io::{Error, Job, Mode, Options, Roots, hash, hash_all};
use mksum_vectors::{Pattern, Row, rows};
use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::slice;
use tempfile::TempDir;

/// A folder with a file for each input of the rows.
fn inputs(rows: &[Row]) -> (TempDir, BTreeMap<(Pattern, u64), PathBuf>) {
    let folder = tempfile::tempdir().unwrap();
    let mut paths = BTreeMap::new();
    for row in rows {
        paths.entry((row.pattern, row.len)).or_insert_with(|| {
            let path = folder.path().join(format!("{:?}-{}", row.pattern, row.len));
            fs::write(&path, row.input()).unwrap();
            path
        });
    }
    (folder, paths)
}

fn job(path: &Path, rows: &[Row]) -> Job {
    Job::new(path.into(), rows.iter().map(|row| row.format.parse().unwrap()).collect())
}

fn text(row: &Row, result: Result<Roots, Error>) -> String {
    match result.and_then(|mut roots| roots.remove(0)) {
        Ok(root) => root.to_string(),
        Err(Error::Format { error: mksum::Error::Length(_), .. }) => "-".into(),
        Err(error) => panic!("{}: {}: {error}", row.at, error.input()),
    }
}

#[test]
fn files_give_each_row_its_root() {
    let rows = rows();
    let (_folder, paths) = inputs(&rows);
    for (row, turn) in rows.iter().zip(0..) {
        let mode = [Mode::Auto, Mode::Buffered, Mode::Direct][turn % 3];
        let options = Options { threads: 1 + turn % 8, mode, ..Options::new() };
        let root = text(row, hash(&job(&paths[&(row.pattern, row.len)], slice::from_ref(row)), &options));
        assert_eq!(root, row.root, "{} with {options:?}", row.at);
    }
}

#[test]
fn many_files_at_once_give_each_row_its_root_in_order() {
    let rows = rows();
    let (_folder, paths) = inputs(&rows);
    for threads in [1, 2, 5] {
        let jobs = rows.iter().map(|row| job(&paths[&(row.pattern, row.len)], slice::from_ref(row)));
        let mut told = rows.iter();
        hash_all(jobs, &Options { threads, ..Options::new() }, |_, result, _| {
            let row = told.next().unwrap();
            assert_eq!(text(row, result), row.root, "{} with {threads} threads", row.at);
            ControlFlow::Continue(())
        });
        assert!(told.next().is_none());
    }
}

#[test]
fn all_formats_in_one_read_give_each_row_its_root() {
    let rows = rows();
    let (_folder, paths) = inputs(&rows);
    for (&(pattern, len), path) in &paths {
        let of_input = |row: &&Row| (row.pattern, row.len) == (pattern, len) && row.root != "-";
        let wanted: Vec<_> = rows.iter().filter(of_input).cloned().collect();
        let roots = hash(&job(path, &wanted), &Options { threads: 2, ..Options::new() }).unwrap();
        for (row, root) in wanted.iter().zip(roots) {
            assert_eq!(root.unwrap().to_string(), row.root, "{}", row.at);
        }
    }
}

#[cfg(unix)]
#[test]
fn pipes_with_short_writes_give_each_row_its_root() {
    use std::io::Write;
    let rows = rows();
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for (row, turn) in rows.iter().zip(0..) {
        // Every row of a length that a pipe holds is slow to write in pieces: those of many bytes take larger ones.
        let write = [row.len as usize / 3 + 1, 1 << 16, row.len as usize / 50 + 7][turn % 3];
        let root = std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut pipe = fs::OpenOptions::new().write(true).open(&pipe).unwrap();
                // The other end may hang up: a format that needs the length first does so at once.
                let _ = row.input().chunks(write).try_for_each(|bytes| pipe.write_all(bytes));
            });
            hash(&job(&pipe, slice::from_ref(row)), &Options { threads: 1 + turn % 4, ..Options::new() })
        });
        if !row.format.parse::<mksum::Spec>().unwrap().family().streams() {
            let refused = root.unwrap().remove(0);
            assert!(matches!(refused, Err(Error::Format { error: mksum::Error::NeedsLength(_), .. })), "{}", row.at);
        } else {
            assert_eq!(text(row, root), row.root, "{}", row.at);
        }
    }
}
