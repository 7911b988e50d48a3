//! Mounting, and taking it away again.

use crate::filesystem::{Files, Log};
use crate::tree::Tree;
use fuser::{Config, MountOption, Session, SessionUnmounter};
use mksum_io::{Options, reason};
use rustix::fs::{AtFlags, CWD, StatxFlags, statx};
use rustix::io::Errno;
use rustix::mount::{UnmountFlags, unmount};
use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

/// The device of FUSE.
const DEVICE: &str = "/dev/fuse";

/// A mounted tree. It is taken away when [`Mount::run`] ends.
pub struct Mount {
    session: Session<Files>,
    unmounter: SessionUnmounter,
    point: PathBuf,
    /// The device number of what was at the mount point before.
    before: u64,
}

enum Event {
    Stop,
    /// The file system is gone; or why no requests come any more.
    Ended(io::Result<()>),
}

/// Ends a [`Mount`] from another thread, or before it has begun.
#[derive(Debug)]
pub struct Stopper(Sender<Event>);

/// What a [`Mount`] waits for.
#[derive(Debug)]
pub struct Stops(Sender<Event>, Receiver<Event>);

impl Stopper {
    /// A stopper, and what the mount that it stops waits for.
    pub fn new() -> (Stopper, Stops) {
        let (sender, events) = mpsc::channel();
        (Stopper(sender.clone()), Stops(sender, events))
    }

    /// Has the file system taken away.
    pub fn stop(&self) {
        // It may have ended by itself.
        let _ = self.0.send(Event::Stop);
    }
}

/// The reason why nothing could be mounted, or taken away again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The mount point, or the device of FUSE.
    pub path: PathBuf,
    /// The reason, and what to do: as words.
    pub why: String,
}

impl Error {
    fn new(path: impl Into<PathBuf>, why: impl Into<String>) -> Error {
        Error { path: path.into(), why: why.into() }
    }
}

impl fmt::Display for Error {
    /// The reason alone: callers print the path before it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl std::error::Error for Error {}

impl Mount {
    /// The requests that are answered at a time: one that waits for a store does not keep others waiting.
    const THREADS: usize = 16;
    /// The KiB that the kernel reads ahead: four requests, as on Btrfs.
    const AHEAD_KIB: u32 = 4096;
    /// The time that readers have to close their files when it is taken away.
    const PATIENCE: Duration = Duration::from_secs(2);

    /// Mounts a tree at an empty directory.
    ///
    /// # Errors
    /// If the mount point is no empty directory, or this system or user may not mount FUSE there.
    pub fn new(tree: Tree, point: &Path, options: &Options, log: Log) -> Result<Mount, Error> {
        let (real, before) = checked(point)?;
        let device = OpenOptions::new().read(true).write(true).open(DEVICE);
        device.map_err(|error| Error::new(DEVICE, no_device(&error)))?;
        let mut config = Config::default();
        config.mount_options = vec![
            MountOption::FSName("mksum".into()),
            MountOption::RO,
            MountOption::NoAtime,
            MountOption::DefaultPermissions,
        ];
        config.n_threads = Some(Self::THREADS);
        config.clone_fd = true;
        let kernel_reads_ahead = Arc::new(AtomicBool::new(false));
        let files = Files::new(tree, options.clone(), log, kernel_reads_ahead.clone());
        let mut session =
            Session::new(files, &real, &config).map_err(|error| Error::new(point, not_mounted(&error)))?;
        kernel_reads_ahead.store(read_far_ahead(&real).is_ok(), Ordering::Relaxed);
        Ok(Mount { unmounter: session.unmount_callable(), session, point: real, before })
    }

