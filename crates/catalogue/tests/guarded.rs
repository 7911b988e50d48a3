//! Catalogues that lost rows, were not finished, are older, or have something planted beside them: an error, or what is true.

mod common;

use common::Tree;
use mksum_catalogue::{Access, Catalogue, Error, diff_catalogues, import, joined_leaves};
use mksum_io::{Options, Stop};
use std::fs;

/// Makes of a catalogue one of the version before, which has no digest of itself.
const OLDER: &str = "DROP TABLE state; PRAGMA user_version = 2";

/// What each command says that vouches for what is in the catalogue.
fn refusals(tree: &Tree) -> Vec<(&'static str, Option<String>)> {
    let words = |error: Error| error.to_string();
    vec![
        ("verify", tree.verify(Access::Write).err().map(words)),
        ("verify without writing", tree.verify(Access::Read).err().map(words)),
        ("update", tree.update().err().map(words)),
        ("repair", tree.repair().err().map(words)),
        ("export", tree.export().err().map(words)),
        ("root", tree.root().err().map(words)),
    ]
}

/// Has all of them refuse the catalogue.
fn refused(tree: &Tree, about: &str, word: &str) {
    for (command, refusal) in refusals(tree) {
        let text = refusal.unwrap_or_else(|| panic!("{command} passes: {about}"));
        assert!(text.contains(word), "{command}: {about}: {text}");
    }
}

#[test]
fn rows_that_are_lost_or_changed_by_others_are_noticed() {
    for change in [
        "DELETE FROM entry",
        "DELETE FROM entry; DELETE FROM root",
        "DELETE FROM entry; DELETE FROM root; DELETE FROM span",
        "DELETE FROM entry WHERE path = CAST('4' AS BLOB); DELETE FROM root WHERE path = CAST('4' AS BLOB)",
        "DELETE FROM root",
        "DELETE FROM root; UPDATE entry SET roots = 0",
        "UPDATE entry SET mtime = mtime + 1 WHERE path = CAST('4' AS BLOB)",
        "UPDATE entry SET repair = 1",
        "UPDATE root SET verified = verified + 1",
        "UPDATE root SET progress = 9 WHERE path = CAST('4' AS BLOB)",
        "UPDATE root SET progress = 900 WHERE path = CAST('4' AS BLOB)",
        "UPDATE root SET progress = -1 WHERE path = CAST('4' AS BLOB)",
        "UPDATE root SET root = zeroblob(32) WHERE path = CAST('4' AS BLOB)",
        "INSERT INTO format (name) VALUES ('md5')",
        "DELETE FROM state",
        "INSERT INTO state SELECT * FROM state",
        "UPDATE state SET rows = rows - 1",
        "UPDATE state SET digest = zeroblob(16)",
        "UPDATE state SET digest = zeroblob(15)",
        "UPDATE state SET walk = 3",
    ] {
        let tree = Tree::kept(8);
        tree.sql(change);
        refused(&tree, change, "");
    }
}

#[test]
fn a_page_of_rows_in_whose_place_is_an_empty_one_is_noticed() {
    let tree = Tree::kept(8);
    let db = rusqlite::Connection::open(tree.catalogue()).unwrap();
    let text = "SELECT rootpage FROM sqlite_schema WHERE name = 'entry'";
    let page = db.query_row(text, [], |row| row.get::<_, i64>(0)).unwrap() as usize;
    drop(db);
    let mut bytes = fs::read(tree.catalogue()).unwrap();
    let page = &mut bytes[(page - 1) * 4096..][..4096];
    page.fill(0);
    page[..7].copy_from_slice(&[0x0a, 0, 0, 0, 0, 0x10, 0]);
    fs::write(tree.catalogue(), bytes).unwrap();
    let db = rusqlite::Connection::open(tree.catalogue()).unwrap();
    let whole: String = db.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(whole, "ok");
    drop(db);
    refused(&tree, "an empty page", "rows");
}

