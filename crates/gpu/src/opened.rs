//! An open device and its programs: from the cache, compiled ahead of time, or from source.

use crate::call::{Calls, Code, Context, Kernel, Program, Queue};
use crate::slot::Slot;
use crate::source::{self, Kind, Language};
use crate::worker::Worker;
use crate::{Error, Info, Interface, Lanes, LaunchShape, Options, Transfer};
use mksum::Hash;
use mksum_cache::Cached;
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// An open device. It keeps its queues and buffers for later work, and releases them when it is dropped.
#[derive(Debug)]
pub struct Device {
    pub(crate) info: Info,
    pub(crate) options: Options,
    pub(crate) context: Arc<Context>,
    programs: Mutex<HashMap<(Hash, Kind), Arc<Program>>>,
    pub(crate) shapes: Mutex<HashMap<(Hash, Kind), LaunchShape>>,
    /// The idle slots for tiles of node trees.
    pub(crate) slots: Mutex<Vec<Slot>>,
    /// The idle workers.
    pub(crate) workers: Mutex<Vec<Worker>>,
}

impl Device {
    /// Opens a device.
    ///
    /// # Errors
    /// If its driver refuses a context.
    pub fn open(info: &Info, options: Options) -> Result<Self, Error> {
        Ok(Self::with(info, options, info.id.open()?))
    }

    /// A device by these calls.
    pub(crate) fn with(info: &Info, options: Options, calls: Arc<dyn Calls>) -> Self {
        let mut info = info.clone();
        if let Some(lanes) = options.lanes {
            info.lanes = Lanes::at_most(lanes);
        }
        let context = Context::new(calls);
        let (programs, shapes) = (Mutex::default(), Mutex::default());
        let (slots, workers) = (Mutex::default(), Mutex::default());
        Device { info, options, context, programs, shapes, slots, workers }
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

    /// How leaves and nodes of a node tree reach the device.
    pub(crate) fn transfer(&self) -> Transfer {
        let suits = if self.info.unified { Transfer::InPlace } else { Transfer::Pinned };
        self.options.transfer.unwrap_or(suits)
    }

    /// Whether leaves and nodes are copied to and from memory of the host that the device reads directly.
    pub(crate) fn is_pinned(&self) -> bool {
        self.transfer() == Transfer::Pinned
    }

    /// The source of a program and its options.
    ///
    /// # Panics
    /// If there are no kernels for the hash.
    pub(crate) fn source(&self, hash: Hash, kind: Kind) -> (String, String) {
        let language = match self.info.interface {
            Interface::OpenCl => Language::OpenCl,
            Interface::Cuda => Language::Cuda,
        };
        source::of(language, hash, kind, self.info.lanes).expect("a hash with kernels")
    }

    fn build(&self, hash: Hash, kind: Kind) -> Result<Program, Error> {
        if let Some(binary) = self.cubin(hash, kind)? {
            return Program::new(&self.context, Code::Binary(&binary));
        }
        let (text, options) = self.source(hash, kind);
        let spirv = self.spirv(hash, kind)?;
        let source = spirv.as_deref().unwrap_or(text.as_bytes());
        let name = self.program_key(&[source, options.as_bytes()]);
        let name: Vec<_> = name.iter().map(Vec::as_slice).collect();
        if let Some(binary) = self.cached(&name) {
            match Program::new(&self.context, Code::Binary(&binary)) {
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
        let program = Program::new(
            &self.context,
            match &spirv {
                Some(il) => Code::SpirV(il),
                None => Code::Source(&text, &options),
            },
        )?;
        let binary = program.binary()?;
        if !binary.is_empty() {
            self.store(&name, &binary);
        }
        Ok(program)
    }

    /// Returns the program in SPIR-V, if there is a directory of them and the device supports SPIR-V.
    fn spirv(&self, hash: Hash, kind: Kind) -> Result<Option<Vec<u8>>, Error> {
        let Some(folder) = &self.options.spirv else { return Ok(None) };
        if self.info.interface == Interface::Cuda {
            return Ok(None);
        }
        if !self.info.spirv {
            let (name, runtime) = (&self.info.name, &self.info.runtime);
            (self.options.notice)(&format!("{name} ({runtime}) does not support SPIR-V: compiling from source"));
            return Ok(None);
        }
        let target = format!("{}.spv", self.info.lanes.0);
        prebuilt(&folder.join(source::file_name(hash, kind, &target)), "make spirv").map(Some)
    }

    /// Returns the program for the device's architecture, if it is a CUDA device and there is a directory of them.
    fn cubin(&self, hash: Hash, kind: Kind) -> Result<Option<Vec<u8>>, Error> {
        let (Some(folder), Some(architecture)) = (&self.options.cubins, self.info.architecture) else {
            return Ok(None);
        };
        let target = format!("sm_{architecture}.cubin");
        let make = format!("make cubins ARCHITECTURES={architecture}");
        prebuilt(&folder.join(source::file_name(hash, kind, &target)), &make).map(Some)
    }

    /// Returns the cache key of a program. All CUDA devices of an architecture have the same programs.
    fn program_key(&self, more: &[&[u8]]) -> Vec<Vec<u8>> {
        let Some(architecture) = self.info.architecture else { return self.key("program", more) };
        let target = format!("sm_{architecture}");
        [&[b"program", target.as_bytes()], more].concat().into_iter().map(Vec::from).collect()
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

/// Reads a program that was compiled ahead of time.
fn prebuilt(path: &Path, make: &str) -> Result<Vec<u8>, Error> {
    std::fs::read(path)
        .map_err(|error| Error::Prebuilt(format!("{}: {error}: run '{make}' to write the programs", path.display())))
}
