//! A device in use: its programs, from the cache, from SPIR-V or from source.

use crate::cache::{Cache, Cached};
use crate::call::{Context, Kernel, Program, Queue};
use crate::source::{self, Kind};
use crate::subtrees::Worker;
use crate::{Error, Info, Shape};
use mksum::Hash;
use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// How a device is used.
#[derive(Clone)]
pub struct Options {
    /// Where built programs and measured shapes are kept; `None` to build and measure again each time.
    pub cache: Option<Cache>,
    /// A folder of programs in SPIR-V, as `make spirv` writes them: taken instead of the source where the device can.
    pub spirv: Option<PathBuf>,
    /// The most device memory that is asked for, in bytes; never more than the device says that it has.
    pub memory: u64,
    /// The shortest subtree of a file that the device computes, in bytes: below it, moving costs more than hashing.
    pub shortest: u64,
    /// Whether the CPU does what the device fails at.
    pub fallback: Fallback,
    /// Is told what a user should know but is no error: a damaged cache, a fall back to the CPU.
    pub notice: Notice,
}

/// Whether the CPU does what a device fails at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fallback {
    /// The failure is an error.
    Never,
    /// The CPU does it, and the notice says so.
    Cpu,
}

/// Who is told what is no error.
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

/// A device in use.
#[derive(Debug)]
pub struct Device {
    pub(crate) info: Info,
    pub(crate) options: Options,
    pub(crate) context: Arc<Context>,
    programs: Mutex<HashMap<(Hash, Kind), Arc<Program>>>,
    pub(crate) shapes: Mutex<HashMap<(Hash, Kind), Shape>>,
    /// Those that wait for a subtree.
    pub(crate) workers: Mutex<Vec<Worker>>,
}

impl Device {
    /// Begins to use a device.
    ///
    /// # Errors
    /// If its driver does not let us.
    pub fn open(info: &Info, options: Options) -> Result<Self, Error> {
        let context = Context::new(info.id)?;
        let (programs, shapes, workers) = (Mutex::default(), Mutex::default(), Mutex::default());
        Ok(Device { info: info.clone(), options, context, programs, shapes, workers })
    }

    /// What the device says of itself.
    pub fn info(&self) -> &Info {
        &self.info
    }

    pub(crate) fn queue(&self) -> Result<Arc<Queue>, Error> {
        Queue::new(&self.context).map(Arc::new)
    }

    /// A kernel of the program for a hash, which is built when first asked for.
    ///
    /// # Panics
    /// If there are no kernels for the hash.
    pub(crate) fn kernel(&self, hash: Hash, kind: Kind, name: &str) -> Result<Kernel, Error> {
        // Whoever comes second waits for the first one's build.
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
                    "{}: its driver does not take its own program from the cache, which is built anew: {error}",
                    self.info.name
                )),
            }
        }
        // One compiler at a time: they take a core and much memory each.
        static COMPILER: Mutex<()> = Mutex::new(());
        let _compiler = COMPILER.lock().unwrap_or_else(PoisonError::into_inner);
        let program = match &spirv {
            Some(il) => Program::from_il(&self.context, il, "")?,
            None => Program::from_source(&self.context, &text, &options)?,
        };
        let binary = program.binary()?;
        if !binary.is_empty() {
            self.keep(&name, &binary);
        }
        Ok(program)
    }

    /// The program in SPIR-V, where there is a folder of them and the device takes them.
    fn spirv(&self, hash: Hash, kind: Kind) -> Result<Option<Vec<u8>>, Error> {
        let Some(folder) = &self.options.spirv else { return Ok(None) };
        if !self.info.spirv {
            let (name, runtime) = (&self.info.name, &self.info.runtime);
            (self.options.notice)(&format!("{name} ({runtime}) takes no SPIR-V: compiled from source"));
            return Ok(None);
        }
        let path = folder.join(source::spirv_name(hash, kind, self.info.lanes));
        let read = std::fs::read(&path).map_err(|error| {
            Error::SpirV(format!("{}: {error}: 'make spirv' writes the programs in SPIR-V", path.display()))
        })?;
        Ok(Some(read))
    }

    /// What something was found out for: everything that it depends on.
    pub(crate) fn key(&self, what: &str, more: &[&[u8]]) -> Vec<Vec<u8>> {
        let info = &self.info;
        let mut key: Vec<Vec<u8>> = [what, &info.name, &info.driver, &info.runtime].map(|text| text.into()).to_vec();
        key.extend(more.iter().map(|part| part.to_vec()));
        key
    }

    /// What the cache has under a name, if that is whole.
    pub(crate) fn cached(&self, name: &[&[u8]]) -> Option<Vec<u8>> {
        match self.options.cache.as_ref()?.load(name) {
            Cached::Content(content) => Some(content),
            Cached::Nothing => None,
            Cached::Damaged(path, why) => {
                let path = path.display();
                (self.options.notice)(&format!("{path}: a damaged file of the cache ({why}), which is made anew"));
                None
            }
            Cached::Refused(path, why) => {
                let (path, how) = (path.display(), "set XDG_CACHE_HOME to a directory of your own");
                (self.options.notice)(&format!("{path}: the cache is not used: {why}; {how}"));
                None
            }
        }
    }

    /// Keeps what was found out; that it cannot be kept only costs time.
    pub(crate) fn keep(&self, name: &[&[u8]], content: &[u8]) {
        let _ = self.options.cache.as_ref().map(|cache| cache.store(name, content));
    }
}