#[test]
fn only_the_tables_of_a_catalogue_are_taken() {
    for change in [
        "CREATE TRIGGER sqliteX AFTER UPDATE ON root BEGIN DELETE FROM entry; END",
        "CREATE TRIGGER sqlite1 AFTER INSERT ON entry BEGIN DELETE FROM root; END",
        "CREATE VIEW sqliteY AS SELECT 1",
        "CREATE INDEX sqliteZ ON root (verified)",
        "CREATE TABLE sqliteT (x)",
        "ANALYZE",
        "DROP INDEX outboards",
    ] {
        let tree = Tree::kept(3);
        tree.sql(change);
        refused(&tree, change, "its tables are not");
    }
}

#[test]
fn a_walk_that_did_not_end_is_not_a_directory() {
    // A transaction has 1,024 rows.
    let tree = Tree::new(1400);
    tree.keep_some(1200);
    let count = tree.known().unwrap().len();
    assert!((1000..1400).contains(&count), "{count}");
    assert!(tree.export().unwrap_err().to_string().contains("mksum update"));
    assert!(tree.root().unwrap_err().to_string().contains("mksum update"));
    let parts = [(b"part".to_vec(), tree.open(Access::Read).unwrap())];
    assert!(joined_leaves(&parts, &["dir:sha256".parse().unwrap()], &mut |_| {}).is_err());
    drop(parts);
    tree.update().unwrap();
    let whole = Tree::kept(1400);
    assert_eq!((tree.export().unwrap(), tree.root().unwrap()), (whole.export().unwrap(), whole.root().unwrap()));
    // A later walk that does not end leaves rows of which each is true.
    tree.write("new", "new");
    tree.write("newer", "newer");
    tree.keep_some(1);
    assert!(tree.export().is_ok() && tree.root().is_ok());
}

#[test]
fn an_imported_list_is_a_list_and_no_directory() {
    let (tree, from) = (Tree::new(5), Tree::kept(3));
    let mut catalogue = Catalogue::create(&tree.catalogue(), &mut || {}).unwrap();
    let list = from.open(Access::Read).unwrap().into_known();
    import(&mut catalogue, tree.path(), list, &Options::new(), &mut |_| {}).unwrap();
    drop(catalogue);
    assert_eq!(tree.export().unwrap(), from.export().unwrap());
    assert!(tree.root().unwrap_err().to_string().contains("mksum update"));
    tree.update().unwrap();
    assert_eq!(tree.root().unwrap(), Tree::kept(5).root().unwrap());
}

#[test]
fn a_catalogue_without_formats_is_an_error_until_it_is_kept() {
    let tree = Tree::new(3);
    drop(Catalogue::create(&tree.catalogue(), &mut || {}).unwrap());
    refused(&tree, "no formats", "mksum keep -r");
    tree.keep().unwrap();
    assert_eq!(tree.verify(Access::Read).unwrap().0.len(), 3);
}

#[test]
fn older_catalogues_are_read_checked_by_their_spans_and_upgraded() {
    let tree = Tree::kept(40);
    let (lines, root) = (tree.export().unwrap(), tree.root().unwrap());
    tree.sql(OLDER);
    assert_eq!((tree.export().unwrap(), tree.root().unwrap()), (lines.clone(), root.clone()));
    assert_eq!(tree.verify(Access::Read).unwrap().0.len(), 40);
    // It has a digest of itself from the first command on that writes.
    assert_eq!(tree.verify(Access::Write).unwrap().0.len(), 40);
    assert_eq!((tree.export().unwrap(), tree.root().unwrap()), (lines.clone(), root.clone()));
    tree.sql("DELETE FROM entry WHERE path = CAST('4' AS BLOB); DELETE FROM root WHERE path = CAST('4' AS BLOB)");
    refused(&tree, "a row of an upgraded catalogue", "rows");
    // Rows that are lost before are noticed by the spans, where there are some.
    let tree = Tree::kept(40);
    tree.sql(OLDER);
    tree.sql("DELETE FROM entry WHERE path = CAST('4' AS BLOB); DELETE FROM root WHERE path = CAST('4' AS BLOB)");
    refused(&tree, "a row of an older catalogue", "spans");
    // Without them, it was interrupted.
    let tree = Tree::kept(40);
    tree.sql(OLDER);
    tree.sql("DELETE FROM span");
    assert!(tree.export().unwrap_err().to_string().contains("mksum update"));
    tree.verify(Access::Write).unwrap();
    assert!(tree.root().unwrap_err().to_string().contains("mksum update"));
    tree.update().unwrap();
    assert_eq!((tree.export().unwrap(), tree.root().unwrap()), (lines, root));
}

