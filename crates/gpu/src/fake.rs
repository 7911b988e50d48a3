//! A driver without a device, which carries out what a launch asks for and fails where a kernel would leave its memory, or write a
//! byte twice. Its digests are those of SHA-256, whatever the hash: only who hashes what is tested.
//!
//! Commands run when their queue is waited for, and no sooner. So nodes that are read too early, or leaves that are replaced too early,
//! are wrong; and what a command needs must not be released before.

use crate::call::{Access, Calls, Code, Handle, Object, Value};
use crate::device::{Card, Id};
use crate::{Class, Error, Info, Interface, Lanes, opencl};
use mksum_lanes::{Hash, digest};
use std::collections::{HashMap, HashSet};
use std::mem;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A device with a GPU's limits, whose work-items hash as many messages at once.
pub fn info(lanes: Lanes) -> Info {
    Info {
        index: 0,
        name: "a fake".into(),
        driver: String::new(),
        runtime: String::new(),
        interface: Interface::OpenCl,
        class: Class::Gpu,
        memory: 1 << 30,
        allocation: 1 << 30,
        local: 48 << 10,
        items: 256,
        units: 2,
        unified: false,
        spirv: false,
        lanes,
        rows: 65_535,
        architecture: None,
        id: Id::OpenCl(opencl::Id::none()),
        card: Card::default(),
    }
}

/// Memory, and how often kernels read and wrote each byte of it.
#[derive(Debug, Default)]
pub struct Memory {
    pub bytes: Vec<u8>,
    pub reads: Vec<u32>,
    pub writes: Vec<u32>,
    /// The address of the host's bytes, if the memory was made of them: `bytes` are those of a cache that the host does not see.
    host: usize,
}

impl Memory {
    fn read(&mut self, range: Range<usize>) -> Vec<u8> {
        assert!(range.end <= self.bytes.len(), "a kernel reads {range:?} of {} bytes", self.bytes.len());
        self.reads[range.clone()].iter_mut().for_each(|count| *count += 1);
        self.bytes[range].to_vec()
    }

    fn write(&mut self, at: usize, bytes: &[u8]) {
        let range = at..at + bytes.len();
        assert!(range.end <= self.bytes.len(), "a kernel writes {range:?} of {} bytes", self.bytes.len());
        self.writes[range.clone()].iter_mut().for_each(|count| *count += 1);
        assert!(self.writes[range.clone()].iter().all(|&count| count == 1), "a kernel writes {range:?} twice");
        self.bytes[range].copy_from_slice(bytes);
    }
}

/// A command that was not waited for. Memory of the host is known by its address.
#[derive(Clone, Debug)]
enum Command {
    Write { memory: Handle, at: usize, from: usize, len: usize },
    Read { memory: Handle, at: usize, to: usize, len: usize },
    Show { memory: Handle },
    Launch { kernel: Handle, args: Vec<Value>, global: [usize; 2], local: [usize; 2] },
}

impl Command {
    fn needs(&self, object: Object, handle: Handle) -> bool {
        match (self, object) {
            (
                Command::Write { memory, .. } | Command::Read { memory, .. } | Command::Show { memory },
                Object::Memory,
            ) => *memory == handle,
            (Command::Launch { args, .. }, Object::Memory) => args.contains(&Value::Memory(handle)),
            (Command::Launch { kernel, .. }, Object::Kernel) => *kernel == handle,
            _ => false,
        }
    }

    /// How long it takes.
    fn nanoseconds(&self) -> i64 {
        match self {
            Command::Write { .. } => 10,
            Command::Launch { .. } => 20,
            Command::Read { .. } | Command::Show { .. } => 5,
        }
    }

    /// The memory of the host that it reads or writes.
    fn host(&self) -> Range<usize> {
        match *self {
            Command::Write { from: at, len, .. } | Command::Read { to: at, len, .. } => at..at + len,
            Command::Show { .. } | Command::Launch { .. } => 0..0,
        }
    }
}

#[derive(Debug, Default)]
struct State {
    next: Handle,
    /// The objects that were not released.
    alive: HashSet<Handle>,
    /// The number of objects that were created, but for events.
    created: usize,
    /// The number of calls that succeed before one fails; `None` if none fails.
    succeeding: Option<usize>,
    pending: HashMap<Handle, Vec<(Handle, Command)>>,
    /// The time at which a queue's next command begins, in nanoseconds. Each queue begins 10 ns after the one that was created before it.
    clocks: HashMap<Handle, i64>,
    /// When the commands ran that have ended.
    times: HashMap<Handle, Range<i64>>,
    pinned: HashMap<Handle, Vec<u8>>,
    memories: HashMap<Handle, Memory>,
    programs: HashMap<Handle, HashMap<String, usize>>,
    kernels: HashMap<Handle, (String, HashMap<String, usize>)>,
}