    /// Answers the kernel until it is stopped, or somebody else has unmounted it. Nothing is mounted then, also if files in it are open:
    /// their reads fail from then on.
    ///
    /// # Errors
    /// If it cannot be unmounted, or the kernel cannot be answered.
    pub fn run(self, Stops(sender, events): Stops) -> Result<(), Error> {
        let Mount { session, mut unmounter, point, before } = self;
        let answer = move || {
            // Whoever waits for it may be gone.
            let _ = sender.send(Event::Ended(session.run()));
        };
        let begun = thread::Builder::new().name("fuse".into()).spawn(answer);
        let failed = |error: &io::Error| Error::new(&point, reason(error));
        if let Err(error) = begun {
            take_away(&mut unmounter, &point, before)?;
            return Err(failed(&error));
        }
        match events.recv() {
            Ok(Event::Stop) => {
                take_away(&mut unmounter, &point, before)?;
                let _ = events.recv_timeout(Self::PATIENCE);
                Ok(())
            }
            Ok(Event::Ended(Err(error))) => {
                take_away(&mut unmounter, &point, before)?;
                Err(failed(&error))
            }
            Ok(Event::Ended(Ok(()))) | Err(_) => Ok(()),
        }
    }
}

impl fmt::Debug for Mount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mount").field("point", &self.point).finish_non_exhaustive()
    }
}

/// Has the kernel read ahead in requests of 1 MiB, in the place of 128 KiB: root alone may.
fn read_far_ahead(point: &Path) -> io::Result<()> {
    // The file system is not asked, because nobody answers yet.
    let known = statx(CWD, point, AtFlags::STATX_DONT_SYNC, StatxFlags::empty())?;
    let device = format!("/sys/class/bdi/{}:{}/read_ahead_kb", known.stx_dev_major, known.stx_dev_minor);
    fs::write(device, Mount::AHEAD_KIB.to_string())
}

/// Unmounts; what is in use too.
fn take_away(unmounter: &mut SessionUnmounter, point: &Path, before: u64) -> Result<(), Error> {
    // If it is busy, it leaves its place now, and ends with the last file that is open. Nothing is asked of it before: it may be waiting
    // for a store.
    let unmounted = unmounter.unmount().or_else(|_| unmount(point, UnmountFlags::DETACH));
    let is_there = || fs::metadata(point).map_or(true, |metadata| metadata.dev() != before);
    match unmounted {
        Ok(()) if is_there() => Err(Error::new(point, left("it is in use, or something else is mounted here, too"))),
        Err(error) if error != Errno::INVAL || is_there() => Err(Error::new(point, left(&reason(&error.into())))),
        // Nothing is mounted, also where somebody else has unmounted it at the same time.
        Ok(()) | Err(_) => Ok(()),
    }
}

fn left(why: &str) -> String {
    format!("still mounted: {why}: 'fusermount3 -u' or 'umount' takes it away")
}

/// The path of a mount point without links, and the device number of what is there; refuses what is no empty directory.
fn checked(point: &Path) -> Result<(PathBuf, u64), Error> {
    let failed = |error: io::Error| {
        let why = match (error.kind(), error.raw_os_error()) {
            (ErrorKind::NotFound, _) => "there is no such directory: make it first".into(),
            (_, Some(number)) if number == Errno::NOTCONN.raw_os_error() => {
                "a file system is mounted here whose program has ended: 'fusermount3 -u' or 'umount' takes it away"
                    .into()
            }
            _ => reason(&error),
        };
        Error::new(point, why)
    };
    let metadata = fs::metadata(point).map_err(failed)?;
    if !metadata.is_dir() {
        return Err(Error::new(point, "not a directory: a mount point is an empty directory"));
    }
    if fs::read_dir(point).map_err(failed)?.next().is_some() {
        return Err(Error::new(point, "the directory is not empty: what is in it would be hidden"));
    }
    Ok((point.canonicalize().map_err(failed)?, metadata.dev()))
}

fn no_device(error: &io::Error) -> String {
    let how = match error.kind() {
        ErrorKind::NotFound => "load the kernel's module with 'modprobe fuse'; a container needs --device /dev/fuse",
        ErrorKind::PermissionDenied => "this user may not use FUSE here",
        _ => "this kernel or container has no FUSE",
    };
    format!("{}: {how}", reason(error))
}

fn not_mounted(error: &io::Error) -> String {
    let why = match error.kind() {
        ErrorKind::NotFound => "fusermount3 is missing: install the package fuse3, or run it as root".into(),
        // fusermount3's own words.
        _ => error.to_string().trim().replace('\n', ": "),
    };
    format!("not mounted: {why}")
}
