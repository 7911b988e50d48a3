//! An open device and its programs, from the cache, from SPIR-V or from source.

use crate::cache::{Cache, Cached};
use crate::call::{Context, Kernel, Program, Queue};
use crate::source::{self, Kind};
use crate::subtrees::Worker;
use crate::{Error, Info, LaunchShape};
use mksum::Hash;
use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// Options for the use of a device.
#[derive(Clone)]
pub struct Options {
    /// The cache of built programs and measured shapes; `None` to build and measure again each time.
    pub cache: Option<Cache>,
    /// A directory of SPIR-V programs from `make spirv`, used instead of the source if the device supports SPIR-V.
    pub spirv: Option<PathBuf>,
    /// The limit of device memory, in bytes; the memory that the device reports is a limit too.
    pub memory: u64,
    /// The shortest subtree of a file that the device computes, in bytes: for shorter ones, transfers cost more than hashing.
    pub shortest: u64,
    /// Whether the CPU takes over if the device fails.
    pub fallback: Fallback,
    /// Receives warnings: a damaged cache, a fallback to the CPU.
    pub notice: Notice,
}

/// Whether the CPU takes over if a device fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fallback {
    /// The failure is an error.
    Never,
    /// The CPU takes over, with a warning.
    Cpu,
}

/// A function that receives warnings.
pub type Notice = Arc<dyn Fn(&str) + Send + Sync>;

impl Default for Options {
    fn default() -> Self {
        Options {
            cache: Cache::of_user(),
            spirv: None,
            memory: u64::MAX,
            shortest: 1 << 20,
            fallback: Fallback::Never,
            notice: Arc::new(|_| {}),
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Options { cache, spirv, memory, shortest, fallback, notice: _ } = self;
        write!(f, "Options {{ {cache:?}, {spirv:?}, {memory}, {shortest}, {fallback:?} }}")
    }
}

/// An open device.
#[derive(Debug)]
pub struct Device {
    pub(crate) info: Info,
    pub(crate) options: Options,
    pub(crate) context: Arc<Context>,
    programs: Mutex<HashMap<(Hash, Kind), Arc<Program>>>,
    pub(crate) shapes: Mutex<HashMap<(Hash, Kind), LaunchShape>>,
    /// The idle workers.
    pub(crate) workers: Mutex<Vec<Worker>>,
}

impl Device {
    /// Opens a device.
    ///
    /// # Errors
    /// If its driver refuses a context.
    pub fn open(info: &Info, options: Options) -> Result<Self, Error> {
        let context = Context::new(info.id)?;
        let (programs, shapes, workers) = (Mutex::default(), Mutex::default(), Mutex::default());
        Ok(Device { info: info.clone(), options, context, programs, shapes, workers })
    }

    /// Returns the properties that the device reports.
    pub fn info(&self) -> &Info {
        &self.info
    }

    pub(crate) fn queue(&self) -> Result<Arc<Queue>, Error> {
        Queue::new(&self.context).map(Arc::new)
    }

    /// Returns a kernel of the program for a hash. The program is built on first use.
    ///
    /// # Panics
    /// If there are no kernels for the hash.
    pub(crate) fn kernel(&self, hash: Hash, kind: Kind, name: &str) -> Result<Kernel, Error> {
        // Other threads wait while the first one builds the program.
        let mut programs = self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        let program = match programs.get(&(hash, kind)) {
            Some(program) => program.clone(),
            None => {
                let program = Arc::new(self.build(hash, kind)?);
                programs.insert((hash, kind), program.clone());
                program
            }
        };
        drop(programs);
        Kernel::new(&program, name)
    }

    fn build(&self, hash: Hash, kind: Kind) -> Result<Program, Error> {
        let (text, options) = source::of(hash, kind, self.info.lanes).expect("a hash with kernels");
        let spirv = self.spirv(hash, kind)?;
        let source = spirv.as_deref().unwrap_or(text.as_bytes());
        let name = self.key("program", &[source, options.as_bytes()]);
        let name: Vec<_> = name.iter().map(Vec::as_slice).collect();
        if let Some(binary) = self.cached(&name) {
            match Program::from_binary(&self.context, &binary, "") {
                Ok(program) => return Ok(program),
                Err(error) => (self.options.notice)(&format!(
                    "{}: the driver refuses its program from the cache; building it again: {error}",
                    self.info.name
                )),
            }
        }
        // One compiler at a time: each takes a core and much memory.
        static COMPILER: Mutex<()> = Mutex::new(());
        let _compiler = COMPILER.lock().unwrap_or_else(PoisonError::into_inner);
        let program = match &spirv {
            Some(il) => Program::from_il(&self.context, il, "")?,
            None => Program::from_source(&self.context, &text, &options)?,
        };
        let binary = program.binary()?;
        if !binary.is_empty() {
            self.store(&name, &binary);
        }
        Ok(program)
    }

    /// Returns the program in SPIR-V, if there is a directory of them and the device supports SPIR-V.
    fn spirv(&self, hash: Hash, kind: Kind) -> Result<Option<Vec<u8>>, Error> {
        let Some(folder) = &self.options.spirv else { return Ok(None) };
        if !self.info.spirv {
            let (name, runtime) = (&self.info.name, &self.info.runtime);
            (self.options.notice)(&format!("{name} ({runtime}) does not support SPIR-V: compiling from source"));
            return Ok(None);
        }
        let path = folder.join(source::spirv_name(hash, kind, self.info.lanes));
        let read = std::fs::read(&path).map_err(|error| {
            Error::SpirV(format!("{}: {error}: run 'make spirv' to write the SPIR-V programs", path.display()))
        })?;
        Ok(Some(read))
    }

    /// Returns the cache key of a kind of result: everything that it depends on.
    pub(crate) fn key(&self, kind: &str, more: &[&[u8]]) -> Vec<Vec<u8>> {
        let info = &self.info;
        let mut key: Vec<Vec<u8>> = [kind, &info.name, &info.driver, &info.runtime].map(|text| text.into()).to_vec();
        key.extend(more.iter().map(|part| part.to_vec()));
        key
    }

    /// Returns the content of the cache under a name, unless it is damaged.
    pub(crate) fn cached(&self, name: &[&[u8]]) -> Option<Vec<u8>> {
        match self.options.cache.as_ref()?.load(name) {
            Cached::Content(content) => Some(content),
            Cached::Nothing => None,
            Cached::Damaged(path, why) => {
                let path = path.display();
                (self.options.notice)(&format!("{path}: damaged cache file ({why}); writing it again"));
                None
            }
            Cached::Refused(path, why) => {
                let (path, how) = (path.display(), "set XDG_CACHE_HOME to a directory of your own");
                (self.options.notice)(&format!("{path}: the cache is not used: {why}; {how}"));
                None
            }
        }
    }

    /// Stores a result in the cache. Failures are ignored: they only cost time later.
    pub(crate) fn store(&self, name: &[&[u8]], content: &[u8]) {
        let _ = self.options.cache.as_ref().map(|cache| cache.store(name, content));
    }
}
