//! Every object that `--json` prints is as spec/json.md says, and every kind on that page is printed.

#[cfg(target_os = "linux")]
mod disk;

use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The kinds without a path.
const WITHOUT_PATH: [&str; 4] = ["cpu", "format", "gpus", "kernels"];

/// The fields of a kind, each with its type as the page has it.
type Fields = BTreeMap<String, String>;

/// The fields of every kind on the page; those of all kinds are under `path`.
fn page() -> BTreeMap<String, Fields> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/json.md");
    let (mut kinds, mut current) = (BTreeMap::new(), Vec::new());
    for line in fs::read_to_string(path).unwrap().lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            current = heading.split('`').skip(1).step_by(2).map(str::to_string).collect();
            kinds.extend(current.iter().map(|kind: &String| (kind.clone(), Fields::new())));
        }
        let cells: Vec<_> = line.split('|').map(str::trim).collect();
        let [_, name, is, _, _] = cells[..] else { continue };
        let Some(name) = name.strip_prefix('`').and_then(|name| name.strip_suffix('`')) else { continue };
        // A table of kinds has commands in its second column.
        if !is.contains('`') {
            for kind in &current {
                assert!(kinds.get_mut(kind).unwrap().insert(name.into(), is.into()).is_none(), "{name} comes twice");
            }
        }
    }
    kinds
}

fn has_type(value: &Value, name: &str) -> bool {
    let is = |name: &str| match name {
        "text" => value.is_string(),
        "integer" => value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        other => panic!("spec/json.md: no type '{other}'"),
    };
    match name.strip_prefix("array of ") {
        Some(inner) => value.as_array().is_some_and(|items| items.iter().all(|item| has_type(item, inner))),
        None => name.split(" or ").any(is),
    }
}

/// Why an object is not as the page says.
fn wrong(object: &Map<String, Value>, kinds: &BTreeMap<String, Fields>) -> Option<String> {
    let Some(kind) = object.get("kind").and_then(Value::as_str) else { return Some("no kind".into()) };
    let Some(own) = kinds.get(kind).filter(|_| kind != "path") else { return Some(format!("the kind {kind}")) };
    let mut fields = own.clone();
    if !WITHOUT_PATH.contains(&kind) {
        fields.extend(kinds["path"].clone());
    }
    for (name, value) in object.iter().filter(|(name, _)| *name != "kind") {
        let Some(is) = fields.remove(name) else { return Some(format!("the field {name}")) };
        if !has_type(value, is.trim_end_matches(", optional")) {
            return Some(format!("{name} is not {is}"));
        }
    }
    fields.into_iter().find(|(_, is)| !is.ends_with(", optional")).map(|(name, _)| format!("no {name}"))
}

/// A folder, and what was printed in it.
struct Run {
    place: PathBuf,
    kinds: BTreeMap<String, Fields>,
    seen: BTreeSet<String>,
    optional: BTreeSet<(String, String)>,
}

impl Run {
    fn shell(&mut self, command: &str) {
        let bin = Path::new(env!("CARGO_BIN_EXE_mksum")).parent().unwrap();
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
        let mut shell = Command::new("sh");
        let signed = concat!(env!("CARGO_MANIFEST_DIR"), "/../sums/tests/signed");
        shell
            .args(["-c", command])
            .current_dir(&self.place)
            .env("PATH", path)
            .env("SIGNED", signed)
            .stdin(Stdio::null());
        let output = shell.output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code().is_some_and(|code| code < 2), "{command}: {errors}");
        for line in output.stdout.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
            let text = String::from_utf8(line.to_vec()).expect("UTF-8");
            let Ok(Value::Object(object)) = serde_json::from_str(&text) else { panic!("{command}: {text}") };
            if let Some(why) = wrong(&object, &self.kinds) {
                panic!("{command} printed what spec/json.md does not have, {why}: {text}");
            }
            let kind = object["kind"].as_str().unwrap().to_string();
            self.optional.extend(object.keys().map(|field| (kind.clone(), field.clone())));
            self.seen.insert(kind);
        }
    }
}

