//! Differences between systems: positioned reads, and the facts about a file that only Linux offers.

use crate::paths::folder;
use std::fs::{File, Metadata};
use std::io;
use std::path::Path;

/// Reads at `offset` without moving the file's position; short only at the end of the file or before an error.
#[cfg(unix)]
pub(crate) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

/// Reads at `offset`; short only at the end of the file or before an error.
#[cfg(windows)]
pub(crate) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, offset)
}

/// Sets the time of the last change of a file, a directory or a symbolic link, which is not followed: seconds since 1970, and nanoseconds.
///
/// # Errors
/// If the system cannot.
#[cfg(unix)]
pub fn set_modified(path: &Path, (seconds, nanoseconds): (i64, u32)) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, UTIME_OMIT, utimensat};
    let times = Timestamps {
        last_access: Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
        last_modification: Timespec { tv_sec: seconds, tv_nsec: nanoseconds.into() },
    };
    Ok(utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW)?)
}

/// Has the empty file `to` share the blocks of `from`, where the file system can (Btrfs, XFS, ...).
///
/// # Errors
/// If it cannot: then nothing was written.
#[cfg(target_os = "linux")]
pub fn share_blocks(from: &File, to: &File) -> io::Result<()> {
    Ok(rustix::fs::ioctl_ficlone(to, from)?)
}

/// Has the empty file `to` share the blocks of `from`, where the file system can.
///
/// # Errors
/// On this system, always.
#[cfg(not(target_os = "linux"))]
pub fn share_blocks(_: &File, _: &File) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Opens a file for reading without waiting for anything: a named pipe needs no writer.
pub(crate) fn open_at_once(path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    {
        open_with_flags(path, rustix::fs::OFlags::empty())
    }
    #[cfg(not(unix))]
    File::open(path)
}

/// Opens an entry of a directory as [`open_at_once`] does, unless it is a symbolic link.
///
/// Elsewhere than on Unix, a link that took the entry's place after it was listed is followed.
pub(crate) fn open_entry(path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    {
        open_with_flags(path, rustix::fs::OFlags::NOFOLLOW)
    }
    #[cfg(not(unix))]
    File::open(path)
}

#[cfg(unix)]
fn open_with_flags(path: &Path, flags: rustix::fs::OFlags) -> io::Result<File> {
    unleased(flags, |flags| open_for(path, Access::Read, flags))
}

#[cfg(unix)]
fn open_for(path: &Path, access: Access, flags: rustix::fs::OFlags) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = std::fs::OpenOptions::new();
    options.read(true).write(access == Access::Write).custom_flags(flags.bits() as i32).open(path)
}

/// Opens without waiting; a regular file on which another process has a lease with waiting, since it is given up only for that.
#[cfg(unix)]
fn unleased(flags: rustix::fs::OFlags, open: impl Fn(rustix::fs::OFlags) -> io::Result<File>) -> io::Result<File> {
    match open(flags | rustix::fs::OFlags::NONBLOCK) {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => open(flags),
        opened => opened,
    }
}

/// The access with which a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    /// Reading and writing. Windows lets no one else write to the file or rename it or its directories then.
    Write,
}

/// Opens a file that will be held open, without waiting for anything.
pub(crate) fn open_held(path: &Path, access: Access) -> io::Result<File> {
    #[cfg(unix)]
    {
        unleased(rustix::fs::OFlags::empty(), |flags| open_for(path, access, flags))
    }
    #[cfg(windows)]
    {
        held(access).open(path)
    }
}

#[cfg(windows)]
fn held(access: Access) -> std::fs::OpenOptions {
    use std::os::windows::fs::OpenOptionsExt;
    const FILE_SHARE_READ: u32 = 1;
    let mut options = std::fs::OpenOptions::new();
    options.read(true);
    if access == Access::Write {
        options.write(true).share_mode(FILE_SHARE_READ);
    }
    options
}

/// A directory that is held open.
#[cfg(unix)]
#[derive(Debug)]
pub(crate) struct Directory(File);

#[cfg(unix)]
impl Directory {
    pub fn open(path: &Path) -> io::Result<Self> {
        open_with_flags(path, rustix::fs::OFlags::DIRECTORY).map(Directory)
    }

    /// Opens a file below it; a symbolic link on the way is an error.
    pub fn open_below(&self, below: &Path, access: Access) -> io::Result<File> {
        use rustix::fs::{Mode, OFlags, openat};
        let (folder, name) = self.folder_of(below)?;
        let access = if access == Access::Write { OFlags::RDWR } else { OFlags::RDONLY };
        let flags = access | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        unleased(flags, |flags| Ok(openat(&folder, name, flags, Mode::empty())?.into()))
    }