impl State {
    fn handle(&mut self) -> Handle {
        self.next += 1;
        self.alive.insert(self.next);
        self.next
    }

    fn create(&mut self) -> Result<Handle, Error> {
        self.call()?;
        self.created += 1;
        Ok(self.handle())
    }

    /// Fails if it is this call's turn.
    fn call(&mut self) -> Result<(), Error> {
        match self.succeeding {
            Some(0) => {
                self.succeeding = None;
                Err(Error::Call { call: "a fake's", status: "as asked for".into() })
            }
            _ => {
                self.succeeding = self.succeeding.map(|calls| calls - 1);
                Ok(())
            }
        }
    }

    fn enqueue(&mut self, queue: Handle, command: Command) -> Result<Handle, Error> {
        self.call()?;
        assert!(self.alive.contains(&queue), "a queue that was released");
        let event = self.handle();
        self.pending.entry(queue).or_default().push((event, command));
        Ok(event)
    }

    fn pending(&self) -> impl Iterator<Item = &(Handle, Command)> {
        self.pending.values().flatten()
    }

    #[allow(unsafe_code)]
    fn run(&mut self, command: Command) {
        match command {
            Command::Write { memory, at, from, len } => {
                // SAFETY: who enqueued the command keeps these bytes until it has ended.
                let bytes = unsafe { std::slice::from_raw_parts(from as *const u8, len) };
                self.memories.get_mut(&memory).expect("memory").bytes[at..at + len].copy_from_slice(bytes);
            }
            Command::Read { memory, at, to, len } => {
                // SAFETY: as above, and nobody else uses them.
                let bytes = unsafe { std::slice::from_raw_parts_mut(to as *mut u8, len) };
                bytes.copy_from_slice(&self.memories[&memory].bytes[at..at + len]);
            }
            Command::Show { memory } => {
                let memory = &self.memories[&memory];
                // SAFETY: who enqueued the command keeps the host's bytes until it has ended, and nobody else uses them.
                let bytes = unsafe { std::slice::from_raw_parts_mut(memory.host as *mut u8, memory.bytes.len()) };
                bytes.copy_from_slice(&memory.bytes);
            }
            Command::Launch { kernel, args, global, local } => {
                let (name, defined) = self.kernels[&kernel].clone();
                match name.as_str() {
                    "pairs" => self.pairs(&defined, &args, global[0] / local[0], local[0]),
                    "messages" => self.messages(&defined, &args, global[0], global[1]),
                    "chunk_parents" => self.chunk_parents(&defined, &args, global[0], global[1]),
                    _ => panic!("no kernel is called {name}"),
                }
            }
        }
    }
}

/// The driver.
#[derive(Debug, Default)]
pub struct Fake(Mutex<State>);

/// The digest of `size` bytes of a message.
pub fn hashed(message: &[u8], size: usize) -> Vec<u8> {
    let digest: [u8; 32] = *digest(Hash::Sha256, &[message]).first_chunk().expect("64 bytes");
    digest.into_iter().cycle().take(size).collect()
}

impl Fake {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the only memory of this length that was not released.
    pub fn memory(&self, len: usize) -> Memory {
        let mut state = self.state();
        let found: Vec<Handle> =
            state.memories.iter().filter(|(_, one)| one.bytes.len() == len).map(|(&at, _)| at).collect();
        assert_eq!(found.len(), 1, "memories of {len} bytes");
        state.memories.remove(&found[0]).expect("a memory that was found")
    }

    /// Has the call after so many fail.
    pub fn fail_after(&self, calls: usize) {
        self.state().succeeding = Some(calls);
    }

    /// Whether a call that was to fail has failed.
    pub fn has_failed(&self) -> bool {
        self.state().succeeding.is_none()
    }

    /// The number of objects that were created so far, but for events.
    pub fn created(&self) -> usize {
        self.state().created
    }

    /// The number of objects that were not released, and of commands that nobody waited for.
    pub fn left(&self) -> usize {
        let state = self.state();
        state.alive.len() + state.pending().count()
    }
}