#[test]
fn objects_are_as_the_page_says() {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("json-{}", std::process::id()));
    fs::create_dir_all(&place).unwrap();
    let mut run = Run { place: place.clone(), kinds: page(), seen: BTreeSet::new(), optional: BTreeSet::new() };
    for command in [
        "seq 100000 > f; cp f g; printf x > h; printf '%s' one > \"$(printf 'x\\377')\"",
        "mksum --json f nosuch x* -f blake3 -f s3:md5:100000",
        "mksum --json --range 5..10 f",
        "mksum --json --expect 00000000000000000000000000000000 -a md5 f",
        "mksum f g > SUMS; mksum --range 1..9 f >> SUMS; echo 'blake3 (nosuch) = ' | tr -d '\\n' >> SUMS; \
         mksum -f blake3 --untagged f | cut -c1-64 >> SUMS; printf x >> g; mksum -c --json SUMS",
        "mkdir -p below; mksum f > LIST; mksum -c --json --report-extra LIST; mksum -c --json --below below LIST",
        "mksum -c --json --status $SIGNED/SUMS --sig $SIGNED/git.sshsig --key $SIGNED/ed25519.pub; echo \"a $(cat $SIGNED/p256.pub)\" > KEY; \
         mksum -c --json $SIGNED/SUMS --sig $SIGNED/p256.sshsig --key KEY; \
         mksum -c --json $SIGNED/SUMS --sig $SIGNED/hashed.minisig --key $SIGNED/minisign.pub",
        "mksum -g=json f",
        "mksum formats --json; mksum devices --json; mksum devices --json --verbose",
        "mksum keep --json f h; seq 1000 > new; cp h gone; mksum keep gone > line; rm gone",
        "mksum keep --json --quick f; mksum verify --json --quick f",
        // Damage, growth and loss, in directories too.
        "cp f good; printf X | dd of=f bs=1 seek=5 conv=notrunc 2> note; mksum verify --json -r .",
        "mksum verify --json --sample 5% f; mksum verify --json --budget 1s f h; mksum verify --json nosuch",
        "cp f other; mksum diff --json f.mkt other; mksum diff --json nosuch f",
        "mkdir copies; cp h copies; cp good copies/f; cp f wrong; mksum repair --dry-run --json f --from copies; mksum repair --json f --from wrong --from copies/f; \
         cp wrong f; mksum repair --json -r f h --from copies; mksum repair --json nosuch --from f",
        "printf more >> f; mksum verify --json f; mksum keep --json --update f; truncate -s 100000 f; mksum verify --json f; \
         printf X | dd of=f bs=1 seek=5 conv=notrunc 2> note; mksum keep --json --update --all f; mksum keep --json --update nosuch",
        "cp -p f same; touch -r f stamp; printf Y | dd of=f bs=1 seek=5 conv=notrunc 2> note; touch -r stamp f; mksum keep --json f",
        // A digest of the outboard: the last byte of an unsealed one.
        "cp good f; mksum keep --accept-changes -f rfc6962:sha256:4KiB --keep-leaf 4KiB f > line; \
         printf X | dd of=f.mkt bs=1 seek=1100 conv=notrunc 2> note; mksum verify --json f",
        "mksum prove --json good --range 5..10; mksum prove --json good --consistency 65536",
        "mksum prove good --range 5..10 > proof; tail -c +6 good | head -c 5 > bytes; \
         mksum check-proof --json $(mksum --untagged good | cut -c1-64) proof bytes --length $(stat -c %s good); \
         mksum check-proof --json $(mksum --untagged h | cut -c1-64) proof bytes",
        "head -c 4096 /dev/zero > z; mksum keep --json --foreign -f fsverity z; \
         mksum verify --json --foreign fsverity --root $(mksum -f fsverity --untagged z | cut -c1-64) z; \
         mksum verify --json --foreign fsverity --root $(mksum -f fsverity --untagged h | cut -c1-64) z; \
         mksum verify --json --foreign fsverity z",
        "echo '{\"offset\":0,\"length\":5,\"digest\":\"79982a7bf20b70b9ce3bb9f3bbd2b40d\"}' | mksum join --json -f plain:md5; \
         echo 'no line' | mksum join --json",
        "mkdir dir; seq 2000000 > dir/long; echo 1 > dir/1; echo 2 > dir/2; ln -s 1 dir/l; mksum -f dir --json dir; mksum keep -r --json dir; \
         mksum -f dir --untagged dir | cut -c1-64 > dir.root; mksum prove dir --path 1 2> note > proof; \
         mksum check-proof --json -f dir $(cat dir.root) proof",
        "cp -r dir dir2; mv dir/1 dir/one; rm dir/2; echo 3 > dir/3; mksum status --json dir; mksum verify -r --json dir; mksum status --checks --json dir; mksum update --json dir; \
         mksum diff --json dir2 dir; mksum export --to json dir; rm dir/3; mksum verify -r --json dir; touch -r dir/long stamp; \
         printf X | dd of=dir/long bs=1 seek=5 conv=notrunc 2> note; touch -r stamp dir/long; mksum verify -r --json dir; \
         mksum repair -r --json dir --from nosuch --from dir2; mksum keep -r --json dir",
        "mv dir/one \"$(printf 'dir/\\377')\"; mksum update --json dir; mv \"$(printf 'dir/\\377')\" dir/one; mksum status --json dir; \
         mksum join --json -f dir a=dir",
        "cp f fresh; mksum keep -f blake3 fresh > line; mksum get --json fresh --root \"$(mksum -f blake3 fresh)\" -o got; rm got; \
         mksum get --json f --no-outboard --root \"$(mksum -f blake3 f)\" --also md5 -o got; mksum get --json f --root \"$(mksum -f blake3 f)\" -o got; \
         mksum get --json nosuch --root sha256:$(printf %064d 0) -o got2; mksum copy --json f copied; mksum copy --json f copied; \
         mkdir linked; ln -s ../f linked/to; mksum copy -r --json linked relinked",
        "mksum keep --json --publish out f --from https://host/pub; mksum torrent --json --hybrid f -o f.torrent; mksum -c --json f.torrent; mkdir v; printf ab > v/a; \
         printf 'd4:infod5:filesld6:lengthi2e4:pathl1:aeed6:lengthi2e4:pathl1:beee4:name1:v12:piece lengthi4e6:pieces20:01234567890123456789ee' > v.torrent; \
         mksum -c --json v.torrent",
        "mksum log init --json log --origin example.com/log; printf 'a\\n\\377\\n' | mksum log append --json log; \
         mksum log checkpoint --json log; mksum log checkpoint log | head -1 > name; mksum log export --json log; mksum log prove --json log 0; \
         mksum log init second --origin example.com/other > key; echo one > lines; mksum log import --json second lines; \
         mksum log checkpoint second > old; mksum log import --json second lines; mksum log fsck --json second; \
         mksum log prove second 0 > proof; mksum log check --json proof --entry lines --key key; mksum log check --json proof --entry key --key key; \
         mksum log prove --json second --from 1; mksum log prove second --from 1 > growth; mksum log check --json growth --old old --key key; \
         mksum log follow --json second mirror --key key; mkdir pictures; echo 1 > \"$(printf 'pictures/\\377')\"; mksum keep -r -q --log log pictures > sums; \
         mv pictures \"$(printf 'y\\377')\"; mksum update --json --log log \"$(printf 'y\\377')\"",
        "mksum merklize --json --random 2^10 -o nodes; mksum merklize --json nosuch",
    ] {
        run.shell(command);
    }
    bad_sectors(&mut run);
    let mut missing: Vec<_> = run.kinds.keys().filter(|kind| *kind != "path" && !run.seen.contains(*kind)).collect();
    let optional = run.kinds.iter().flat_map(|(kind, fields)| fields.keys().map(move |field| (kind, field)));
    let unseen: Vec<_> = optional
        .filter(|(kind, field)| *kind != "path" && !run.optional.contains(&((*kind).clone(), (*field).clone())))
        .filter(|(kind, _)| run.seen.contains(*kind))
        .collect();
    if !cfg!(target_os = "linux") {
        missing.retain(|kind| *kind != "unreadable");
    }
    assert!(missing.is_empty(), "on the page, but never printed: {missing:?}");
    assert!(unseen.is_empty(), "on the page, but never printed: {unseen:?}");
    fs::remove_dir_all(place).unwrap();
}

