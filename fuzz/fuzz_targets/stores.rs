//! Listings, headers and messages of servers, and files of logins: no panic, and nothing of any length is repeated to the user.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mksum_io::Url;
use mksum_stores::served::{Kind, Netrc, Served, response};
use std::sync::{LazyLock, Mutex, MutexGuard};

/// The headers that are read.
const HEADERS: [&str; 12] = [
    "content-encoding",
    "content-length",
    "content-range",
    "content-type",
    "etag",
    "last-modified",
    "location",
    "retry-after",
    "x-amz-version-id",
    "x-goog-generation",
    "x-goog-stored-content-length",
    "x-ms-version-id",
];

/// Values of theirs that make sense.
const VALUES: [&str; 6] =
    ["5", "bytes 0-4/5", "\"one\"", "Thu, 01 Jan 2026 00:00:00 GMT", "http://127.0.0.1/x", "../x"];

/// What pages of listings and errors are made of.
const PARTS: [&str; 24] = [
    "<R>",
    "</R>",
    "<Contents>",
    "</Contents>",
    "<Key>",
    "</Key>",
    "<Size>1</Size>",
    "<ETag>",
    "</ETag>",
    "<LastModified>2026-01-01T00:00:00Z</LastModified>",
    "<Contents><Key>p/a</Key><LastModified>2026-01-01T00:00:00Z</LastModified><Size>0</Size></Contents>",
    "<CommonPrefixes><Prefix>",
    "</Prefix></CommonPrefixes>",
    "<NextContinuationToken>",
    "</NextContinuationToken>",
    "<Blobs>",
    "</Blobs>",
    "<Blob><Name>",
    "</Name><Properties><Last-Modified>Thu, 01 Jan 2026 00:00:00 GMT</Last-Modified><Content-Length>",
    "</Content-Length><Content-Type>x</Content-Type></Properties></Blob>",
    "<NextMarker>",
    "</NextMarker>",
    "<Error><Code>",
    "</Code><Message>",
];

/// A status, headers and a body.
type Answer = (u16, Vec<(&'static str, Vec<u8>)>, Vec<u8>);

/// What the servers answer now.
static ANSWER: Mutex<Answer> = Mutex::new((200, Vec::new(), Vec::new()));

fn lock() -> MutexGuard<'static, Answer> {
    ANSWER.lock().expect("no panic")
}

static SERVED: LazyLock<[Served; 3]> = LazyLock::new(|| {
    Kind::ALL.map(|kind| {
        Served::new(kind, |_| {
            let (status, headers, body) = &*lock();
            response(*status, headers, body.clone())
        })
    })
});

fuzz_target!(|input: (u8, u16, Vec<(u8, &[u8])>, [&str; 3], &[u8])| {
    let (kind, status, headers, words, text) = input;
    // A byte that is not ASCII stands for a part.
    let part = |byte: &u8| match byte.checked_sub(128).and_then(|part| PARTS.get(usize::from(part) % 32)) {
        Some(part) => part.as_bytes().to_vec(),
        None => vec![*byte],
    };
    let body: Vec<u8> = text.iter().flat_map(part).collect();
    let headers = headers
        .iter()
        .map(|(choice, text)| {
            let (name, value) = (usize::from(*choice) % HEADERS.len(), usize::from(*choice) / HEADERS.len());
            (HEADERS[name], VALUES.get(value).map_or(text.to_vec(), |value| value.as_bytes().to_vec()))
        })
        .collect();
    // Mostly those that are no errors.
    let status = [200, 206, 302, 404, 412, 416].get(usize::from(status)).copied().unwrap_or(status);
    *lock() = (status, headers, body);
    let served = &SERVED[usize::from(kind) % SERVED.len()];
    let url = Url::parse("s3://b/p").expect("a URL");
    let listed = served.list("p").into_iter().filter_map(Result::err);
    for fault in listed.chain(served.open().err()) {
        let message = fault.opening(&url).to_string();
        assert!(message.chars().count() < 1000, "{message}");
    }

    let _ = Netrc::parse(&String::from_utf8_lossy(text));
    let quoted = words.map(|word| format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\"")));
    let [host, user, password] = quoted;
    let netrc = Netrc::parse(&format!("machine {host} login {user} password {password}")).expect("as it is written");
    assert_eq!(netrc.login(words[0]), Some((words[1], Some(words[2]))));
});