#[test]
fn reading_changes_nothing() {
    let (tree, other) = (Tree::kept(5), Tree::kept(5));
    let (bytes, names) = (fs::read(tree.catalogue()).unwrap(), tree.names());
    assert_eq!(names, ["catalogue", "catalogue.lock"]);
    tree.export().unwrap();
    tree.known().unwrap();
    mksum_catalogue::status(&tree.open(Access::Read).unwrap(), tree.path(), &Options::new()).unwrap();
    let sides = (tree.open(Access::Read).unwrap(), other.open(Access::Read).unwrap());
    diff_catalogues(sides.0, sides.1, &Stop::default(), &mut |_| {}).unwrap();
    assert_eq!(tree.verify(Access::Read).unwrap(), (["1", "2", "4", "sub/0", "sub/3"].map(String::from).into(), 0));
    assert_eq!((fs::read(tree.catalogue()).unwrap(), tree.names()), (bytes, names));
}

#[test]
fn what_a_killed_or_failed_making_leaves_is_made_again() {
    let tree = Tree::new(3);
    let folder = tree.path().join(".mksum");
    fs::create_dir(&folder).unwrap();
    let whole = fs::read(Tree::kept(3).catalogue()).unwrap();
    for (name, bytes) in [
        ("catalogue.new", &whole[..0]),
        ("catalogue.new", &whole[..100]),
        ("catalogue.new", &whole[..4096]),
        // The log of a catalogue that is gone is not that of the new one.
        ("catalogue-wal", b"\x37\x7f\x06\x82 and so on"),
    ] {
        fs::write(folder.join(name), bytes).unwrap();
        tree.keep().unwrap();
        assert_eq!(tree.verify(Access::Write).unwrap().0.len(), 3);
        assert_eq!(tree.names(), ["catalogue", "catalogue.lock"]);
        fs::remove_file(tree.catalogue()).unwrap();
    }
    fs::write(folder.join("catalogue.new"), "mine").unwrap();
    assert!(tree.keep().unwrap_err().to_string().contains("move it away"));
    assert_eq!(fs::read(folder.join("catalogue.new")).unwrap(), b"mine");
}

#[cfg(unix)]
mod links {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::path::Path;

    const OUTBOARD: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.mkt";

