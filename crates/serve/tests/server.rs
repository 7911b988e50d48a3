//! The server over real sockets: what it answers, what it never answers, and what clients cannot do to it.

use mksum::Spec;
use mksum_io::outboard::{Keeping, beside, keep};
use mksum_io::{File, Input, Options};
use mksum_serve::{Event, Limits, Server, Site, Stopper, Verification};
use mksum_sums::expected::Expected;
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// A server that runs, and what it has logged.
struct Running {
    address: SocketAddr,
    stopper: Stopper,
    log: Arc<Mutex<Vec<Event>>>,
    thread: Option<JoinHandle<std::io::Result<()>>>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stopper.stop();
        let ended = self.thread.take().unwrap().join();
        assert!(thread::panicking() || ended.unwrap().is_ok());
    }
}

/// A response: the status, the head and the body.
#[derive(Debug)]
struct Response {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Response {
    fn read(stream: &mut TcpStream) -> Response {
        let mut bytes = rest(stream);
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").map_or(bytes.len(), |end| end + 4);
        let body = bytes.split_off(end);
        let head = String::from_utf8(bytes).unwrap();
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Response { status, head, body }
    }

    fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

impl Running {
    fn of(inputs: &[&Path], limits: Limits) -> Running {
        Running::verifying(inputs, Verification::None, limits)
    }

    fn verifying(inputs: &[&Path], verification: Verification, limits: Limits) -> Running {
        let inputs: Vec<_> = inputs.iter().map(|&path| Input::from(path)).collect();
        let site = Site::new(&inputs, verification, None, &Options::new()).unwrap();
        let server = Server::bind("127.0.0.1:0".parse().unwrap(), limits).unwrap();
        let (address, stopper, log) = (server.address().unwrap(), server.stopper(), Arc::default());
        let written: Arc<Mutex<Vec<Event>>> = Arc::clone(&log);
        let run = move || server.run(site, move |event| written.lock().unwrap().push(event.clone()));
        Running { address, stopper, log, thread: Some(thread::spawn(run)) }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }

    fn send(&self, text: &[u8]) -> Response {
        let mut stream = self.connect();
        // It may have been answered and closed before all is sent.
        let _ = stream.write_all(text);
        Response::read(&mut stream)
    }

    fn ask(&self, method: &str, target: &str, headers: &[&str]) -> Response {
        let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
        self.send(
            format!("{method} {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n").as_bytes(),
        )
    }

    fn get(&self, target: &str, headers: &[&str]) -> Response {
        self.ask("GET", target, headers)
    }

