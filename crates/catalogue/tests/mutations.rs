//! Thousands of mutations of a small catalogue, the same in each run: of each, every command gives an error or what is true.

mod common;

use common::Tree;
use mksum_catalogue::{Access, Catalogue, diff_catalogues};
use mksum_io::Stop;
use rusqlite::Connection;
use std::fs;

const BYTES: usize = 2000;
const ROWS: usize = 500;

/// Numbers that look random, by xorshift.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }
}

/// The catalogue of a directory in which a file is damaged, and what is true of it.
struct Case {
    tree: Tree,
    whole: Vec<u8>,
    copy: std::path::PathBuf,
    lines: Vec<u8>,
    root: String,
    good: Vec<String>,
}

impl Case {
    fn new() -> Case {
        let tree = Tree::kept(12);
        let (lines, root) = (tree.export().unwrap(), tree.root().unwrap());
        tree.write("4", "Content 4");
        let (good, others) = tree.verify(Access::Write).unwrap();
        assert_eq!((good.len(), others), (11, 1));
        let copy = tree.path().join(".mksum/copy");
        fs::copy(tree.catalogue(), &copy).unwrap();
        let whole = fs::read(&copy).unwrap();
        Case { tree, whole, copy, lines, root, good }
    }

    /// Puts bytes in the place of the catalogue.
    fn put(&self, bytes: &[u8]) {
        for end in ["", "-wal", "-shm", "-journal"] {
            let _ = fs::remove_file(self.tree.path().join(format!(".mksum/catalogue{end}")));
        }
        fs::write(self.tree.catalogue(), bytes).unwrap();
    }

    /// Whether the catalogue passes; fails if something is said that is not true.
    fn passes(&self, what: &str) -> bool {
        if let Ok(lines) = self.tree.export() {
            assert!(lines == self.lines, "{what}: export");
        }
        if let Ok(root) = self.tree.root() {
            assert!(root == self.root, "{what}: root");
        }
        let _ = self.tree.known();
        let verified = self.tree.verify(Access::Read);
        if let Ok((good, others)) = &verified {
            assert!((good, *others) == (&self.good, 1), "{what}: verify {good:?} {others}");
            // Spans say what rows are: they are damaged where these are not.
            let open = |path| Catalogue::open(path, Access::Read, &mut || {});
            if let (Ok(one), Ok(other)) = (open(&self.tree.catalogue()), open(&self.copy)) {
                let found = diff_catalogues(one, other, &Stop::default(), &mut |_| {});
                assert!(found.is_err() || found.is_ok_and(|equal| equal == 13), "{what}: diff");
            }
        }
        verified.is_ok()
    }

    /// The same after a command that writes: nothing that is damaged becomes right.
    fn passes_after_an_update(&self, what: &str) {
        let updated = self.tree.update();
        assert!(!self.passes(what) || updated.is_ok(), "{what}: {updated:?}");
    }
}

#[test]
fn mutated_bytes_are_errors_or_change_nothing() {
    let (case, mut numbers) = (Case::new(), Numbers(0x2545_f491_4f6c_dd1d));
    let (len, pages) = (case.whole.len(), case.whole.len() / 4096);
    let used: Vec<_> = (1..len).filter(|&at| case.whole[at] != 0 || case.whole[at - 1] != 0).collect();
    let mut passed = 0;
    for number in 0..BYTES {
        let mut bytes = case.whole.clone();
        let (at, value) = (used[numbers.below(used.len())], numbers.below(256) as u8);
        let what = match numbers.below(10) {
            0 => {
                let (from, to) = (numbers.below(pages) * 4096, numbers.below(pages) * 4096);
                bytes.copy_within(from..from + 4096, to);
                format!("page {from} at {to}")
            }
            1 => {
                let end = (at + 1 + numbers.below(200)).min(len);
                bytes[at..end].fill(0);
                format!("zeros at {at}..{end}")
            }
            2 => {
                bytes.truncate(at);
                format!("the first {at} bytes")
            }
            3 => {
                // A page without rows, of an index or of a table.
                let page = &mut bytes[(1 + numbers.below(pages - 1)) * 4096..][..4096];
                page[..8].copy_from_slice(&[if value % 4 == 0 { 0x0d } else { 0x0a }, 0, 0, 0, 0, 0x10, 0, 0]);
                format!("an empty page, {number}")
            }
            4 => {
                bytes[at] ^= 1 << (value % 8);
                bytes[used[numbers.below(used.len())]] = value;
                format!("bits at {at}, {number}")
            }
            _ => {
                bytes[at] = bytes[at].wrapping_add(value.max(1));
                format!("byte {at} + {value}")
            }
        };
        case.put(&bytes);
        passed += usize::from(case.passes(&what));
        if number % 8 == 0 {
            case.passes_after_an_update(&what);
        }
    }
    // Some are of bytes that nothing reads.
    assert!(passed > 10 && passed < BYTES / 2, "{passed} of {BYTES}");
}

#[test]
fn mutated_rows_are_errors() {
    let (case, mut numbers) = (Case::new(), Numbers(0x9e37_79b9_7f4a_7c15));
    let columns = [
        ("format", &["id", "name"][..]),
        ("entry", &["path", "type", "size", "mtime", "inode", "device", "mode", "link", "roots", "repair"]),
        ("root", &["path", "format", "root", "verified", "by", "outboard", "progress"]),
        ("state", &["walk", "rows", "digest"]),
    ];
    for number in 0..ROWS {
        case.put(&case.whole);
        let (table, columns) = columns[numbers.below(columns.len())];
        let (column, other) = (columns[numbers.below(columns.len())], numbers.below(13));
        let one = format!("{0} IN (SELECT {0} FROM {table} LIMIT 1 OFFSET {other})", columns[0]);
        let value = ["X''", "''", "0", "1", "-1", "NULL", "'sha512'", "zeroblob(32)", "CAST('4' AS BLOB)", "1 << 62"];
        let value = value[numbers.below(value.len())];
        let text = match numbers.below(5) {
            0 => format!("DELETE FROM {table} WHERE {one}"),
            1 => format!("DELETE FROM {table}"),
            2 => format!("UPDATE OR REPLACE {table} SET \"{column}\" = \"{column}\" || X'01' WHERE {one}"),
            _ => format!("UPDATE OR REPLACE {table} SET \"{column}\" = {value} WHERE {one}"),
        };
        let db = Connection::open(case.tree.catalogue()).unwrap();
        // Many values are none of the column.
        let _ = db.execute(&text, []);
        drop(db);
        assert_eq!(case.passes(&text), is_the_same(&case), "{text}");
        if number % 8 == 0 {
            case.passes_after_an_update(&text);
        }
    }
}

/// Whether the tables have the rows that they had.
fn is_the_same(case: &Case) -> bool {
    let rows = |path: &std::path::Path| {
        let db = Connection::open(path).unwrap();
        let mut all = Vec::new();
        for table in ["format", "entry", "root", "state"] {
            let mut statement = db.prepare(&format!("SELECT * FROM {table}")).unwrap();
            let columns = statement.column_count();
            let mut rows = statement.query([]).unwrap();
            while let Some(row) = rows.next().unwrap() {
                all.extend((0..columns).map(|index| row.get::<_, rusqlite::types::Value>(index).unwrap()));
            }
        }
        all
    };
    rows(&case.tree.catalogue()) == rows(&case.copy)
}
