//! Media types by the ends of names.

/// The `Content-Type` of a file with this name.
pub fn of(name: &[u8]) -> &'static str {
    let dot = name.iter().rposition(|&byte| byte == b'.').map_or(name.len(), |dot| dot + 1);
    let end = name[dot..].to_ascii_lowercase();
    match &end[..] {
        b"avif" => "image/avif",
        b"css" => "text/css",
        b"csv" => "text/csv",
        b"gif" => "image/gif",
        b"gz" | b"tgz" => "application/gzip",
        b"htm" | b"html" => "text/html",
        b"ico" => "image/x-icon",
        b"jpeg" | b"jpg" => "image/jpeg",
        b"js" | b"mjs" => "text/javascript",
        b"json" => "application/json",
        b"log" | b"md" | b"txt" => "text/plain; charset=utf-8",
        b"mp3" => "audio/mpeg",
        b"mp4" => "video/mp4",
        b"pdf" => "application/pdf",
        b"png" => "image/png",
        b"svg" => "image/svg+xml",
        b"tar" => "application/x-tar",
        b"wasm" => "application/wasm",
        b"webm" => "video/webm",
        b"webp" => "image/webp",
        b"xml" => "application/xml",
        b"zip" => "application/zip",
        _ => "application/octet-stream",
    }
}
