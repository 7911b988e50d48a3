//! Torrents: BEP 3 (v1), BEP 52 (v2), BEP 47 (padding), BEP 19 (web seeds).

use super::bencode::{Dict, Value};
use super::manifest::{Joint, Manifest, PiecedFile, Pieces, flat, is_unit, push, web};
use crate::expected::Expected;
use crate::name::printable;
use mksum::{Digest, MAX_LEN, Spec};
use std::path::{Path, PathBuf};

/// Reads a torrent.
///
/// # Errors
/// If it is not valid, or a hybrid whose two halves differ: the reason, as words.
pub fn torrent(bytes: &[u8]) -> Result<Manifest, String> {
    let value = Value::read(bytes)?;
    let outer = value.dict().ok_or("expected a dictionary")?;
    let info = outer.get(b"info").and_then(Value::dict).ok_or("no dictionary 'info'")?;
    let name = text(info, "name")?;
    let mut folder = PathBuf::new();
    push(&mut folder, name.as_bytes())?;
    let piece = number(info, "piece length")?.ok_or("no 'piece length'")?;
    if !(1..=MAX_LEN).contains(&piece) {
        return Err(format!("a piece length of {piece} bytes: expected 1 to 2^40"));
    }
    let (mut v1, mut v2) = (None, None);
    match number(info, "meta version")? {
        Some(2) => v2 = Some(read_v2(outer, info, (&folder, piece))?),
        Some(other) => return Err(format!("meta version {other}: this program reads versions 1 and 2")),
        None => {}
    }
    if v2.is_none() || info.get(b"pieces").is_some() {
        v1 = Some(read_v1(info, (&folder, piece))?);
    }
    if let (Some(v1), Some(v2)) = (&v1, &v2) {
        let files = |manifest: &Manifest| {
            let mut files: Vec<_> = manifest.files.iter().map(|file| (file.path.clone(), file.len)).collect();
            files.sort();
            files
        };
        if files(v1) != files(v2) {
            return Err("the files of v1 and v2 differ".into());
        }
    }
    let sum = |format: &str| {
        let spec: Spec = format.parse().map_err(|error| format!("{error}"))?;
        spec.root(info.raw).map(|root| root.to_string()).map_err(|error| error.to_string())
    };
    let mut info_hashes = Vec::new();
    if v1.is_some() {
        info_hashes.push(sum("sha1")?);
    }
    if v2.is_some() {
        info_hashes.push(sum("sha256")?);
    }
    let mut manifest = v2.or(v1).ok_or("no files")?;
    (manifest.is_torrent, manifest.info_hashes) = (true, info_hashes);
    seeds(outer, &mut manifest, &folder);
    manifest.refuse_twins()
}

/// Reads the web seeds (BEP 19): of one file its address, else the folder that has the torrent's folder.
fn seeds(outer: &Dict<'_>, manifest: &mut Manifest, folder: &Path) {
    let list = outer.get(b"url-list");
    let one = list.and_then(Value::bytes).filter(|url| !url.is_empty());
    let all = list.and_then(Value::list).unwrap_or_default().iter().filter_map(Value::bytes);
    let is_single = matches!(&manifest.files[..], [file] if file.path == folder);
    for seed in one.into_iter().chain(all) {
        let Some(url) = str::from_utf8(seed).ok().and_then(web) else {
            let why = "a web seed that is no address of a web server: not used";
            manifest.refused.push((printable(&String::from_utf8_lossy(seed)).into(), why.into()));
            continue;
        };
        match &mut manifest.files[..] {
            [file] if is_single && !url.as_str().ends_with('/') => file.mirrors.push(url),
            _ => manifest.mirrors.push(url),
        }
    }
}

/// Reads the files of version 2 (BEP 52, "file tree", "piece layers").
fn read_v2(outer: &Dict<'_>, info: &Dict<'_>, (folder, piece): (&Path, u64)) -> Result<Manifest, String> {
    let spec: Spec = "btv2".parse().map_err(|error| format!("{error}"))?;
    if !piece.is_power_of_two() || !is_unit(&spec, piece) {
        return Err(format!("a piece length of {piece} bytes: expected a power of two from 16 KiB on"));
    }
    let tree = info.get(b"file tree").and_then(Value::dict).ok_or("no dictionary 'file tree'")?;
    let layers = outer.get(b"piece layers").and_then(Value::dict);
    let mut manifest = Manifest::default();
    // One file alone has the name of the torrent.
    let is_single = matches!(tree.entries(), [(name, Value::Dict(file))] if Some(*name) == folder.to_str().map(str::as_bytes)
        && file.get(b"").is_some());
    let start = if is_single { PathBuf::new() } else { folder.into() };
    walk(tree, &start, &mut |path, file| {
        let len = number(file, "length")?.ok_or_else(|| format!("{}: no 'length'", path.display()))?;
        if text_of(file, "attr").contains('l') {
            manifest.refused.push((path.into(), "a symbolic link of a torrent is not made".into()));
            return Ok(());
        }
        let mut found = PiecedFile { path: path.into(), len: Some(len), sum: None, pieces: None, mirrors: Vec::new() };
        let fail = |why: &str| Err(format!("{}: {why}", path.display()));
        if len > MAX_LEN {
            return fail("longer than 2^40 bytes");
        }
        if len == 0 {
            found.sum = Some(empty()?);
        } else {
            let Some(root) = file.get(b"pieces root").and_then(Value::bytes).filter(|root| root.len() == 32) else {
                return fail("no 'pieces root' of 32 bytes");
            };
            let digest = Digest::new(root);
            let known = spec.root_with_digest(digest, len);
            found.sum = Some((spec.clone(), Expected::from(&known)));
            if len > piece {
                let Some(layer) = layers.and_then(|layers| layers.get(root)).and_then(Value::bytes) else {
                    return fail("no 'piece layers' of its root");
                };
                let pieces = Pieces::new(spec.clone(), (len, piece), layer.into())
                    .map_err(|why| format!("{}: {why}", path.display()))?;
                if pieces.root().map_err(|error| error.to_string())? != known {
                    return fail("its 'piece layers' do not make its 'pieces root'");
                }
                found.pieces = Some(pieces);
            }
        }
        manifest.files.push(found);
        Ok(())
    })?;
    if manifest.files.is_empty() && manifest.refused.is_empty() {
        return Err("no files".into());
    }
    Ok(manifest)
}