    /// The device and inode of the entry below it, which is not followed if it is a link.
    #[allow(clippy::unnecessary_cast)] // The types differ between systems.
    pub fn id_below(&self, below: &Path, _: &File) -> io::Result<(u64, u64)> {
        let (folder, name) = self.folder_of(below)?;
        let found = rustix::fs::statat(&folder, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW)?;
        Ok((found.st_dev as u64, found.st_ino as u64))
    }

    /// The folder of a path below it, opened name by name, and the last name.
    fn folder_of<'a>(&self, below: &'a Path) -> io::Result<(std::os::fd::OwnedFd, &'a std::ffi::OsStr)> {
        use rustix::fs::{Mode, OFlags, openat};
        let name = below.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let mut folder = self.0.try_clone()?.into();
        for part in below.parent().into_iter().flat_map(Path::components) {
            let std::path::Component::Normal(part) = part else { return Err(io::ErrorKind::InvalidInput.into()) };
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            folder = openat(&folder, part, flags, Mode::empty())?;
        }
        Ok((folder, name))
    }
}

/// A directory by its path: a file in it that is open for writing keeps the names of its directories.
#[cfg(windows)]
#[derive(Debug)]
pub(crate) struct Directory(std::path::PathBuf);

#[cfg(windows)]
impl Directory {
    pub fn open(path: &Path) -> io::Result<Self> {
        match std::fs::metadata(path)?.is_dir() {
            true => Ok(Directory(path.into())),
            false => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    /// Opens a file below it; a symbolic link or a junction on the way is an error.
    pub fn open_below(&self, below: &Path, access: Access) -> io::Result<File> {
        use std::os::windows::fs::OpenOptionsExt;
        const FILE_FLAG_OPEN_REPARSE_POINT: u32 = 0x0020_0000;
        let file = held(access).custom_flags(FILE_FLAG_OPEN_REPARSE_POINT).open(self.0.join(below))?;
        for part in below.ancestors().filter(|part| !part.as_os_str().is_empty()) {
            if std::fs::symlink_metadata(self.0.join(part))?.is_symlink() {
                return Err(io::Error::other("a link is on the way to it"));
            }
        }
        Ok(file)
    }

    /// The number of the file itself: Windows has none that can be asked for by a path.
    pub fn id_below(&self, _: &Path, file: &File) -> io::Result<(u64, u64)> {
        Ok(Stamp::of(&file.metadata()?).id)
    }
}

/// Asks whether this process may read a file, without opening it; only Unix tells that.
///
/// # Errors
/// Why it may not, or why the file is not found.
pub(crate) fn check_access(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        Ok(rustix::fs::access(path, rustix::fs::Access::READ_OK)?)
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        Ok(())
    }
}

/// The value of an extended attribute of the file at a path, if there is one; links are followed.
///
/// # Errors
/// `FileTooLarge` if the value has more than `longest` bytes; `Unsupported` where the system or the file system has no attributes.
pub(crate) fn attribute(path: &Path, name: &str, longest: usize) -> io::Result<Option<Vec<u8>>> {
    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    {
        let mut value = vec![0; longest];
        match rustix::fs::getxattr(path, name, &mut value[..]) {
            Ok(len) => {
                value.truncate(len);
                Ok(Some(value))
            }
            #[cfg(target_os = "linux")]
            Err(rustix::io::Errno::NODATA) => Ok(None),
            #[cfg(target_vendor = "apple")]
            Err(rustix::io::Errno::NOATTR) => Ok(None),
            Err(rustix::io::Errno::RANGE) => Err(io::ErrorKind::FileTooLarge.into()),
            Err(errno) => Err(errno.into()),
        }
    }
    #[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
    {
        let _ = (path, name, longest);
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Sets an extended attribute of a file.
///
/// # Errors
/// `Unsupported` where the system or the file system has no attributes.
pub(crate) fn set_attribute(file: &File, name: &str, value: &[u8]) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    {
        Ok(rustix::fs::fsetxattr(file, name, value, rustix::fs::XattrFlags::empty())?)
    }
    #[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
    {
        let _ = (file, name, value);
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Whether the file takes no room on a disk, although it is not empty.
pub(crate) fn is_unstored(metadata: &Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        metadata.blocks() == 0 && metadata.len() > 0
    }
    #[cfg(not(unix))]
    {
        let _ = metadata;
        false
    }
}

/// Calls the system again as long as a signal interrupts the call.
///
/// # Errors
/// Any other error.
pub(crate) fn uninterrupted<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// Fills `buffer` with the bytes from `offset` on.
///
/// # Errors
/// How many bytes there were, and why no more: `UnexpectedEof` where the file ends.
pub(crate) fn read_exact_at(file: &File, buffer: &mut [u8], offset: u64) -> Result<(), (usize, io::Error)> {
    let mut done = 0;
    while done < buffer.len() {
        match uninterrupted(|| read_at(file, &mut buffer[done..], offset + done as u64)) {
            Ok(0) => return Err((done, io::ErrorKind::UnexpectedEof.into())),
            Ok(more) => done += more,
            Err(error) => return Err((done, error)),
        }
    }
    Ok(())
}

/// Writes all of `bytes` at `offset`.
#[cfg(unix)]
pub(crate) fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

/// Writes all of `bytes` at `offset`.
#[cfg(windows)]
pub(crate) fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    let mut done = 0;
    while done < bytes.len() {
        match std::os::windows::fs::FileExt::seek_write(file, &bytes[done..], offset + done as u64)? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            more => done += more,
        }
    }
    Ok(())
}

/// Makes sure that the names in the folder of `path` outlast a power failure.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    // Where folders cannot be opened, the system keeps names by itself.
    if cfg!(unix) { File::open(folder(path))?.sync_all() } else { Ok(()) }
}