    /// The reports about failures so far, once there are as many.
    fn failures(&self, count: usize) -> Vec<String> {
        let begin = Instant::now();
        loop {
            let log = self.log.lock().unwrap();
            let failures: Vec<_> = log.iter().filter(|event| event.is_failure).map(ToString::to_string).collect();
            if failures.len() >= count || begin.elapsed() > Duration::from_secs(30) {
                return failures;
            }
            drop(log);
            thread::sleep(Duration::from_millis(5));
        }
    }
}

fn served(folder: &Path) -> Running {
    Running::of(&[folder], Limits::default())
}

/// All bytes up to the end of a connection. One that is reset has what came before.
fn rest(stream: &mut TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    bytes
}

/// Bytes of which no two pieces are the same.
fn bytes(len: usize) -> Vec<u8> {
    (0_u64..).flat_map(|number| number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes()).take(len).collect()
}

fn kept(path: &Path) -> String {
    let spec: Spec = "rfc6962:sha256:64KiB".parse().unwrap();
    let file = File::open(path, &Options::new()).unwrap();
    let root = keep(file, &spec, &Keeping::new(1 << 16, &beside(path))).unwrap().root;
    format!("\"{spec}:{root}\"")
}

#[test]
fn ranges_and_conditions_are_those_of_http() {
    let folder = tempfile::tempdir().unwrap();
    let content = bytes(300_000);
    fs::write(folder.path().join("a b.txt"), &content).unwrap();
    let tag = kept(&folder.path().join("a b.txt"));
    let server = served(folder.path());
    let get = |headers: &[&str]| server.get("/a%20b.txt", headers);
    let whole = get(&[]);
    assert_eq!((whole.status, &whole.body), (200, &content));
    for (name, value) in [
        ("content-length", "300000"),
        ("content-type", "text/plain; charset=utf-8"),
        ("accept-ranges", "bytes"),
        ("etag", &tag),
        ("x-content-type-options", "nosniff"),
    ] {
        assert_eq!(whole.header(name), Some(value));
    }
    let modified = whole.header("last-modified").unwrap();
    let head = server.ask("HEAD", "/a%20b.txt", &["Range: bytes=1-2"]);
    assert_eq!((head.status, head.header("content-length"), &head.body[..]), (200, Some("300000"), &b""[..]));
    for (range, expected) in [
        ("0-0", 0..1),
        ("65535-65536", 65_535..65_537),
        ("1000-200000", 1_000..200_001),
        ("299999-", 299_999..300_000),
        ("-70000", 230_000..300_000),
        ("-999999", 0..300_000),
        ("299990-999999", 299_990..300_000),
    ] {
        let part = get(&[&format!("Range: bytes={range}")]);
        let says = format!("bytes {}-{}/300000", expected.start, expected.end - 1);
        assert_eq!((part.status, part.header("content-range")), (206, Some(&*says)));
        assert_eq!(part.header("content-length"), Some(&*expected.len().to_string()));
        assert!(part.body == content[expected], "{range}");
    }
    let none = get(&["Range: bytes=300000-"]);
    assert_eq!((none.status, none.header("content-range")), (416, Some("bytes */300000")));
    for range in ["bytes=0-1,5-6", "bytes=9-1", "pages=1-2", "bytes=x"] {
        assert_eq!(get(&[&format!("Range: {range}")]).status, 200, "{range}");
    }
    let (part, old) = ("Range: bytes=0-9", "\"old\"");
    for (headers, status) in [
        (vec![format!("If-None-Match: {tag}")], 304),
        (vec![format!("If-None-Match: {old}, W/{tag}")], 304),
        (vec!["If-None-Match: *".into()], 304),
        (vec![format!("If-None-Match: {old}")], 200),
        (vec![format!("If-None-Match: {old}"), format!("If-Modified-Since: {modified}")], 200),
        (vec![format!("If-Modified-Since: {modified}")], 304),
        (vec!["If-Modified-Since: Mon, 01 Jan 2001 00:00:00 GMT".into()], 200),
        (vec![format!("If-Match: {tag}"), part.into()], 206),
        (vec![format!("If-Match: {old}"), part.into()], 412),
        (vec![format!("If-Match: W/{tag}")], 412),
        (vec![format!("If-Range: {tag}"), part.into()], 206),
        (vec![format!("If-Range: {old}"), part.into()], 200),
        (vec![format!("If-Range: {modified}"), part.into()], 200),
    ] {
        let found = get(&headers.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(found.status, status, "{headers:?}");
        if status == 304 {
            assert_eq!((found.header("etag"), &found.body[..]), (Some(&*tag), &b""[..]));
        }
    }
    let put = server.ask("PUT", "/a%20b.txt", &["Content-Length: 0"]);
    assert_eq!((put.status, put.header("allow")), (405, Some("GET, HEAD")));
    assert_eq!(server.ask("DELETE", "/a%20b.txt", &[]).status, 405);
    assert_eq!(server.get("/a%20b.txt.mkt", &[]).body, fs::read(folder.path().join("a b.txt.mkt")).unwrap());
    fs::write(folder.path().join("empty"), "").unwrap();
    let empty = server.get("/empty", &[]);
    assert_eq!((empty.status, empty.header("content-length"), &empty.body[..]), (200, Some("0"), &b""[..]));
    assert_eq!(server.get("/empty", &["Range: bytes=0-"]).status, 416);
}

#[test]
fn a_tag_is_strong_only_where_the_root_is_that_of_the_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f");
    fs::write(&path, bytes(100_000)).unwrap();
    let server = served(folder.path());
    let tag = |name: &str| server.get(name, &["Range: bytes=0-0"]).header("etag").unwrap().to_string();
    let weak = tag("/f");
    assert!(weak.starts_with("W/\"100000-"), "{weak}");
    // A weak one matches no If-Match and no If-Range.
    let part = ["Range: bytes=0-0", &format!("If-Range: {weak}")].map(ToString::to_string);
    assert_eq!(server.get("/f", &part.each_ref().map(String::as_str)).status, 200);
    assert_eq!(server.get("/f", &[&format!("If-None-Match: {weak}")]).status, 304);
    let strong = kept(&path);
    assert_eq!(tag("/f"), strong);
    // Appended bytes are not those of the outboard.
    fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"more").unwrap();
    assert!(tag("/f").starts_with("W/\"100004-"));
    // A damaged outboard has no root.
    let renewed = kept(&path);
    assert_eq!(tag("/f"), renewed);
    fs::write(beside(&path), "nonsense").unwrap();
    assert!(tag("/f").starts_with("W/"));
}

#[cfg(feature = "catalogue")]
#[test]
fn a_catalogue_has_roots_too() {
    use mksum_catalogue::{Catalogue, place, update};
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("d")).unwrap();
    fs::write(folder.path().join("d/abc"), "abc").unwrap();
    let mut catalogue = Catalogue::create(&place(folder.path()), &mut || {}).unwrap();
    catalogue.add_formats(&["sha256".parse().unwrap(), "sha512".parse().unwrap()]).unwrap();
    update(&mut catalogue, folder.path(), &Options::new(), &mut |_| {}).unwrap();
    drop(catalogue);
    let server = served(folder.path());
    let found = server.get("/d/abc", &["Range: bytes=0-0"]);
    let hex = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(found.header("etag"), Some(&*format!("\"sha256:{hex}\"")));
    let digest = found.header("repr-digest").unwrap();
    assert!(
        digest.starts_with("sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:, sha-512=:3a81oZNherrMQXNJ"),
        "{digest}"
    );
    // Without an outboard, a short file is verified as a whole.
    let verifying = Running::verifying(&[folder.path()], Verification::Outboards, Limits::default());
    let whole = verifying.get("/d/abc", &["Range: bytes=1-"]);
    assert_eq!((whole.status, &whole.body[..], whole.header("etag")), (206, &b"bc"[..], found.header("etag")));
    fs::write(folder.path().join("d/abc"), "abd").unwrap();
    let text = String::from_utf8(verifying.get("/d/abc", &["Range: bytes=0-0"]).body).unwrap();
    assert!(text.contains(&format!("/d/abc: bytes 0..3 are damaged: expected {hex}, found ")), "{text}");
    assert_eq!(verifying.get("/.mksum/catalogue", &[]).status, 200);
    fs::write(folder.path().join("d/abc"), "abcd").unwrap();
    assert_eq!(verifying.get("/d/abc", &[]).status, 500);
    let found = server.get("/d/abc", &[]);
    assert!(found.header("etag").unwrap().starts_with("W/\"4-") && found.header("repr-digest").is_none());
    assert_eq!(server.get("/.mksum/catalogue", &[]).status, 200);
    for target in ["/.mksum", "/.mksum/", "/.mksum/catalogue.lock", "/.MKSUM/catalogue", "/d/.mksum/catalogue"] {
        assert_eq!(server.get(target, &[]).status, 404, "{target}");
    }
    assert!(!String::from_utf8(server.get("/", &[]).body).unwrap().contains("mksum"));
}