    /// All files below a folder with their bytes.
    fn content(folder: &Path) -> Vec<(std::path::PathBuf, Option<Vec<u8>>)> {
        let mut all = Vec::new();
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                all.extend(content(&path));
            }
            all.push((path.clone(), fs::read(&path).ok()));
        }
        all.sort();
        all
    }

    #[test]
    fn planted_links_lead_nowhere() {
        for (name, target) in [
            ("catalogue.trees", "trees"),
            ("catalogue.lock", "absent"),
            ("catalogue.lock", "file"),
            ("catalogue.new", "absent"),
            ("catalogue", "absent"),
            ("catalogue", "foreign"),
            ("catalogue-wal", "absent"),
            ("catalogue-wal", "file"),
            ("catalogue-shm", "absent"),
            ("catalogue-journal", "file"),
        ] {
            for is_kept in [false, true] {
                let outside = tempfile::tempdir().unwrap();
                fs::create_dir(outside.path().join("trees")).unwrap();
                fs::write(outside.path().join("trees").join(OUTBOARD), "tree").unwrap();
                fs::write(outside.path().join("file"), "").unwrap();
                fs::copy(Tree::kept(3).catalogue(), outside.path().join("foreign")).unwrap();
                let before = content(outside.path());
                let tree = if is_kept { Tree::kept(3) } else { Tree::new(3) };
                let folder = tree.path().join(".mksum");
                fs::create_dir_all(&folder).unwrap();
                let _ = fs::remove_file(folder.join(name));
                symlink(outside.path().join(target), folder.join(name)).unwrap();
                let kept = tree.keep();
                // What is in the way of a new catalogue is not in that of one that is there.
                if !(is_kept && name == "catalogue.new") {
                    let error = kept.unwrap_err();
                    assert!(error.to_string().contains("symbolic link"), "{name}: {error}");
                    assert_eq!(*error.input(), *folder.join(name));
                }
                let _ = (tree.update(), tree.verify(Access::Write), tree.repair(), tree.export());
                assert_eq!(content(outside.path()), before, "{name} to {target}");
                assert!(folder.join(name).is_symlink());
            }
        }
    }

    #[test]
    fn the_folder_is_no_link() {
        let (tree, outside) = (Tree::new(3), Tree::kept(3));
        let before = content(&outside.path().join(".mksum"));
        symlink(outside.path().join(".mksum"), tree.path().join(".mksum")).unwrap();
        assert!(tree.keep().unwrap_err().to_string().contains("symbolic link"));
        assert!(tree.export().unwrap_err().to_string().contains("symbolic link"));
        assert!(tree.update().is_err() && tree.verify(Access::Write).is_err());
        assert_eq!(content(&outside.path().join(".mksum")), before);
        // A directory may be reached through one, and a catalogue that is named be read through one.
        let link = tree.path().join("link");
        symlink(outside.path(), &link).unwrap();
        let place = mksum_catalogue::place(&link);
        assert!(Catalogue::open(&place, Access::Write, &mut || {}).is_ok());
        let named = tree.path().join("named");
        symlink(outside.catalogue(), &named).unwrap();
        assert!(Catalogue::open(&named, Access::Read, &mut || {}).unwrap().check().is_ok());
        assert!(Catalogue::open(&named, Access::Write, &mut || {}).is_err());
        assert!(Catalogue::create(&named, &mut || {}).is_err());
    }

    #[test]
    fn pipes_and_folders_in_the_way_are_refused() {
        let make_pipe =
            |place: &Path| assert!(std::process::Command::new("mkfifo").arg(place).status().unwrap().success());
        for name in
            ["catalogue", "catalogue.lock", "catalogue.new", "catalogue.trees", "catalogue-wal", "catalogue-shm"]
        {
            for kind in ["pipe", "folder", "file"] {
                let tree = Tree::new(3);
                let place = tree.path().join(".mksum").join(name);
                fs::create_dir(tree.path().join(".mksum")).unwrap();
                match kind {
                    "pipe" => make_pipe(&place),
                    "folder" => fs::create_dir(&place).unwrap(),
                    _ => fs::write(&place, "mine").unwrap(),
                }
                let usable = matches!(
                    (name, kind),
                    ("catalogue.trees", "folder") | ("catalogue.lock" | "catalogue-shm", "file")
                );
                assert_eq!(tree.keep().is_ok(), usable, "{name}: {kind}");
                assert!(usable || fs::symlink_metadata(&place).is_ok(), "{name}: {kind}");
            }
        }
    }

    #[test]
    fn trees_are_not_written_through_links() {
        let tree = Tree::new(1);
        tree.write("long", vec![7; 9 << 20]);
        let trees = tree.path().join(".mksum/catalogue.trees");
        let outside = tempfile::tempdir().unwrap();
        // The name until the root is known, which anybody can compute.
        let draft = format!("{}.mkt", "sha256".parse::<mksum::Spec>().unwrap().root(b"long").unwrap());
        for end in ["", ".part"] {
            fs::create_dir_all(&trees).unwrap();
            symlink(outside.path().join("absent"), trees.join(format!("{draft}{end}"))).unwrap();
            let mut catalogue = Catalogue::create(&tree.catalogue(), &mut || {}).unwrap();
            catalogue.add_formats(&[mksum::Spec::default()]).unwrap();
            let kept = mksum_catalogue::update(&mut catalogue, tree.path(), &Options::new(), &mut |_| {});
            assert!(kept.unwrap_err().to_string().contains("symbolic link"));
            assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
            fs::remove_dir_all(&trees).unwrap();
        }
        // What is no file of mksum's stays.
        tree.update().unwrap();
        fs::create_dir(trees.join(OUTBOARD)).unwrap();
        fs::write(trees.join("note"), "mine").unwrap();
        tree.update().unwrap();
        assert!(trees.join(OUTBOARD).is_dir() && trees.join("note").is_file());
    }
}
