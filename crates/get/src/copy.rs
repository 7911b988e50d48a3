//! Copies: hashed while they are written, and read back from the disk or the store before they count.

use crate::also::{Also, uncounted};
use crate::error::{Error, write};
use crate::get::get;
use crate::request::{Outcome, Request, Target};
use crate::whole::Tee;
use mksum::outboard::KeptLayout;
use mksum::{ByOffset, Root, Spec};
use mksum_io::outboard::{Changes, Keeping, Remote, commit, keep, prepare};
use mksum_io::{File, Input, Job, Mode, Options, Partial, Url, check_room, hash, hash_reader, share_blocks};
use mksum_sums::expected::Expected;
use std::fs::{self, FileTimes, Metadata};
use std::io::{self, Read};
use std::path::Path;

/// The longest subtrees that are compared with what is there, in bytes, where the format has such.
const UNIT: u64 = 64 << 10;

/// A file to be copied.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Copy {
    /// The file or object.
    pub source: Input,
    /// The path of the copy, or its URL in a store.
    pub target: Input,
    /// The format of the root.
    pub spec: Spec,
    /// Whether the copy is read back from the disk, past the page cache where the system can, before it counts.
    pub read_back: bool,
    /// The path or URL of an outboard of the copy, if one is to be kept.
    pub outboard: Option<Input>,
    /// Whether a new copy shares the blocks of its source, if the file system can: it is verified like any other.
    pub shares_blocks: bool,
}

/// A copied file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Copied {
    /// The root of both files.
    pub root: Root,
    /// Whether nothing had to be copied: the copy was there, and is right.
    pub is_present: bool,
    /// The bytes that were copied.
    pub copied: u64,
}

impl Copy {
    /// A copy that is read back.
    pub fn new(source: Input, target: Input, spec: Spec) -> Copy {
        Copy { source, target, spec, read_back: true, outboard: None, shares_blocks: false }
    }
}

/// Copies a file, its times and its permissions.
///
/// The source is hashed while it is copied to `TARGET.part`, which gets the target's name when it was read back with the same root. If the
/// target or its unfinished copy is there already, the source's tree is computed first, and only the leaves that differ are copied: of formats
/// that have no outboards, everything.
///
/// An object appears in its store when all of it was sent; then its length is compared with that of the source, and it is read back.
///
/// # Errors
/// If the source cannot be read or changes meanwhile, the copy cannot be written, or what was read back differs.
pub fn copy(copy: &Copy, options: &Options) -> Result<Copied, Error> {
    let Copy { source, spec, .. } = copy;
    let target = match &copy.target {
        Input::File(target) => target,
        Input::Url(url) if source.url() == Some(url) => return Err(itself(&copy.target)),
        Input::Url(url) => return to_object(copy, url, options),
        Input::Stdin => return Err(Error::Refused(Input::Stdin, "a stream cannot be read back: give a path".into())),
    };
    if let Some(path) = source.file()
        && path.canonicalize().is_ok_and(|path| target.canonicalize().is_ok_and(|target| target == path))
    {
        return Err(itself(&copy.target));
    }
    let file = File::open(source, options)?;
    let metadata = source.file().map(fs::metadata).transpose().map_err(|error| write(target, error))?;
    let is_there = [target, &Partial::name_of(target)].iter().any(|path| path.symlink_metadata().is_ok());
    match is_there && spec.supports(ByOffset::Outboard).is_ok() {
        true => differing((copy, target), file, metadata.as_ref(), options),
        false => whole((copy, target), file, metadata.as_ref(), options),
    }
}

fn itself(target: &Input) -> Error {
    Error::Refused(target.clone(), "it is the source itself".into())
}