#[test]
fn nothing_outside_of_the_directory_is_served() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("served");
    fs::create_dir_all(folder.join("sub")).unwrap();
    fs::create_dir(outer.path().join("other")).unwrap();
    for path in ["secret", "other/secret", "served/in", "served/sub/in"] {
        fs::write(outer.path().join(path), if path.contains("secret") { "secret" } else { "in" }).unwrap();
    }
    fs::write(folder.join("in.mkt.part"), b"").unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        symlink("../secret", folder.join("link")).unwrap();
        symlink("../other", folder.join("folder")).unwrap();
        symlink("/etc/passwd", folder.join("absolute")).unwrap();
        symlink("loop", folder.join("loop")).unwrap();
        symlink("sub/in", folder.join("within")).unwrap();
        symlink("..", folder.join("sub/up")).unwrap();
        symlink("../..", folder.join("sub/out")).unwrap();
    }
    let server = served(&folder);
    let absolute = outer.path().join("secret").to_str().unwrap().to_string();
    let targets = [
        "/../secret",
        "/sub/../../secret",
        "/%2e%2e/secret",
        "/%2E%2E%2Fsecret",
        "/..%2fsecret",
        "/..%5csecret",
        "/..\\secret",
        "/%252e%252e/secret",
        "/sub/..",
        "/./in",
        "/in%00.txt",
        "/%00",
        "//etc/passwd",
        "/%2fetc/passwd",
        "/link",
        "/folder/",
        "/folder/secret",
        "/absolute",
        "/loop",
        "/loop/in",
        "/sub/out/secret",
        "/in/",
        "/in/in",
        "/in.mkt.part",
        "/none",
        "/%ff",
        "/%",
        &format!("/{}", "x".repeat(5000)),
        &absolute,
        &format!("http://localhost/../secret?{absolute}"),
    ];
    for target in targets {
        let found = server.get(target, &[]);
        assert!([400, 404].contains(&found.status), "{target}: {found:?}");
        assert!(!found.body.windows(6).any(|bytes| bytes == b"secret"), "{target}");
    }
    assert_eq!(server.failures(targets.len()).len(), targets.len());
    assert_eq!(server.get("/sub/in?x=/../y", &[]).body, b"in");
    let page = String::from_utf8(server.get("/", &[]).body).unwrap();
    let names: Vec<_> = page.split("<a href=\"").skip(1).filter_map(|link| link.split('"').next()).collect();
    if cfg!(unix) {
        assert_eq!(server.get("/within", &[]).body, b"in");
        assert_eq!(server.get("/sub/up/in", &[]).body, b"in");
        assert_eq!(names, ["in", "sub/", "within"]);
    } else {
        assert_eq!(names, ["in", "sub/"]);
    }
    let moved = server.get("/sub", &[]);
    assert_eq!((moved.status, moved.header("location")), (301, Some("/sub/")));
    assert!(String::from_utf8(server.get("/sub/", &[]).body).unwrap().contains("<a href=\"../\">"));
}

