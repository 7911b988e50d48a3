//! The answers to the kernel.

use crate::open::{OpenFiles, Reader};
use crate::tree::{Kind, Node, Tree};
use fuser::{
    Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo, InitFlags, KernelConfig,
    LockOwner, OpenFlags, ReplyAttr, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs,
    Request,
};
use mksum_io::{Error, Facts, Input, Opening, Options, Verified, WriteBack};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

thread_local! {
    /// What a thread answers a read with: new memory would be cleared for each. The kernel asks for 1 MiB at most.
    static MEMORY: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Takes the reports about files.
pub type Log = Arc<dyn Fn(&Input, Report<'_>) + Send + Sync>;

/// What is reported of a file.
#[derive(Debug)]
pub enum Report<'a> {
    /// A read failed.
    Failed(&'a Error),
    /// This many bytes were damaged, or could not be read, and came from a replica; with [`WriteBack::Yes`] they were written to the file.
    Replaced(u64, WriteBack),
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Report::Failed(error) => error.fmt(f),
            Report::Replaced(bytes, WriteBack::No) => {
                write!(f, "{bytes} bytes are damaged or unreadable, and came from a replica")
            }
            Report::Replaced(bytes, WriteBack::Yes) => {
                write!(f, "{bytes} bytes were damaged or unreadable, came from a replica, and were written to it")
            }
        }
    }
}

/// A mounted [`Tree`].
pub struct Files {
    tree: Tree,
    options: Options,
    log: Log,
    /// Whether the kernel asks for so much ahead that requests of their own fill all cores.
    kernel_reads_ahead: Arc<AtomicBool>,
    open: OpenFiles,
    readers: Mutex<HashMap<u64, Arc<Reader>>>,
    next: AtomicU64,
    /// The failures that were reported: the kernel repeats a read that failed, page by page.
    reported: Mutex<HashSet<String>>,
    /// The user and group that mounted it.
    owner: (u32, u32),
    /// The time of entries that have none.
    mounted: SystemTime,
}

impl Files {
    /// The time for which the kernel may keep what it was told of an entry: nothing changes.
    const KEEP: Duration = Duration::from_secs(24 * 3600);
    /// The requests for reading ahead that the kernel sends at a time.
    const BACKGROUND: u16 = 64;
    /// The failures that are remembered, to be reported once.
    const REPORTED: usize = 4096;

    pub fn new(tree: Tree, options: Options, log: Log, kernel_reads_ahead: Arc<AtomicBool>) -> Files {
        let owner = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
        Files {
            tree,
            options,
            log,
            kernel_reads_ahead,
            open: OpenFiles::default(),
            readers: Mutex::default(),
            next: AtomicU64::new(1),
            reported: Mutex::default(),
            owner,
            mounted: SystemTime::now(),
        }
    }

    fn attributes(&self, number: u64, node: &Node) -> FileAttr {
        let (kind, perm, size) = match &node.kind {
            Kind::Folder(_) => (FileType::Directory, 0o555, 0),
            Kind::Link(text) => (FileType::Symlink, 0o777, text.as_os_str().len() as u64),
            Kind::File(opening) => (FileType::RegularFile, 0o444, opening.len.unwrap_or(0)),
        };
        let modified = node.attributes.modified.or_else(|| modified(node)).and_then(time).unwrap_or(self.mounted);
        FileAttr {
            ino: INodeNo(number),
            size,
            blocks: size.div_ceil(512),
            atime: modified,
            mtime: modified,
            ctime: modified,
            crtime: modified,
            kind,
            // No program gets another user's rights by a file of a catalogue.
            perm: node.attributes.mode.map_or(perm, |mode| (mode & 0o777) as u16),
            nlink: 1,
            uid: self.owner.0,
            gid: self.owner.1,
            rdev: 0,
            blksize: 64 << 10,
            flags: 0,
        }
    }

    fn file(&self, number: u64) -> Option<&Opening> {
        match &self.tree.node(number)?.kind {
            Kind::File(opening) => Some(opening),
            _ => None,
        }
    }

    fn reader(&self, handle: FileHandle) -> Option<Arc<Reader>> {
        self.readers.lock().unwrap_or_else(PoisonError::into_inner).get(&handle.0).cloned()
    }

    /// Reports bytes that came from replicas.
    fn report_replaced(&self, number: u64, verified: &Arc<Verified>) {
        let bytes = self.open.replaced(number, verified);
        if bytes > 0 {
            // Objects are not written to.
            let file = self.file(number).filter(|opening| opening.file.file().is_some());
            let written = file.map_or(WriteBack::No, |opening| opening.write_back);
            (self.log)(verified.input(), Report::Replaced(bytes, written));
        }
    }

    /// Reports a failure, once, and has the file opened anew.
    fn fail(&self, number: u64, error: &Error) -> Errno {
        self.open.forget(number);
        let text = format!("{number} {error}");
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        if reported.len() >= Self::REPORTED {
            reported.clear();
        }
        if reported.insert(text) {
            drop(reported);
            (self.log)(error.input(), Report::Failed(error));
        }
        Errno::EIO
    }
}

