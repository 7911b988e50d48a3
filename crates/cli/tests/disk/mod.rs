//! A disk with bad sectors: a file system with one file, whose reads fail in the kernel where a sector is bad. A sector that
//! is written is good from then on, as a disk's is that puts another in its place.

use fuser::{
    BackgroundSession, BsdFileFlags, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation,
    INodeNo, LockOwner, OpenFlags, ReplyAttr, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyWrite,
    Request, TimeOrNow, WriteFlags,
};
use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The length of a sector, in bytes.
const SECTOR: u64 = 512;
/// Attributes are asked for again each time.
const FRESH: Duration = Duration::ZERO;
const FILE: INodeNo = INodeNo(2);

/// A mounted disk; unmounted when it is dropped.
pub struct Disk {
    _session: BackgroundSession,
}

/// Mounts a disk at `folder`, which must exist: the file in it has the name and content of `backing`, but for sectors that
/// have a byte of `bad`.
pub fn mount(backing: &Path, folder: &Path, bad: &[Range<u64>]) -> io::Result<Disk> {
    let file = OpenOptions::new().read(true).write(true).open(backing)?;
    let name = backing.file_name().ok_or(io::ErrorKind::InvalidInput)?.into();
    let sectors = bad.iter().flat_map(|range| range.start / SECTOR..range.end.div_ceil(SECTOR)).collect();
    let faulty = Faulty { name, file, bad: Mutex::new(sectors) };
    let mut config = Config::default();
    config.mount_options.push(fuser::MountOption::FSName("bad-sectors".into()));
    Ok(Disk { _session: fuser::spawn_mount(faulty, folder, &config)? })
}

struct Faulty {
    name: OsString,
    file: File,
    /// The bad sectors, by number.
    bad: Mutex<Vec<u64>>,
}

impl Faulty {
    fn attributes(&self, node: INodeNo) -> io::Result<FileAttr> {
        let metadata = self.file.metadata()?;
        let is_file = node == FILE;
        let modified = metadata.modified().unwrap_or(UNIX_EPOCH);
        Ok(FileAttr {
            ino: node,
            size: if is_file { metadata.len() } else { 0 },
            blocks: metadata.len().div_ceil(SECTOR),
            atime: modified,
            mtime: modified,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind: if is_file { FileType::RegularFile } else { FileType::Directory },
            perm: if is_file { 0o644 } else { 0o755 },
            nlink: 1,
            uid: metadata.uid(),
            gid: metadata.gid(),
            rdev: 0,
            blksize: SECTOR as u32,
            flags: 0,
        })
    }

    fn is_bad(&self, offset: u64, len: u64) -> bool {
        let sectors = offset / SECTOR..(offset + len).div_ceil(SECTOR);
        self.bad.lock().unwrap().iter().any(|sector| sectors.contains(sector))
    }
}

impl Filesystem for Faulty {
    fn lookup(&self, _: &Request, _: INodeNo, name: &OsStr, reply: ReplyEntry) {
        match self.attributes(FILE) {
            Ok(attributes) if name == self.name => reply.entry(&FRESH, &attributes, Generation(0)),
            Ok(_) => reply.error(Errno::ENOENT),
            Err(error) => reply.error(error.into()),
        }
    }

    fn getattr(&self, _: &Request, node: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.attributes(node) {
            Ok(attributes) => reply.attr(&FRESH, &attributes),
            Err(error) => reply.error(error.into()),
        }
    }

    fn setattr(
        &self,
        _: &Request,
        node: INodeNo,
        _: Option<u32>,
        _: Option<u32>,
        _: Option<u32>,
        size: Option<u64>,
        _: Option<TimeOrNow>,
        modified: Option<TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let set = || {
            size.map_or(Ok(()), |size| self.file.set_len(size))?;
            if let Some(time) = modified {
                self.file.set_modified(match time {
                    TimeOrNow::SpecificTime(time) => time,
                    TimeOrNow::Now => SystemTime::now(),
                })?;
            }
            self.attributes(node)
        };
        match set() {
            Ok(attributes) => reply.attr(&FRESH, &attributes),
            Err(error) => reply.error(error.into()),
        }
    }

    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        reply.opened(FileHandle(0), FopenFlags::empty());
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        if self.is_bad(offset, size.into()) {
            return reply.error(Errno::EIO);
        }
        let (mut bytes, mut done) = (vec![0; size as usize], 0);
        while done < bytes.len() {
            match self.file.read_at(&mut bytes[done..], offset + done as u64) {
                Ok(0) => break,
                Ok(more) => done += more,
                Err(error) => return reply.error(error.into()),
            }
        }
        reply.data(&bytes[..done]);
    }

    fn write(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        match self.file.write_all_at(data, offset) {
            Ok(()) => {
                let end = offset + data.len() as u64;
                // The last sector of a file is written whole, whatever part of it is the file's.
                let last = self.file.metadata().is_ok_and(|metadata| metadata.len() <= end);
                let written = offset.div_ceil(SECTOR)..if last { end.div_ceil(SECTOR) } else { end / SECTOR };
                self.bad.lock().unwrap().retain(|sector| !written.contains(sector));
                reply.written(data.len() as u32);
            }
            Err(error) => reply.error(error.into()),
        }
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn fsync(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        match self.file.sync_all() {
            Ok(()) => reply.ok(),
            Err(error) => reply.error(error.into()),
        }
    }

    fn readdir(&self, _: &Request, _: INodeNo, _: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        if offset == 0 {
            let _ = reply.add(FILE, 1, FileType::RegularFile, &self.name);
        }
        reply.ok();
    }
}