#[cfg(unix)]
#[test]
fn pipes_are_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    assert!(std::process::Command::new("mkfifo").arg(folder.path().join("pipe")).status().unwrap().success());
    assert_eq!(served(folder.path()).get("/pipe", &[]).status, 404);
}

#[test]
fn several_inputs_have_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("d")).unwrap();
    fs::write(path("d/x"), "x").unwrap();
    fs::write(path("f"), bytes(70_000)).unwrap();
    fs::write(path("hidden"), "hidden").unwrap();
    let tag = kept(&path("f"));
    let server = Running::of(&[&path("f"), &path("d")], Limits::default());
    assert_eq!(server.get("/f", &[]).header("etag"), Some(&*tag));
    assert_eq!(server.get("/f.mkt", &[]).body, fs::read(path("f.mkt")).unwrap());
    assert_eq!(server.get("/d/x", &[]).body, b"x");
    for target in ["/hidden", "/d/hidden", "/d.mkt", "/f.mkt.mkt", "/f/x", "/f/"] {
        assert_eq!(server.get(target, &[]).status, 404, "{target}");
    }
    let page = String::from_utf8(server.get("/", &[]).body).unwrap();
    assert!(page.contains(">d/</a>") && page.contains(">f</a> 70000<"), "{page}");
    let twice = [Input::from(path("f")), Input::from(path("d").join("../f"))];
    let site = |inputs: &[Input]| Site::new(inputs, Verification::None, None, &Options::new());
    assert!(site(&twice).is_err_and(|(_, why)| why == "another one has the same name"));
    assert!(site(&[Input::Stdin]).is_err());
    assert!(site(&[Input::from(path("gone"))]).is_err());
}