impl State {
    /// As the kernel `pairs` does it, one group after the other.
    fn pairs(&mut self, defined: &HashMap<String, usize>, args: &[Value], groups: usize, items: usize) {
        let &[
            Value::Memory(below),
            Value::U64(first),
            Value::Memory(nodes),
            Value::U64(count),
            Value::U32(tile),
            Value::U32(height),
            Value::Local(near),
        ] = args
        else {
            panic!("pairs has other parameters: {args:?}")
        };
        let (width, size) = (defined["W"], defined["DIGEST"]);
        let (first, count, tile) = (first as usize, count as usize, tile as usize);
        assert_eq!(groups * tile, count, "the groups' parents");
        assert!(
            (tile >> (height - 1)).is_multiple_of(width) && tile >> (height - 1) > 0,
            "whole work-items on each level"
        );
        assert!(items * width <= tile, "a work-item without parents");
        for group in 0..groups {
            let mut level_below: Vec<u8> = Vec::new();
            for level in 0..height {
                let parents = tile >> level;
                let mut digests = Vec::new();
                for at in 0..parents {
                    let pair = match level {
                        0 => {
                            let from = first + (group * tile + at) * 2 * size;
                            self.memories.get_mut(&below).expect("memory").read(from..from + 2 * size)
                        }
                        _ => level_below[at * 2 * size..][..2 * size].to_vec(),
                    };
                    let digest = hashed(&pair, size);
                    let slot = (count >> level) + group * parents + at;
                    self.memories.get_mut(&nodes).expect("memory").write(slot * size, &digest);
                    digests.extend(digest);
                }
                if level + 1 < height {
                    let start = if level % 2 == 1 { tile * size } else { 0 };
                    assert!(start + digests.len() <= near, "local memory");
                    assert!(level % 2 == 1 || digests.len() <= tile * size, "an even level reaches into an odd one");
                }
                level_below = digests;
            }
        }
    }

    /// As the kernel `messages` does it.
    fn messages(&mut self, defined: &HashMap<String, usize>, args: &[Value], items: usize, chunks: usize) {
        let &[
            Value::Memory(bytes),
            Value::U64(first),
            Value::U64(stride),
            Value::Memory(digests),
            Value::U64(at),
            Value::U32(blocks),
            Value::U32(lead),
            Value::U32(trail),
            Value::Memory(edges),
            Value::U32(last),
            Value::U64(_),
            Value::U32(_),
            Value::U32(_),
        ] = args
        else {
            panic!("messages has other parameters: {args:?}")
        };
        let (size, block) = (defined["DIGEST"], defined["BLOCK"]);
        let (first, stride, at, blocks) = (first as usize, stride as usize, at as usize, blocks as usize);
        assert!(last as usize <= block && (lead + trail) as usize <= blocks);
        assert!((lead + trail) as usize * 2 * block <= self.memories[&edges].bytes.len(), "edges");
        let in_chunk = if chunks > 1 { defined["CHUNK"] / block } else { blocks };
        for message in 0..items * defined["W"] {
            for chunk in 0..chunks {
                let range = chunk * in_chunk..((chunk + 1) * in_chunk).min(blocks);
                assert!(!range.is_empty(), "a chunk without blocks");
                let from = first + message * stride;
                let memory = self.memories.get_mut(&bytes).expect("memory");
                let text = memory.read(from + range.start * block..from + range.end * block);
                let memory = self.memories.get_mut(&digests).expect("memory");
                memory.write(at + (message * chunks + chunk) * size, &hashed(&text, size));
            }
        }
    }

    /// As the kernel `chunk_parents` does it. Each level overwrites what lay two levels below.
    fn chunk_parents(&mut self, defined: &HashMap<String, usize>, args: &[Value], items: usize, parents: usize) {
        let &[Value::Memory(below), Value::Memory(above), Value::U64(at), Value::U32(count)] = args else {
            panic!("chunk_parents has other parameters: {args:?}")
        };
        let (size, at, count) = (defined["DIGEST"], at as usize, count as usize);
        assert_eq!(parents, count.div_ceil(2));
        self.memories.get_mut(&above).expect("memory").writes.fill(0);
        for message in 0..items * defined["W"] {
            for parent in 0..parents {
                let from = at + (message * count + 2 * parent) * size;
                let memory = self.memories.get_mut(&below).expect("memory");
                let digest = match 2 * parent + 1 < count {
                    true => hashed(&memory.read(from..from + 2 * size), size),
                    false => memory.read(from..from + size),
                };
                let memory = self.memories.get_mut(&above).expect("memory");
                memory.write(at + (message * parents + parent) * size, &digest);
            }
        }
    }
}