/// Writes an object, which appears when all of it was sent.
fn to_object(copy: &Copy, url: &Url, options: &Options) -> Result<Copied, Error> {
    let Copy { source, spec, .. } = copy;
    let refuse = |why: String| Error::Refused(copy.target.clone(), why);
    let objects = options.objects.clone();
    let objects = objects.ok_or_else(|| refuse("this build of mksum has no network client".into()))?;
    let root_of = |place: &Input| -> Result<Root, Error> {
        options.meter.expect(0);
        Ok(hash(&Job::new(place.clone(), vec![spec.clone()]), options)?.remove(0)?)
    };
    let file = File::open(source, options)?;
    let len = file.len();
    // Of another length it is another one, and if it cannot be reached, the writing says why.
    if objects.stored(url).is_ok_and(|stored| stored.len == len) {
        let root = root_of(source)?;
        if root_of(&copy.target)? == root {
            if copy.outboard.is_some() {
                check(copy, &copy.target, &root, options, || Ok(()))?;
            }
            return Ok(Copied { root, is_present: true, copied: 0 });
        }
    }
    options.meter.expect(len);
    let also = Also::begin(std::slice::from_ref(spec), source, options);
    let before = if also.is_none() { Some(root_of(source)?) } else { None };
    let mut upload = Upload { file: Some(file), at: 0, len, also, failed: None };
    let put = objects.put(url, &mut upload, len);
    if let Some(error) = upload.failed {
        return Err(error.into());
    }
    put?;
    // Nothing was read of an empty one.
    upload.file.map_or(Ok(()), File::finish)?;
    let root = match (upload.also, before) {
        (Some(also), _) => also.finish()?.remove(0).map_err(refuse)?,
        (None, before) => before.expect("it was hashed before"),
    };
    let found = objects.stored(url)?.len;
    if found != len {
        return Err(refuse(format!(
            "the store has another length than was sent: expected {len} bytes, found {found}: remove the object"
        )));
    }
    check(copy, &copy.target, &root, options, || Ok(()))?;
    Ok(Copied { root, is_present: false, copied: len })
}

/// Copies all of a file.
fn whole(
    (copy, target): (&Copy, &Path),
    source: File,
    metadata: Option<&Metadata>,
    options: &Options,
) -> Result<Copied, Error> {
    let len = source.len();
    let partial = Partial::resume(target)?;
    let copied = stream((copy, target), &source, &partial, options).and_then(|root| {
        source.finish()?;
        set_attributes(partial.file(), metadata).map_err(|error| write(target, error))?;
        partial.file().sync_all().map_err(|error| write(target, error))?;
        Ok(root)
    });
    let root = match copied {
        Ok(root) => root,
        Err(error) => {
            let is_empty = partial.file().metadata().is_ok_and(|metadata| metadata.len() == 0);
            partial.remove_if(is_empty);
            return Err(error);
        }
    };
    let place = Input::from(partial.path());
    check(copy, &place, &root, options, || Ok(partial.finish()?))?;
    Ok(Copied { root, is_present: false, copied: len })
}

/// Writes the bytes of a file, and hashes them.
fn stream((copy, target): (&Copy, &Path), source: &File, partial: &Partial, options: &Options) -> Result<Root, Error> {
    options.meter.expect(source.len());
    partial.file().set_len(0).map_err(|error| write(target, error))?;
    let original = copy.source.file().filter(|_| copy.shares_blocks).and_then(|path| fs::File::open(path).ok());
    let is_shared = original.is_some_and(|original| share_blocks(&original, partial.file()).is_ok());
    let mut reader = InOrder { file: source, at: 0, failed: None };
    // The reading of the source is counted, and slowed down, once.
    let uncounted = &uncounted(options);
    let specs = std::slice::from_ref(&copy.spec);
    let roots = match is_shared {
        true => hash_reader(&mut reader, &copy.source, specs, uncounted),
        false => {
            check_room(target, source.len())?;
            let mut tee = Tee::new(&mut reader, partial.file());
            let roots = hash_reader(&mut tee, &copy.source, specs, uncounted);
            if let Some(error) = tee.failed.take() {
                return Err(write(target, error));
            }
            roots
        }
    };
    if let Some(error) = reader.failed {
        return Err(error.into());
    }
    Ok(roots?.remove(0)?)
}