#[test]
fn a_file_that_changes_is_never_mixed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f");
    let content = bytes(64 << 20);
    let server = served(folder.path());
    type Change = fn(&Path);
    let changes: [(&str, Change); 3] = [
        ("truncated", |path| fs::OpenOptions::new().write(true).open(path).unwrap().set_len(100).unwrap()),
        ("written", |path| {
            let mut file = fs::OpenOptions::new().write(true).open(path).unwrap();
            file.write_all(&vec![0; 64 << 20]).unwrap();
        }),
        ("grown", |path| fs::OpenOptions::new().append(true).open(path).unwrap().write_all(b"more").unwrap()),
    ];
    for (count, (what, change)) in changes.into_iter().enumerate() {
        fs::write(&path, &content).unwrap();
        // A write within the clock's step has the same time.
        fs::File::open(&path).unwrap().set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
        let mut stream = server.connect();
        stream.write_all(b"GET /f HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
        let mut first = [0; 1000];
        stream.read_exact(&mut first).unwrap();
        change(&path);
        let all = [first.to_vec(), rest(&mut stream)].concat();
        let start = all.windows(4).position(|window| window == b"\r\n\r\n").unwrap() + 4;
        assert!(all.len() - start < content.len() && content.starts_with(&all[start..]), "{what}");
        let failures = server.failures(count + 1);
        assert!(
            failures.len() == count + 1 && failures[count].contains("GET /f: 200: ended early after"),
            "{failures:?}"
        );
    }
    // The one that was replaced is sent to its end, and the next request gets the new one.
    fs::write(&path, &content).unwrap();
    let mut stream = server.connect();
    stream.write_all(b"GET /f HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut first = [0; 1];
    stream.read_exact(&mut first).unwrap();
    fs::write(folder.path().join("new"), "new").unwrap();
    fs::rename(folder.path().join("new"), &path).unwrap();
    assert!(Response::read(&mut stream).body == content);
    assert_eq!(server.get("/f", &[]).body, b"new");
}

#[test]
fn damaged_bytes_are_never_sent() {
    const LEAF: usize = 1 << 16;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f");
    let content = bytes(40 * LEAF + 100);
    fs::write(&path, &content).unwrap();
    let tag = kept(&path);
    let begin = || Running::verifying(&[folder.path()], Verification::Outboards, Limits::default());
    let part = begin().get("/f", &["Range: bytes=100-200000"]);
    assert!(part.status == 206 && part.body == content[100..200_001] && part.header("etag") == Some(&tag));
    // A bit flips in each leaf in turn, and the file's times show nothing.
    let time = fs::metadata(&path).unwrap().modified().unwrap();
    let write = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    };
    for leaf in [0, 1, 20, 39, 40] {
        // Verified leaves stay in the memory of the one before.
        let server = begin();
        let at = leaf * LEAF + 99;
        let mut damaged = content.clone();
        damaged[at] ^= 1;
        write(&damaged);
        let whole = server.get("/f", &[]);
        if leaf == 0 {
            assert_eq!(whole.status, 500);
        } else {
            assert!(
                whole.status == 200 && whole.body.len() <= leaf * LEAF && content.starts_with(&whole.body),
                "{leaf}"
            );
        }
        let refused = server.get("/f", &[&format!("Range: bytes={}-{}", at + 1, at + 1)]);
        // Of the last leaf, these are behind its end.
        if leaf < 40 {
            let range = format!("bytes {}..{} are damaged: expected ", leaf * LEAF, (leaf + 1) * LEAF);
            let text = String::from_utf8(refused.body).unwrap();
            assert!(refused.status == 500 && text.contains(&format!("/f: {range}")), "{text}");
            assert!(server.failures(1).iter().any(|line| line.contains(&format!("GET /f: 500: {range}"))));
        }
        // All others are sent.
        for other in (0..=40).filter(|&other| other != leaf) {
            let start = other * LEAF;
            let end = content.len().min(start + LEAF);
            let sound = server.get("/f", &[&format!("Range: bytes={start}-{}", end - 1)]);
            assert!(sound.status == 206 && sound.body == content[start..end], "{leaf} {other}");
        }
    }
    write(&content);
    let server = begin();
    assert!(server.get("/f", &[]).body == content);
    // Another length, another file, no outboard.
    write(&content[..1000]);
    assert_eq!(server.get("/f", &["Range: bytes=0-0"]).status, 500);
    fs::write(&path, "other").unwrap();
    assert_eq!(server.get("/f", &[]).status, 500);
    let renewed = kept(&path);
    assert_eq!(
        (server.get("/f", &[]).body, server.get("/f", &[]).header("etag")),
        (b"other".to_vec(), Some(&*renewed))
    );
    assert_eq!(server.get("/f.mkt", &[]).body, fs::read(beside(&path)).unwrap());
    // The first digest is that of the first leaf.
    fs::write(&path, &content).unwrap();
    kept(&path);
    let mut outboard = fs::read(beside(&path)).unwrap();
    outboard[mksum::outboard::HEADER as usize] ^= 1;
    fs::write(beside(&path), outboard).unwrap();
    assert_eq!(server.get("/f", &["Range: bytes=0-0"]).status, 500);
    fs::remove_file(beside(&path)).unwrap();
    let bare = server.get("/f", &[]);
    assert!(
        bare.status == 500 && String::from_utf8(bare.body).unwrap().contains("/f: not verified: it has no outboard")
    );
    // A file that poses as an outboard is none.
    fs::write(folder.path().join("posing.mkt"), "not verified").unwrap();
    assert_eq!(server.get("/posing.mkt", &[]).status, 500);
}