/// Whether a read of an open file waits for a writer: the file is a pipe or a terminal.
pub(crate) fn waits(file: &File) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if file.metadata().is_ok_and(|metadata| metadata.file_type().is_fifo()) {
            return true;
        }
    }
    io::IsTerminal::is_terminal(file)
}

/// The kind of an open file, for a reader.
#[cfg_attr(not(unix), allow(dead_code))] // Devices are files of Unix.
pub(crate) enum Kind {
    Regular,
    Directory,
    /// A block device: its length is where it ends.
    Device,
    /// A pipe, a socket, a device that comes to an end.
    Stream,
    /// A device that never does.
    Endless,
}

/// The kind of `file`.
pub(crate) fn kind(file: &File, metadata: &Metadata) -> Kind {
    if metadata.is_dir() {
        return Kind::Directory;
    }
    if metadata.is_file() {
        return Kind::Regular;
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if metadata.file_type().is_block_device() {
            return Kind::Device;
        }
        if metadata.file_type().is_char_device() && !device_ends(file, metadata) {
            return Kind::Endless;
        }
    }
    let _ = file;
    Kind::Stream
}

/// Whether a file could not be opened because this process, or the system, has too many open.
pub(crate) fn is_too_many(error: &io::Error) -> bool {
    #[cfg(unix)]
    {
        let full = [rustix::io::Errno::MFILE, rustix::io::Errno::NFILE];
        full.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
    }
    #[cfg(not(unix))]
    {
        let _ = error;
        false
    }
}

/// Whether an error of a read means that the device cannot read these bytes; other bytes of the file may be fine.
pub(crate) fn is_media_error(error: &io::Error) -> bool {
    // Windows: CRC, SECTOR_NOT_FOUND, READ_FAULT, DEVICE_HARDWARE_ERROR, IO_DEVICE, DISK_OPERATION_FAILED.
    #[cfg(windows)]
    const CODES: [i32; 6] = [23, 27, 30, 483, 1117, 1127];
    #[cfg(not(any(windows, unix)))]
    const CODES: [i32; 0] = [];
    // The block layer's errors of media, targets, protection and time (Linux, block/blk-core.c), and those with which file
    // systems report a wrong checksum of their own.
    #[cfg(target_os = "linux")]
    const CODES: [i32; 7] = {
        use rustix::io::Errno;
        [
            Errno::IO.raw_os_error(),
            Errno::NODATA.raw_os_error(),
            Errno::REMOTEIO.raw_os_error(),
            Errno::ILSEQ.raw_os_error(),
            Errno::TIMEDOUT.raw_os_error(),
            Errno::BADMSG.raw_os_error(),
            Errno::UCLEAN.raw_os_error(),
        ]
    };
    #[cfg(all(unix, not(target_os = "linux")))]
    const CODES: [i32; 1] = [rustix::io::Errno::IO.raw_os_error()];
    error.raw_os_error().is_some_and(|code| CODES.contains(&code))
}