/// The sum of no bytes, for which `btv2` has no root.
fn empty() -> Result<(Spec, Expected), String> {
    let spec: Spec = "sha256".parse().map_err(|error| format!("{error}"))?;
    let root = spec.root(b"").map_err(|error| error.to_string())?;
    Ok((spec, Expected::from(&root)))
}

/// Calls `each` with the path and the facts of every file of a tree.
fn walk<'a>(
    tree: &Dict<'a>,
    above: &Path,
    each: &mut dyn FnMut(&Path, &Dict<'a>) -> Result<(), String>,
) -> Result<(), String> {
    for (name, value) in tree.entries() {
        let below = value.dict().ok_or("an entry of 'file tree' is no dictionary")?;
        if name.is_empty() {
            return Err("a file of 'file tree' has no name".into());
        }
        let mut path = above.to_path_buf();
        push(&mut path, name)?;
        match below.get(b"").and_then(Value::dict) {
            Some(file) if below.entries().len() == 1 => each(&path, file)?,
            Some(_) => return Err(format!("{} is both a file and a folder", path.display())),
            None => walk(below, &path, each)?,
        }
    }
    Ok(())
}

/// Reads the files of version 1 (BEP 3, "files", "pieces").
fn read_v1(info: &Dict<'_>, (folder, piece): (&Path, u64)) -> Result<Manifest, String> {
    let sums = info.get(b"pieces").and_then(Value::bytes).ok_or("no string 'pieces'")?;
    let spec = flat("sha1", piece)?;
    let mut manifest = Manifest::default();
    let mut parts = Vec::new();
    let new = |path: PathBuf, len| PiecedFile { path, len: Some(len), sum: None, pieces: None, mirrors: Vec::new() };
    match (number(info, "length")?, info.get(b"files").and_then(Value::list)) {
        (Some(len), None) => {
            manifest.files.push(new(folder.into(), len));
            parts.push((Some(0), len));
        }
        (None, Some(files)) => {
            for file in files {
                let file = file.dict().ok_or("a file of 'files' is no dictionary")?;
                let len = number(file, "length")?.ok_or("a file without 'length'")?;
                let attributes = text_of(file, "attr");
                if attributes.contains('p') {
                    parts.push((None, len));
                    continue;
                }
                let mut path = folder.to_path_buf();
                let names = file.get(b"path").and_then(Value::list).filter(|names| !names.is_empty());
                for name in names.ok_or("a file without 'path'")? {
                    push(&mut path, name.bytes().ok_or("a 'path' that is no list of names")?)?;
                }
                if attributes.contains('l') {
                    manifest.refused.push((path, "a symbolic link of a torrent is not made".into()));
                    continue;
                }
                parts.push((Some(manifest.files.len()), len));
                manifest.files.push(new(path, len));
            }
        }
        _ => return Err("expected either 'length' or 'files'".into()),
    }
    let total =
        parts.iter().try_fold(0_u64, |total, (_, len)| total.checked_add(*len)).filter(|&total| total <= MAX_LEN);
    let total = total.ok_or("its files are longer than 2^40 bytes")?;
    let pieces = Pieces::new(spec.clone(), (total, piece), sums.into())?;
    match (&mut manifest.files[..], &parts[..]) {
        ([file], [_]) => {
            file.sum = match total {
                0 => Some(empty()?),
                _ => {
                    let root = pieces.root().map_err(|error| error.to_string())?;
                    Some((spec, Expected::from(&root)))
                }
            };
            file.pieces = (total > 0).then_some(pieces);
        }
        ([], _) => return Err("no files".into()),
        _ => manifest.joint = Some(Joint { pieces, parts }),
    }
    Ok(manifest)
}

fn number(dict: &Dict<'_>, key: &str) -> Result<Option<u64>, String> {
    match dict.get(key.as_bytes()) {
        None => Ok(None),
        Some(value) => value.number().map(Some).ok_or_else(|| format!("'{key}' is no number from 0 on")),
    }
}

fn text<'a>(dict: &Dict<'a>, key: &str) -> Result<&'a str, String> {
    let bytes = dict.get(key.as_bytes()).and_then(Value::bytes).ok_or_else(|| format!("no string '{key}'"))?;
    str::from_utf8(bytes).map_err(|_| format!("'{key}' is not UTF-8"))
}

fn text_of<'a>(dict: &Dict<'a>, key: &str) -> &'a str {
    text(dict, key).unwrap_or_default()
}