/// The time of the file itself, where its list has none.
fn modified(node: &Node) -> Option<(i64, u32)> {
    let Kind::File(opening) = &node.kind else { return None };
    Facts::of(opening.file.file()?).ok().map(|facts| facts.modified)
}

fn time((seconds, nanoseconds): (i64, u32)) -> Option<SystemTime> {
    let whole = Duration::from_secs(seconds.unsigned_abs());
    let time = if seconds < 0 { UNIX_EPOCH.checked_sub(whole) } else { UNIX_EPOCH.checked_add(whole) };
    time?.checked_add(Duration::from_nanos(nanoseconds.into()))
}

impl Filesystem for Files {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        // What the kernel lacks it does without.
        let _ = config.add_capabilities(InitFlags::FUSE_PARALLEL_DIROPS);
        let _ = config.add_capabilities(InitFlags::FUSE_CACHE_SYMLINKS);
        let _ = config.set_max_background(Self::BACKGROUND);
        Ok(())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let found = self.tree.find(parent.0, name);
        match found.and_then(|number| Some((number, self.tree.node(number)?))) {
            Some((number, node)) => reply.entry(&Self::KEEP, &self.attributes(number, node), Generation(0)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, number: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.tree.node(number.0) {
            Some(node) => reply.attr(&Self::KEEP, &self.attributes(number.0, node)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn readlink(&self, _: &Request, number: INodeNo, reply: ReplyData) {
        match self.tree.node(number.0) {
            Some(Node { kind: Kind::Link(text), .. }) => reply.data(text.as_os_str().as_bytes()),
            _ => reply.error(Errno::EINVAL),
        }
    }

    fn open(&self, _: &Request, number: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        let Some(opening) = self.file(number.0) else { return reply.error(Errno::EISDIR) };
        match self.open.get(number.0, || self.tree.open(opening, &self.options)) {
            Ok(verified) => {
                let handle = self.next.fetch_add(1, Ordering::Relaxed);
                let reader = Arc::new(Reader::new(verified));
                self.readers.lock().unwrap_or_else(PoisonError::into_inner).insert(handle, reader);
                // The root is the same whenever it is opened: bytes that were verified for one program are right for all.
                reply.opened(FileHandle(handle), FopenFlags::FOPEN_KEEP_CACHE);
            }
            Err(error) => reply.error(self.fail(number.0, &error)),
        }
    }

    fn read(
        &self,
        _: &Request,
        number: INodeNo,
        handle: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let Some(reader) = self.reader(handle) else { return reply.error(Errno::EBADF) };
        let count = reader.verified.len().saturating_sub(offset).min(size.into()) as usize;
        let reads_ahead = self.kernel_reads_ahead.load(Ordering::Relaxed);
        if let Some(bytes) = reader.verified.kept(offset, count) {
            reply.data(&bytes);
        } else {
            let is_read = MEMORY.with_borrow_mut(|memory| {
                memory.resize(memory.len().max(count), 0);
                let bytes = &mut memory[..count];
                let read = match reads_ahead {
                    // Its next requests are answered by other threads meanwhile.
                    true => reader.verified.read_here(offset, bytes),
                    false => reader.verified.read_at(offset, bytes),
                };
                match &read {
                    Ok(count) => reply.data(&bytes[..*count]),
                    Err(error) => reply.error(self.fail(number.0, error)),
                }
                read.is_ok()
            });
            if !is_read {
                return;
            }
        }
        if !reads_ahead {
            // The program works with these bytes meanwhile.
            reader.read_ahead(offset, count as u64);
        }
        self.report_replaced(number.0, &reader.verified);
    }

    fn release(
        &self,
        _: &Request,
        number: INodeNo,
        handle: FileHandle,
        _: OpenFlags,
        _: Option<LockOwner>,
        _: bool,
        reply: ReplyEmpty,
    ) {
        let closed = self.readers.lock().unwrap_or_else(PoisonError::into_inner).remove(&handle.0);
        reply.ok();
        if let Some(reader) = closed {
            self.report_replaced(number.0, &reader.verified);
        }
    }

    fn readdir(&self, _: &Request, number: INodeNo, _: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        let Some(Node { kind: Kind::Folder(names), parent, .. }) = self.tree.node(number.0) else {
            return reply.error(Errno::ENOTDIR);
        };
        let own = [(OsStr::new("."), number.0), (OsStr::new(".."), *parent)];
        let entries = own.into_iter().chain(names.iter().map(|(name, number)| (name.as_os_str(), *number)));
        for (index, (name, number)) in entries.enumerate().skip(usize::try_from(offset).unwrap_or(usize::MAX)) {
            let kind = match self.tree.node(number).map(|node| &node.kind) {
                Some(Kind::Folder(_)) | None => FileType::Directory,
                Some(Kind::Link(_)) => FileType::Symlink,
                Some(Kind::File(_)) => FileType::RegularFile,
            };
            if reply.add(INodeNo(number), index as u64 + 1, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        reply.statfs(0, 0, 0, self.tree.count(), 0, 64 << 10, 255, 0);
    }
}