/// The facts that show whether a file is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// The file's length, in bytes.
    pub len: u64,
    /// The last changes of the content and of the file's other data, in seconds and nanoseconds.
    pub times: [(i64, i64); 2],
    /// The device and the file's number on it.
    pub id: (u64, u64),
}

impl Stamp {
    /// Describes how a file differs from what it was when it had this stamp, if it does: by the metadata `now` of the open file, and
    /// by the device and number of the file that is at its path, or why there is none.
    pub fn difference(&self, now: &Metadata, there: Result<(u64, u64), String>) -> Option<String> {
        if let Some(how) = self.length_difference(now) {
            return Some(how);
        }
        let (is_file, now) = (now.is_file(), Stamp::of(now));
        match there {
            Err(error) => return Some(format!("it is gone: {error}")),
            Ok(there) if there != self.id || now.id != self.id => {
                return Some("another file has taken its place".into());
            }
            Ok(_) => {}
        }
        // A writer can set the mtime back, but not the ctime.
        let written = "it was written to, or its owner, mode or links were changed";
        (is_file && now.times != self.times).then(|| written.into())
    }

    /// Describes how the content of an open file differs, by its length and mtime, if it does.
    pub fn content_difference(&self, now: &Metadata) -> Option<String> {
        let written =
            || (now.is_file() && Stamp::of(now).times[0] != self.times[0]).then(|| "it was written to".into());
        self.length_difference(now).or_else(written)
    }

    fn length_difference(&self, now: &Metadata) -> Option<String> {
        (now.is_file() && now.len() != self.len).then(|| format!("it had {} bytes and has {} now", self.len, now.len()))
    }

    #[cfg(unix)]
    pub fn of(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Stamp {
            len: metadata.len(),
            times: [(metadata.mtime(), metadata.mtime_nsec()), (metadata.ctime(), metadata.ctime_nsec())],
            id: (metadata.dev(), metadata.ino()),
        }
    }

    #[cfg(windows)]
    pub fn of(metadata: &Metadata) -> Self {
        use std::os::windows::fs::MetadataExt;
        // Windows counts steps of 100 ns since 1601.
        const SECOND: u64 = 10_000_000;
        const UNTIL_1970: i64 = 11_644_473_600;
        let time = |steps: u64| ((steps / SECOND) as i64 - UNTIL_1970, (steps % SECOND) as i64 * 100);
        let times = [time(metadata.last_write_time()), time(metadata.creation_time())];
        Stamp { len: metadata.len(), times, id: (0, 0) }
    }
}

/// Whether the file takes less room than its length: some of it was never written.
pub(crate) fn is_sparse(metadata: &Metadata) -> bool {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::MetadataExt;
        metadata.is_file() && metadata.blocks().saturating_mul(512) < metadata.len()
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = metadata;
        false
    }
}

/// The bytes that a file takes on its disk.
pub(crate) fn stored_bytes(metadata: &Metadata) -> u64 {
    #[cfg(unix)]
    {
        std::os::unix::fs::MetadataExt::blocks(metadata).saturating_mul(512)
    }
    #[cfg(not(unix))]
    {
        metadata.len()
    }
}

/// The bytes that can still be written to the disk of a folder; `None` if the system does not say.
pub(crate) fn free_bytes(folder: &Path) -> Option<u64> {
    #[cfg(unix)]
    {
        let found = rustix::fs::statvfs(folder).ok()?;
        Some(found.f_bavail.saturating_mul(found.f_frsize))
    }
    #[cfg(not(unix))]
    {
        let _ = folder;
        None
    }
}

/// The files that this process may have open.
pub(crate) fn open_files() -> usize {
    #[cfg(unix)]
    {
        let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        limit.map_or(usize::MAX, |limit| limit.try_into().unwrap_or(usize::MAX))
    }
    #[cfg(not(unix))]
    {
        usize::MAX
    }
}

#[cfg(target_os = "linux")]
pub(crate) use linux::*;
#[cfg(not(target_os = "linux"))]
pub(crate) use other::*;

#[cfg(target_os = "linux")]
mod linux {
    use rustix::fs::{AtFlags, CWD, SeekFrom, linkat, major, minor, seek};
    use rustix::io::{Errno, ReadWriteFlags, preadv2};
    use std::fs::{self, File, Metadata, OpenOptions};
    use std::io::{self, IoSliceMut};
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
    use std::path::Path;