/// Bytes that the disk cannot read, where FUSE can give such a disk.
#[cfg(target_os = "linux")]
fn bad_sectors(run: &mut Run) {
    run.shell("mkdir disk; cp good on; mksum keep -o on.mkt on > line");
    match disk::mount(&run.place.join("on"), &run.place.join("disk"), &[5000..5001, 500_000..500_001]) {
        Ok(_disk) => run.shell(
            "mksum --json --list-unreadable disk/on; mksum verify --json -o on.mkt disk/on; mksum diff --json on.mkt disk/on",
        ),
        Err(error) => {
            not_run(&format!("JSON of unreadable ranges: FUSE needs root or fusermount3, and /dev/fuse: {error}"));
            run.seen.insert("unreadable".into());
            run.optional.extend(run.kinds["unreadable"].keys().map(|field| ("unreadable".into(), field.clone())));
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn bad_sectors(_: &mut Run) {
    not_run("JSON of unreadable ranges: FUSE is there only on Linux");
}

/// Says what is not tested, past the test harness, which would hide it.
fn not_run(what: &str) {
    std::io::stderr().write_all(format!("NOT RUN: {what}\n").as_bytes()).unwrap();
}

#[test]
fn the_test_finds_what_is_wrong() {
    let kinds = page();
    let is_wrong = |text: &str| wrong(serde_json::from_str::<Value>(text).unwrap().as_object().unwrap(), &kinds);
    assert_eq!(is_wrong(r#"{"path":"a","kind":"error","error":"no"}"#), None);
    assert_eq!(is_wrong(r#"{"path":"a","kind":"error"}"#).unwrap(), "no error");
    assert_eq!(is_wrong(r#"{"path":"a","kind":"error","error":5}"#).unwrap(), "error is not text");
    assert_eq!(is_wrong(r#"{"path":"a","kind":"error","error":"no","more":5}"#).unwrap(), "the field more");
    assert_eq!(is_wrong(r#"{"path":"a","kind":"path"}"#).unwrap(), "the kind path");
    assert_eq!(is_wrong(r#"{"kind":"error","error":"no"}"#).unwrap(), "no path");
}