#[allow(unsafe_code)]
// SAFETY: the objects are in a mutex; pinned memory is a vector that stays until it is unpinned.
unsafe impl Calls for Fake {
    fn queue(&self) -> Result<Handle, Error> {
        let mut state = self.state();
        let (queue, clock) = (state.create()?, 10 * state.clocks.len() as i64);
        state.clocks.insert(queue, clock);
        Ok(queue)
    }

    fn allocate(&self, len: usize) -> Result<Handle, Error> {
        let mut state = self.state();
        let handle = state.create()?;
        let (reads, writes) = (vec![0; len], vec![0; len]);
        state.memories.insert(handle, Memory { bytes: vec![0xa5; len], reads, writes, host: 0 });
        Ok(handle)
    }

    fn build(&self, code: Code<'_>) -> Result<Handle, Error> {
        let Code::Source(_, options) = code else { panic!("only source") };
        let defined = options.split_whitespace().filter_map(|option| option.strip_prefix("-D")?.split_once('='));
        let defined = defined.filter_map(|(name, value)| Some((name.to_string(), value.parse().ok()?))).collect();
        let mut state = self.state();
        let handle = state.create()?;
        state.programs.insert(handle, defined);
        Ok(handle)
    }

    unsafe fn binary(&self, _: Handle) -> Result<Vec<u8>, Error> {
        Ok(Vec::new())
    }

    unsafe fn kernel(&self, program: Handle, name: &str) -> Result<Handle, Error> {
        let mut state = self.state();
        let (handle, defined) = (state.create()?, state.programs[&program].clone());
        state.kernels.insert(handle, (name.into(), defined));
        Ok(handle)
    }

    unsafe fn max_group(&self, _: Handle) -> Result<usize, Error> {
        Ok(256)
    }

    unsafe fn pin(&self, _: Handle, len: usize) -> Result<(Handle, *mut u8), Error> {
        let mut state = self.state();
        let handle = state.create()?;
        let memory = state.pinned.entry(handle).or_insert(vec![0x5a; len]);
        Ok((handle, memory.as_mut_ptr()))
    }

    unsafe fn unpin(&self, _: Handle, memory: Handle, _: *mut u8) {
        let mut state = self.state();
        let pinned = state.pinned.remove(&memory).expect("pinned memory");
        let range = pinned.as_ptr_range();
        let range = range.start.addr()..range.end.addr();
        assert!(
            state.pending().all(|(_, command)| !range.contains(&command.host().start)),
            "pinned memory is released before a command that uses it"
        );
        state.alive.remove(&memory);
    }

    unsafe fn wrap(&self, bytes: *mut [u8], access: Access) -> Result<Option<Handle>, Error> {
        let handle = self.allocate(bytes.len())?;
        let mut state = self.state();
        let memory = state.memories.get_mut(&handle).expect("the memory above");
        memory.host = bytes.cast::<u8>().addr();
        if access == Access::Read {
            // SAFETY: the caller keeps the bytes, and nobody writes them.
            memory.bytes.copy_from_slice(unsafe { &*bytes });
        }
        Ok(Some(handle))
    }

    unsafe fn show(&self, queue: Handle, memory: Handle, _: usize) -> Result<Handle, Error> {
        self.state().enqueue(queue, Command::Show { memory })
    }

    unsafe fn write(&self, queue: Handle, memory: Handle, at: usize, bytes: *const [u8]) -> Result<Handle, Error> {
        let (from, len) = (bytes.cast::<u8>() as usize, bytes.len());
        self.state().enqueue(queue, Command::Write { memory, at, from, len })
    }

    unsafe fn read(&self, queue: Handle, memory: Handle, at: usize, bytes: *mut [u8]) -> Result<Handle, Error> {
        let (to, len) = (bytes.cast::<u8>() as usize, bytes.len());
        self.state().enqueue(queue, Command::Read { memory, at, to, len })
    }

    unsafe fn launch(
        &self,
        queue: Handle,
        kernel: Handle,
        args: &[Value],
        global: [usize; 2],
        local: [usize; 2],
    ) -> Result<Handle, Error> {
        assert!(global[0].is_multiple_of(local[0]) && local[1] == 1 && global[1] <= 65_535, "{global:?}, {local:?}");
        self.state().enqueue(queue, Command::Launch { kernel, args: args.into(), global, local })
    }