/// Copies the leaves of a file that the target does not have.
fn differing(
    (copy, target): (&Copy, &Path),
    source: File,
    metadata: Option<&Metadata>,
    options: &Options,
) -> Result<Copied, Error> {
    let len = source.len();
    let folder = tempfile::tempdir().map_err(|error| write(target, error))?;
    let tree = folder.path().join("tree");
    options.meter.expect(len);
    let root = keep(source, &copy.spec, &Keeping::new(KeptLayout::unit_of(&copy.spec, Some(UNIT)), &tree))?.root;
    let expected = Expected::from(&root);
    let mut request = Request::new(vec![copy.source.clone()], expected, Target::File(target.into()));
    (request.outboards, request.len, request.read_back) = (vec![tree.into()], Some(len), copy.read_back);
    let got = get(&request, options)?;
    if got.outcome == Outcome::Incomplete {
        let is_other = got.mirrors.iter().any(|mirror| !mirror.bad.is_empty());
        let why = match got.mirrors.into_iter().find_map(|mirror| mirror.error) {
            Some(why) => why,
            None if is_other => "it changed while it was copied: copy it again".into(),
            None => {
                let why = "the disk gave other bytes than were written: look for errors of the disk and its memory";
                return Err(Error::Refused(Partial::name_of(target).into(), why.into()));
            }
        };
        return Err(Error::Refused(copy.source.clone(), why));
    }
    let file = fs::OpenOptions::new().write(true).open(target);
    file.and_then(|file| set_attributes(&file, metadata)).map_err(|error| write(target, error))?;
    if copy.outboard.is_some() {
        check(copy, &copy.target, &root, options, || Ok(()))?;
    }
    Ok(Copied { root, is_present: got.outcome == Outcome::Present, copied: got.fetched })
}

/// Reads the copy at `place` back, calls `finish` if it has the root, and keeps its tree.
fn check(
    copy: &Copy,
    place: &Input,
    root: &Root,
    options: &Options,
    finish: impl FnOnce() -> Result<(), Error>,
) -> Result<(), Error> {
    let mode = if copy.read_back { Mode::Direct } else { options.mode };
    let options = &Options { mode, ..options.clone() };
    if copy.read_back || copy.outboard.is_some() {
        options.meter.expect(root.len());
    }
    let same = |found: &Root| match found == root {
        true => Ok(()),
        false => Err(Error::Refused(
            place.clone(),
            match place {
                Input::Url(_) => format!(
                    "the store has other bytes than were sent:\n  expected root {root}\n  found root    {found}\nRemove the object"
                ),
                _ => format!(
                    "the disk gave other bytes than were written:\n  expected root {root}\n  found root    {found}\nLook for errors of \
                     the disk and its memory; the copy did not get its name"
                ),
            },
        )),
    };
    match &copy.outboard {
        Some(outboard) => {
            let remote = Remote::of(outboard, options)?;
            let path = match (&remote, outboard) {
                (Some(remote), _) => remote.copy(),
                (None, outboard) => outboard.as_os_str().into(),
            };
            let mut keeping = Keeping::new(KeptLayout::unit_of(&copy.spec, None), &path);
            keeping.changes = Changes::Accept;
            let pending = prepare(File::open(place, options)?, &copy.spec, &keeping)?;
            same(pending.root())?;
            finish()?;
            commit(vec![pending]).remove(0)?;
            remote.map_or(Ok(()), |remote| Ok(remote.put()?))
        }
        None => {
            if copy.read_back {
                let job = Job::new(place.clone(), vec![copy.spec.clone()]);
                same(&hash(&job, options)?.remove(0)?)?;
            }
            finish()
        }
    }
}

/// Has a copy be as old as its source, and readable by the same users.
fn set_attributes(file: &fs::File, source: Option<&Metadata>) -> io::Result<()> {
    let Some(source) = source else { return Ok(()) };
    let times = FileTimes::new().set_modified(source.modified()?);
    file.set_times(times)?;
    file.set_permissions(source.permissions())
}

/// The bytes of a file, in order.
struct InOrder<'a> {
    file: &'a File,
    at: u64,
    failed: Option<mksum_io::Error>,
}