#[test]
fn a_trusted_root_is_that_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f");
    fs::write(&path, bytes(200_000)).unwrap();
    let tag = kept(&path);
    let root = || Verification::Root(Expected::parse(&tag, None).unwrap());
    let server = Running::verifying(&[&path], root(), Limits::default());
    assert!(server.get("/f", &[]).body == bytes(200_000));
    // Another file with its own outboard has another root.
    fs::write(&path, bytes(200_001)).unwrap();
    kept(&path);
    let found = server.get("/f", &[]);
    assert!(found.status == 500 && String::from_utf8(found.body).unwrap().contains("is trusted"));
    let site = |path: &Path| Site::new(&[Input::from(path)], root(), None, &Options::new());
    assert!(site(&path).is_err() && site(folder.path()).is_err_and(|(_, why)| why == "a root is that of one file"));
}

#[test]
fn clients_cannot_hold_what_others_need() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("f"), bytes(64 << 20)).unwrap();
    let limits = Limits { connections: 4, patience: Duration::from_millis(500) };
    let server = Running::of(&[folder.path()], limits);
    // Heads that never end, bodies that are never read: all of them are closed in time, and the next client is served.
    let idle: Vec<_> = (0..4).map(|_| server.connect()).collect();
    assert_eq!(server.get("/f", &["Range: bytes=0-9"]).status, 206);
    let slow: Vec<_> = (0..8)
        .map(|index| {
            let mut stream = server.connect();
            let text =
                if index % 2 == 0 { "GET /f HTTP/1.1\r\nHost: localhost\r\n\r\n" } else { "GET /f HTTP/1.1\r\nX-" };
            stream.write_all(text.as_bytes()).unwrap();
            stream
        })
        .collect();
    assert_eq!(server.get("/f", &["Range: bytes=0-9"]).status, 206);
    drop((idle, slow));
    let long = format!("X-Long: {}", "x".repeat(100_000));
    let many: Vec<_> = (0..1000).map(|index| format!("X-{index}: y")).collect();
    for (response, statuses) in [
        (server.get("/f", &[&long]), [431, 0]),
        (server.get("/f", &many.iter().map(String::as_str).collect::<Vec<_>>()), [431, 0]),
        (server.get(&format!("/{}", "x".repeat(100_000)), &[]), [414, 431]),
        (server.send(b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n"), [400, 0]),
        (server.send(b"GET /f HTTP/9.9\r\n\r\n"), [400, 0]),
        (server.send(b"GET  HTTP/1.1\r\n\r\n"), [400, 0]),
    ] {
        assert!(statuses.contains(&response.status), "{response:?}");
    }
    // A client that goes away is no failure of the server.
    for _ in 0..20 {
        let mut stream = server.connect();
        stream.write_all(b"GET /f HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        stream.read_exact(&mut [0; 100]).unwrap();
    }
    assert_eq!(server.get("/f", &["Range: bytes=0-9"]).body, bytes(10));
    assert!(!server.failures(0).iter().any(|line| line.contains(": 200")));
}

#[test]
fn a_stopped_server_ends_its_responses() {
    let folder = tempfile::tempdir().unwrap();
    let content = bytes(32 << 20);
    fs::write(folder.path().join("f"), &content).unwrap();
    let server = served(folder.path());
    let mut stream = server.connect();
    stream.write_all(b"GET /f HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    stream.read_exact(&mut [0; 1]).unwrap();
    let idle = server.connect();
    server.stopper.stop();
    assert!(Response::read(&mut stream).body == content);
    drop(idle);
    let address = server.address;
    drop(server);
    assert!(TcpStream::connect(address).is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused));
}

#[test]
fn a_name_of_others_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("f"), "content").unwrap();
    let server = served(folder.path());
    for host in ["evil.example", "evil.example:80", ""] {
        let request = format!("GET /f HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        let response = server.send(request.as_bytes());
        assert_eq!(response.status, 421, "{host}");
        assert!(!response.body.ends_with(b"content"));
    }
    assert_eq!(
        server.send(b"GET http://evil.example/f HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").status,
        421
    );
    assert_eq!(server.send(b"GET /f HTTP/1.1\r\nHost: [::1]:80\r\nConnection: close\r\n\r\n").body, b"content");
}