    unsafe fn wait(&self, queue: Handle) -> Result<(), Error> {
        let mut state = self.state();
        let pending = mem::take(state.pending.entry(queue).or_default());
        // A device that fails runs nothing more.
        state.call()?;
        // A batch runs as a whole, and writes no byte twice.
        state.memories.values_mut().for_each(|memory| memory.writes.fill(0));
        for (event, command) in pending {
            let begin = state.clocks[&queue];
            let end = begin + command.nanoseconds();
            state.clocks.insert(queue, end);
            state.times.insert(event, begin..end);
            state.run(command);
        }
        Ok(())
    }

    unsafe fn times(&self, first: Handle, event: Handle) -> Result<Range<i64>, Error> {
        let state = self.state();
        let time = |event| state.times.get(&event).expect("the time of a command that has ended");
        let (zero, time) = (time(first).start, time(event));
        Ok(time.start - zero..time.end - zero)
    }

    unsafe fn release(&self, object: Object, handle: Handle) {
        let mut state = self.state();
        assert!(
            state.pending().all(|(_, command)| !command.needs(object, handle)),
            "a {object:?} is released before a command that uses it"
        );
        assert!(state.alive.remove(&handle), "a {object:?} is released twice");
        match object {
            Object::Memory => drop(state.memories.remove(&handle)),
            Object::Event => drop(state.times.remove(&handle)),
            Object::Queue => assert!(state.pending.remove(&handle).is_none_or(|pending| pending.is_empty()), "a queue"),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::{Buffer, Recorder};
    use crate::messages::{DeviceMessages, GUARD, Hashing, Part};
    use crate::source::{Kind, Mode};
    use crate::{Device, DeviceBuffer, LaunchShape, Options, Transfer};
    use mksum::node_tree::{CpuLanes, Merklize, NodeTreeError};
    use proptest::prelude::*;
    use std::sync::Arc;
    use std::time::Duration;

    /// A device and its driver.
    fn device(lanes: u32, shape: Option<LaunchShape>) -> (Device, Arc<Fake>) {
        let fake = Arc::new(Fake::default());
        let options = Options { cache: None, shape, ..Options::default() };
        (Device::with(&info(Lanes(lanes)), options, fake.clone()), fake)
    }

    const LANES: [u32; 4] = [1, 4, 8, 16];
    const HASHES: [Hash; 5] = [Hash::Sha1, Hash::Sha224, Hash::Blake3, Hash::Sha384, Hash::Sha512];

    proptest! {
        #[test]
        fn every_leaf_is_read_once_and_every_node_written_once(
            hash in prop::sample::select(&HASHES[..]),
            lanes in prop::sample::select(&LANES[..]),
            exponents in (0..9_u32, 0..10_u32, 1..12_u32),
            above in 0..10_u32,
        ) {
            let (group, tile, levels) = exponents;
            let shape = LaunchShape { group: 1 << group, tile: 1 << tile, levels };
            let (device, fake) = device(lanes, Some(shape));
            let queue = device.queue().unwrap();
            let levels = device.levels(&queue, hash, Kind::Pairs(Mode::Message)).unwrap();
            let (size, least) = (hash.size(), levels.least());
            let parents = least << above;
            let leaves: Vec<u8> = (0..2 * parents * size).map(|at| (at * 7 + at / 256) as u8).collect();
            // Lengths that tell the buffers apart.
            let below = Buffer::new(&device.context, leaves.len() + 96).unwrap();
            let nodes = Buffer::new(&device.context, leaves.len()).unwrap();
            queue
                .submit(|batch| {
                    batch.write(&below, 96, &leaves)?;
                    levels.run(batch, (&below, 96), &nodes, parents)
                })
                .unwrap();
            let (below_len, nodes_len) = (below.len(), nodes.len());
            let (below, nodes) = (fake.memory(below_len), fake.memory(nodes_len));
            prop_assert!(below.reads[..96].iter().all(|&reads| reads == 0));
            prop_assert!(below.reads[96..].iter().all(|&reads| reads == 1));
            let mut expected = leaves;
            let mut count = parents;
            while count >= least {
                expected = expected.chunks(2 * size).flat_map(|pair| hashed(pair, size)).collect();
                prop_assert_eq!(&nodes.bytes[count * size..2 * count * size], &expected[..]);
                prop_assert!(nodes.writes[count * size..2 * count * size].iter().all(|&writes| writes == 1));
                count /= 2;
            }
            prop_assert!(nodes.writes[..least * size].iter().all(|&writes| writes == 0), "nodes above the device's");
        }

        #[test]
        fn messages_stay_within_their_buffers_and_each_has_a_digest(
            hash in prop::sample::select(&HASHES[..]),
            lanes in prop::sample::select(&LANES[..]),
            prefix in 0..crate::messages::PREFIX,
            len in prop_oneof![0..200_usize, 1_000..1_100_usize, 2_000..9_000_usize],
            count in 1..40_usize,
        ) {
            let (device, fake) = device(lanes, None);
            let queue = device.queue().unwrap();
            let prefix = vec![0xee; prefix % 97];
            let Some(hashing) = Hashing::new(&device, &queue, hash, &prefix, len).unwrap() else { return Ok(()) };
            let room = hashing.room(count, len);
            let digests = hashing.digests_room(count);
            let bytes = Buffer::new(&device.context, room).unwrap();
            let nodes = [Buffer::new(&device.context, digests).unwrap(), Buffer::new(&device.context, digests).unwrap()];
            let messages = DeviceMessages { buffer: &bytes, first: GUARD, stride: len, count };
            let [one, other] = &nodes;
            let hashed = queue.submit(|batch| hashing.run(batch, messages, Part::Whole, [one, other]));
            let ([with_digests, _], _) = hashed.unwrap();
            let first = std::ptr::eq(with_digests, one);
            let [one, other] = nodes;
            drop(if first { other } else { one });
            let memory = fake.memory(digests);
            let (start, end) = (GUARD, GUARD + count * hash.size());
            prop_assert!(memory.writes[start..end].iter().all(|&writes| writes == 1));
        }
    }

    /// Leaves and their nodes by SHA-256, which is what the fake hashes with.
    fn tree(levels: u32, seed: u8) -> (Vec<u8>, Vec<u8>) {
        let leaves: Vec<u8> = (0..32_usize << levels).map(|at| (at * 7 + at / 251) as u8 ^ seed).collect();
        let mut nodes = vec![0; leaves.len()];
        CpuLanes { threads: 1 }.merklize(Hash::Sha256, &leaves, &mut nodes).unwrap();
        (leaves, nodes)
    }

    fn tiled(lanes: u32, memory: u64, transfer: Transfer) -> (Device, Arc<Fake>) {
        let fake = Arc::new(Fake::default());
        let shape = Some(LaunchShape { group: 2, tile: 8, levels: 2 });
        let options = Options { cache: None, shape, memory, transfer: Some(transfer), ..Options::default() };
        (Device::with(&info(Lanes(lanes)), options, fake.clone()), fake)
    }

    proptest! {
        #[test]
        fn kept_slots_give_every_node_of_many_trees_and_are_made_once(
            lanes in prop::sample::select(&LANES[..]),
            transfer in prop::sample::select(&[Transfer::Pinned, Transfer::Copied][..]),
            memory in 16..20_u32,
            sizes in prop::collection::vec(1..13_u32, 1..6),
        ) {
            let (device, fake) = tiled(lanes, 1 << memory, transfer);
            let longest = *sizes.iter().max().unwrap();
            let run = |levels: u32, seed: u8| {
                let (leaves, expected) = tree(levels, seed);
                let mut nodes = vec![0xa5; leaves.len()];
                device.merklize(Hash::Sha256, &leaves, &mut nodes).unwrap();
                nodes == expected
            };
            prop_assert!(run(longest, 0));
            let kernels = |levels: &[u32]| levels.len() * 8;
            let made = fake.created();
            for (&levels, seed) in sizes.iter().zip(1..) {
                prop_assert!(run(levels, seed), "2^{levels}");
            }
            // Only kernels are new.
            prop_assert!(fake.created() <= made + kernels(&sizes), "{made}, then {}", fake.created());
            // Two trees at once.
            let (one, other) = std::thread::scope(|scope| {
                let one = scope.spawn(|| run(longest, 77));
                (run(longest, 78), one.join().unwrap())
            });
            prop_assert!(one && other);
            drop(device);
            prop_assert_eq!(fake.left(), 0, "objects are left");
        }

        #[test]
        fn a_failing_call_is_an_error_leaves_nothing_and_the_next_tree_is_right(
            lanes in prop::sample::select(&LANES[..]),
            transfer in prop::sample::select(&[Transfer::Pinned, Transfer::Copied, Transfer::InPlace][..]),
            calls in 0..120_usize,
            first in any::<bool>(),
        ) {
            let (device, fake) = tiled(lanes, 1 << 17, transfer);
            let (leaves, expected) = tree(11, 3);
            let mut nodes = vec![0xa5; leaves.len()];
            if !first {
                device.merklize(Hash::Sha256, &leaves, &mut nodes).unwrap();
                nodes.fill(0xa5);
            }
            fake.fail_after(calls);
            match device.merklize(Hash::Sha256, &leaves, &mut nodes) {
                // Fewer slots than wanted are enough.
                Ok(_) => prop_assert!(nodes == expected),
                Err(_) => prop_assert!(fake.has_failed(), "an error without a failing call"),
            }
            fake.fail_after(usize::MAX);
            device.merklize(Hash::Sha256, &leaves, &mut nodes).unwrap();
            prop_assert!(nodes == expected);
            drop(device);
            prop_assert_eq!(fake.left(), 0, "objects are left");
        }
    }

    proptest! {
        #[test]
        fn trees_in_place_copy_nothing(
            lanes in prop::sample::select(&LANES[..]),
            levels in 1..12_u32,
            from in prop_oneof![Just(0), Just(4096), 1..4096_usize],
            to in prop_oneof![Just(0), Just(4096), 1..4096_usize],
        ) {
            let (device, fake) = tiled(lanes, 1 << 30, Transfer::InPlace);
            let (leaves, expected) = tree(levels, 9);
            let len = leaves.len();
            // At any distance from the begin of a page.
            let place = |bytes: &[u8], at: usize| bytes.as_ptr().addr().next_multiple_of(4096) - bytes.as_ptr().addr() + at;
            let mut below = vec![0; len + 2 * 4096];
            let from_place = place(&below, from);
            below[from_place..][..len].copy_from_slice(&leaves);
            let mut nodes = vec![0xa5; len + 2 * 4096];
            let to_place = place(&nodes, to);
            let timings =
                device.merklize(Hash::Sha256, &below[from_place..][..len], &mut nodes[to_place..][..len]).unwrap();
            prop_assert!(nodes[to_place..][..len] == expected);
            prop_assert!(nodes[..to_place].iter().chain(&nodes[to_place + len..]).all(|&byte| byte == 0xa5), "bytes beside the nodes");
            let (aligned, by_device) = (from % 4096 == 0 && to % 4096 == 0, (1 << levels) / 2 >= lanes);
            let copies = timings.to_device.as_nanos() > 0;
            prop_assert!(copies == (!aligned && by_device), "{timings:?}");
            drop(device);
            prop_assert_eq!(fake.left(), 0, "objects are left");
        }
    }

    proptest! {
        #[test]
        fn a_tree_from_buffer_to_buffer_is_the_hosts(
            lanes in prop::sample::select(&LANES[..]),
            levels in 1..12_u32,
            calls in prop::option::of(0..20_usize),
        ) {
            let (device, fake) = tiled(lanes, 1 << 30, Transfer::Pinned);
            let (bytes, expected) = tree(levels, 5);
            let mut leaves = device.buffer(bytes.len()).unwrap();
            let mut nodes = device.buffer(bytes.len()).unwrap();
            let half = bytes.len() / 2;
            leaves.write(half, &bytes[half..]).unwrap();
            leaves.write(0, &bytes[..half]).unwrap();
            if let Some(calls) = calls {
                fake.fail_after(calls);
                if device.merklize_buffer(Hash::Sha256, &leaves, &mut nodes).is_err() {
                    prop_assert!(fake.has_failed(), "an error without a failing call");
                }
                fake.fail_after(usize::MAX);
            }
            let timings = device.merklize_buffer(Hash::Sha256, &leaves, &mut nodes).unwrap();
            // What crosses to the host does not depend on the length.
            let transfers = timings.to_device + timings.from_device;
            prop_assert!(transfers.as_nanos() == if lanes == 1 { 10 } else { 15 }, "{timings:?}");
            let mut found = vec![0xa5; bytes.len()];
            let (first, second) = found.split_at_mut(half);
            nodes.read(0, first).unwrap();
            nodes.read(half, second).unwrap();
            prop_assert!(found == expected);
            leaves.read(0, &mut found).unwrap();
            prop_assert!(found == bytes, "the leaves stay");
            // Buffers may outlive their device.
            drop(device);
            nodes.read(0, &mut found).unwrap();
            prop_assert!(found == expected);
            drop((leaves, nodes));
            prop_assert_eq!(fake.left(), 0, "objects are left");
        }

        #[test]
        fn transfers_beyond_a_buffer_are_errors_and_move_nothing(
            size in 0..40_usize,
            at in prop_oneof![0..50_usize, Just(usize::MAX)],
            len in 0..50_usize,
        ) {
            let (device, _fake) = device(1, None);
            let mut buffer = device.buffer(size).unwrap();
            prop_assert_eq!(buffer.len(), size);
            buffer.write(0, &vec![7; size]).unwrap();
            let (mut found, fits) = (vec![0xa5; len], at <= size && len <= size - at);
            let expected = if fits { Ok(()) } else { Err(Error::Range { at, len, size }) };
            prop_assert_eq!(buffer.read(at, &mut found), expected.clone());
            prop_assert_eq!(&found, &vec![if fits { 7 } else { 0xa5 }; len]);
            prop_assert_eq!(buffer.write(at, &vec![9; len]), expected);
            let mut whole = vec![0; size];
            buffer.read(0, &mut whole).unwrap();
            let mut written = vec![7; size];
            if fits {
                written[at..at + len].fill(9);
            }
            prop_assert_eq!(whole, written);
        }
    }

    #[test]
    fn buffers_that_do_not_fit_a_tree_are_errors() {
        let (device, _fake) = tiled(1, 1 << 16, Transfer::Pinned);
        let (other, _other) = tiled(1, 1 << 16, Transfer::Pinned);
        let (pair, mut nodes) = (device.buffer(64).unwrap(), device.buffer(64).unwrap());
        let mut foreign = other.buffer(64).unwrap();
        let mut run = |leaves: &DeviceBuffer| device.merklize_buffer(Hash::Sha256, leaves, &mut nodes);
        assert!(run(&pair).is_ok());
        assert!(matches!(run(&device.buffer(96).unwrap()), Err(NodeTreeError::Leaves { found: 96, .. })));
        assert!(matches!(run(&device.buffer(0).unwrap()), Err(NodeTreeError::Leaves { found: 0, .. })));
        assert!(matches!(run(&device.buffer(128).unwrap()), Err(NodeTreeError::Nodes { found: 64, expected: 128 })));
        let is_foreign = |error: NodeTreeError| match error {
            NodeTreeError::Device(error) => error.downcast_ref() == Some(&Error::OtherDevice),
            _ => false,
        };
        assert!(is_foreign(run(&foreign).unwrap_err()));
        assert!(is_foreign(device.merklize_buffer(Hash::Sha256, &pair, &mut foreign).unwrap_err()));
        let hash = device.merklize_buffer(Hash::Md5, &pair, &mut nodes);
        assert!(matches!(hash, Err(NodeTreeError::Hash(Hash::Md5))));
        let long = device.buffer((1 << 16) + 1).unwrap_err();
        assert_eq!(long, Error::Memory { needed: (1 << 16) + 1, offered: 1 << 16 });
    }

    #[test]
    fn commands_of_two_queues_are_timed_by_one_clock() {
        let (device, _fake) = device(1, Some(LaunchShape { group: 1, tile: 1, levels: 1 }));
        // The second queue begins 10 ns after the first.
        let queues = [device.queue().unwrap(), device.queue().unwrap()];
        let levels = device.levels(&queues[0], Hash::Sha256, Kind::Pairs(Mode::Message)).unwrap();
        let (leaves, nodes) = (Buffer::new(&device.context, 64).unwrap(), Buffer::new(&device.context, 64).unwrap());
        let mut recorder = Recorder::default();
        // The later one is recorded first.
        for queue in [1, 0] {
            let (bytes, mut root) = ([7; 64], [0; 32]);
            let ran = queues[queue].submit(|batch| {
                batch.write(&leaves, 0, &bytes)?;
                levels.run(batch, (&leaves, 0), &nodes, 1)?;
                batch.read(&nodes, 32, &mut root)
            });
            recorder.add(ran.unwrap().1).unwrap();
        }
        // 0..10 and 10..20, 10..30 and 20..40, 30..35 and 40..45.
        let expected = [30, 20, 10].map(Duration::from_nanos);
        let timings = recorder.timings();
        assert_eq!([timings.kernel, timings.to_device, timings.from_device], expected);
    }

    #[test]
    fn more_chunks_than_a_device_has_rows_are_left_to_the_cpu() {
        let (device, _fake) = device(1, None);
        let queue = device.queue().unwrap();
        assert!(Hashing::new(&device, &queue, Hash::Blake3, &[], 65_535 << 10).unwrap().is_some());
        assert!(Hashing::new(&device, &queue, Hash::Blake3, &[], 65_536 << 10).unwrap().is_none());
    }
}