impl Read for InOrder<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.file.len() - self.at).unwrap_or(usize::MAX);
        let len = buffer.len().min(left);
        self.file.fill(self.at, &mut buffer[..len]).map_err(|error| {
            let words = error.to_string();
            self.failed = Some(error);
            io::Error::other(words)
        })?;
        self.at += len as u64;
        Ok(len)
    }
}

/// The bytes of a file that becomes an object, in order. The last ones come only if the file has not changed: until then, there is no object.
struct Upload {
    file: Option<File>,
    at: u64,
    len: u64,
    also: Option<Also>,
    failed: Option<mksum_io::Error>,
}

impl Upload {
    fn next(&mut self, buffer: &mut [u8]) -> Result<usize, mksum_io::Error> {
        let Some(file) = &self.file else { return Ok(0) };
        let len = buffer.len().min(usize::try_from(self.len - self.at).unwrap_or(usize::MAX));
        file.fill(self.at, &mut buffer[..len])?;
        self.at += len as u64;
        if self.at == self.len {
            self.file.take().map_or(Ok(()), File::finish)?;
        }
        if let Some(also) = &mut self.also {
            also.put(&buffer[..len]);
        }
        Ok(len)
    }
}

impl Read for Upload {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.next(buffer).map_err(|error| {
            let words = error.to_string();
            self.failed = Some(error);
            io::Error::other(words)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_whole_or_mended_in_place() {
        let folder = tempfile::tempdir().unwrap();
        let (source, target) = (folder.path().join("a"), folder.path().join("b"));
        let bytes: Vec<u8> = (0..300_000_u32).map(|at| (at % 251) as u8).collect();
        fs::write(&source, &bytes).unwrap();
        for format in ["rfc6962", "sha256", "blake3"] {
            let mut job = Copy::new(source.clone().into(), (&target).into(), format.parse().unwrap());
            job.shares_blocks = format == "blake3";
            job.outboard = job.spec.supports(ByOffset::Outboard).is_ok().then(|| folder.path().join("b.mkt").into());
            let (options, root) = (Options::new(), job.spec.root(&bytes).unwrap());
            let done = copy(&job, &options).unwrap();
            assert_eq!((&done.root, done.is_present, done.copied), (&root, false, 300_000));
            assert_eq!(fs::read(&target).unwrap(), bytes);
            let modified = |path| fs::metadata(path).unwrap().modified().unwrap();
            assert_eq!(modified(&target), modified(&source));
            if job.outboard.is_some() {
                assert!(copy(&job, &options).unwrap().is_present);
                let mut damaged = bytes.clone();
                damaged[100_000] ^= 1;
                fs::write(&target, damaged).unwrap();
                // A chain has one leaf.
                let leaf = if format == "sha256" { 300_000 } else { 65_536 };
                assert_eq!(copy(&job, &options).unwrap().copied, leaf);
                assert_eq!(fs::read(&target).unwrap(), bytes);
                fs::remove_file(folder.path().join("b.mkt")).unwrap();
            }
            fs::remove_file(&target).unwrap();
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        }
    }

    #[test]
    fn a_copy_that_the_disk_changed_gets_no_name() {
        let folder = tempfile::tempdir().unwrap();
        let (target, part) = (folder.path().join("b"), folder.path().join("b.part"));
        fs::write(&part, "other bytes").unwrap();
        for outboard in [None, Some(folder.path().join("b.mkt").into())] {
            let mut job = Copy::new(folder.path().join("a").into(), (&target).into(), Spec::default());
            job.outboard = outboard;
            let root = job.spec.root(b"bytes").unwrap();
            let finish = || panic!("it is finished");
            let error = check(&job, &part.as_path().into(), &root, &Options::new(), finish).unwrap_err();
            assert!(error.to_string().contains("the disk gave other bytes"), "{error}");
            assert!(!folder.path().join("b.mkt").exists());
        }
    }

    #[test]
    fn a_file_is_not_copied_to_itself() {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("a");
        fs::write(&source, "a").unwrap();
        let job = Copy::new(source.clone().into(), folder.path().join("./a").into(), Spec::default());
        assert!(copy(&job, &Options::new()).unwrap_err().to_string().contains("itself"));
        assert_eq!(fs::read(&source).unwrap(), b"a");
    }
}