    /// Offsets, lengths and memory of reads around the page cache are multiples of this, in bytes: a page, which every
    /// device allows.
    pub(crate) const DIRECT_ALIGN: usize = 4096;

    /// The file system of memory (statfs(2)): what it reads "around the cache" is copied from the cache all the same.
    const TMPFS: i128 = 0x0102_1994;

    /// Opens the same file again, to be read around the page cache; `None` where the file system cannot, or has nothing else.
    pub(crate) fn open_direct(file: &File) -> Option<File> {
        rustix::fs::fstatfs(file).ok().filter(|system| i128::from(system.f_type) != TMPFS)?;
        // By its descriptor: its path may be another file's by now.
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        let flags = rustix::fs::OFlags::DIRECT.bits() as i32;
        OpenOptions::new().read(true).custom_flags(flags).open(path).ok()
    }

    /// Reads the part of the range that the page cache holds: `None` if not even its first page.
    ///
    /// Fewer bytes than asked for mean that the cache holds no more, or that the file ends.
    pub(crate) fn read_cached(file: &File, slices: &mut [IoSliceMut<'_>], offset: u64) -> io::Result<Option<usize>> {
        match preadv2(file, slices, offset, ReadWriteFlags::NOWAIT) {
            Ok(len) => Ok(Some(len)),
            Err(Errno::AGAIN) => Ok(None),
            // A file system without this flag: as if nothing were cached.
            Err(Errno::OPNOTSUPP | Errno::INVAL) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads into several slices at once; short only at the end of the file or before an error.
    pub(crate) fn read_vectored_at(file: &File, slices: &mut [IoSliceMut<'_>], offset: u64) -> io::Result<usize> {
        Ok(preadv2(file, slices, offset, ReadWriteFlags::empty())?)
    }

    /// The first byte at or after `offset` that was ever written; `None` if there is none, or the system does not say.
    pub(crate) fn next_data(file: &File, offset: u64) -> Option<u64> {
        match seek(file, SeekFrom::Data(offset)) {
            Ok(data) => Some(data),
            Err(Errno::NXIO) => Some(u64::MAX),
            Err(_) => None,
        }
    }

    /// Lets a pipe hold as much as an ordinary user's may, so that its two ends wait for each other less often.
    pub(crate) fn widen_pipe(file: &File) {
        // Other files stay as they are, and so does a pipe whose user has no more room for it.
        let _ = rustix::pipe::fcntl_setpipe_size(file, 1 << 20);
    }

    /// A file in `folder` that has no name yet; `None` where the file system has no such files.
    pub(crate) fn create_unnamed(folder: &Path) -> Option<File> {
        // Its name comes from there later.
        if !Path::new("/proc/self/fd").exists() {
            return None;
        }
        let flags = rustix::fs::OFlags::TMPFILE.bits() as i32;
        OpenOptions::new().read(true).write(true).mode(0o666).custom_flags(flags).open(folder).ok()
    }

    /// Gives a file that has no name the one at `path`.
    pub(crate) fn give_name(file: &File, path: &Path) -> io::Result<()> {
        let own = format!("/proc/self/fd/{}", file.as_raw_fd());
        Ok(linkat(CWD, own, CWD, path, AtFlags::SYMLINK_FOLLOW)?)
    }

    /// Makes all that was written to the file system of `file` safe against a crash.
    pub(crate) fn sync_file_system(file: &File) -> io::Result<()> {
        Ok(rustix::fs::syncfs(file)?)
    }

    /// Has `len` bytes at `offset` be zero, and take no room on the disk.
    pub(crate) fn punch_hole(file: &File, offset: u64, len: u64) -> io::Result<()> {
        use rustix::fs::{FallocateFlags, fallocate};
        Ok(fallocate(file, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, offset, len)?)
    }

    /// Removes the bytes of a file from the page cache, so that the next read asks the disk.
    pub(crate) fn evict(file: &File) {
        // Advice: without it the disk is not asked again, and the next verification does that.
        let _ = rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed);
    }

    /// Tells the kernel that this file's reads need no read-ahead.
    pub(crate) fn advise_random(file: &File) {
        // Advice: without it the reads are the same.
        let _ = rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::Random);
    }

    /// Tells the kernel to begin to read these bytes.
    pub(crate) fn advise_soon(file: &File, start: u64, len: u64) {
        let _ = rustix::fs::fadvise(file, start, std::num::NonZero::new(len), rustix::fs::Advice::WillNeed);
    }

    /// Tells the kernel that these bytes are not needed again.
    pub(crate) fn advise_done(file: &File, start: u64, len: u64) {
        let _ = rustix::fs::fadvise(file, start, std::num::NonZero::new(len), rustix::fs::Advice::DontNeed);
    }

    /// Whether the file lies on a rotating disk, where reads far apart cost a seek each.
    ///
    /// Virtual disks report themselves as rotational, so the flag is ignored for them.
    pub(crate) fn is_rotating(metadata: &Metadata) -> bool {
        let device = if is_block(metadata) { metadata.rdev() } else { metadata.dev() };
        let link = format!("/sys/dev/block/{}:{}", major(device), minor(device));
        let Ok(mut folder) = fs::canonicalize(link) else { return false };
        if folder.join("partition").exists() {
            folder.pop();
        }
        let is_virtual = folder.components().any(|part| part.as_os_str().as_encoded_bytes().starts_with(b"virtio"));
        !is_virtual && fs::read(folder.join("queue/rotational")).is_ok_and(|text| text.starts_with(b"1"))
    }

    fn is_block(metadata: &Metadata) -> bool {
        std::os::unix::fs::FileTypeExt::is_block_device(&metadata.file_type())
    }

    /// Whether a character device comes to an end: a terminal and `/dev/null` do, `/dev/zero` does not.
    pub(crate) fn device_ends(file: &File, metadata: &Metadata) -> bool {
        let null = (major(metadata.rdev()), minor(metadata.rdev())) == (1, 3);
        null || std::io::IsTerminal::is_terminal(file)
    }

    /// Whether an error says that a file cannot be read around the page cache after all.
    pub(crate) fn is_not_direct(error: &io::Error) -> bool {
        error.raw_os_error() == Some(Errno::INVAL.raw_os_error())
    }

    /// Whether `path` leads to one of this process's own descriptors, and so to no file of its own.
    pub(crate) fn is_descriptor(path: &Path) -> bool {
        path.starts_with("/dev/fd") || path.starts_with("/proc") || path.starts_with("/dev/stdin")
    }
}

#[cfg(not(target_os = "linux"))]
mod other {
    use std::fs::{File, Metadata};
    use std::io::{self, IoSliceMut};
    use std::path::Path;

    pub(crate) const DIRECT_ALIGN: usize = 4096;

    pub(crate) fn open_direct(_: &File) -> Option<File> {
        None
    }

    pub(crate) fn read_cached(_: &File, _: &mut [IoSliceMut<'_>], _: u64) -> io::Result<Option<usize>> {
        Ok(None)
    }

    pub(crate) fn read_vectored_at(file: &File, slices: &mut [IoSliceMut<'_>], offset: u64) -> io::Result<usize> {
        let mut done = 0;
        for slice in slices {
            let len = super::read_at(file, slice, offset + done as u64)?;
            done += len;
            if len < slice.len() {
                break;
            }
        }
        Ok(done)
    }

    pub(crate) fn next_data(_: &File, _: u64) -> Option<u64> {
        None
    }

    pub(crate) fn create_unnamed(_: &Path) -> Option<File> {
        None
    }

    pub(crate) fn give_name(_: &File, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn sync_file_system(file: &File) -> io::Result<()> {
        file.sync_all()
    }

    pub(crate) fn punch_hole(_: &File, _: u64, _: u64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn evict(_: &File) {}

    pub(crate) fn advise_random(_: &File) {}

    pub(crate) fn advise_soon(_: &File, _: u64, _: u64) {}

    pub(crate) fn advise_done(_: &File, _: u64, _: u64) {}

    pub(crate) fn widen_pipe(_: &File) {}

    pub(crate) fn is_rotating(_: &Metadata) -> bool {
        false
    }

    #[cfg(unix)]
    pub(crate) fn device_ends(file: &File, _: &Metadata) -> bool {
        io::IsTerminal::is_terminal(file)
    }

    pub(crate) fn is_not_direct(_: &io::Error) -> bool {
        false
    }

    pub(crate) fn is_descriptor(path: &Path) -> bool {
        path.starts_with("/dev/fd") || path.starts_with("/dev/stdin")
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use rustix::fs::{MemfdFlags, memfd_create};

    #[test]
    fn a_file_in_memory_is_not_read_around_the_cache() {
        let file = memfd_create("file", MemfdFlags::CLOEXEC).unwrap().into();
        assert!(super::open_direct(&file).is_none());
    }
}
