//! The calls of a device's driver, and owners of its objects, which are released when they are dropped.
//!
//! Commands run while the caller goes on: a [`Batch`] borrows what they use until all of them have ended. The caller of a kernel has
//! checked that the kernel stays within its buffers: all kernels are this crate's own.
#![allow(unsafe_code)]

use crate::Error;
use mksum::node_tree::Timings;
use mksum::ranges::union;
use std::cell::RefCell;
use std::fmt::Debug;
use std::marker::PhantomData;
use std::mem;
use std::ops::{Deref, DerefMut, Range};
use std::ptr;
use std::slice;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A driver's object: a pointer or a number that only its driver understands.
pub type Handle = u64;

/// The kinds of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Object {
    /// Commands that run one after the other.
    Queue,
    /// Memory of the device.
    Memory,
    /// Kernels, built for the device.
    Program,
    /// A kernel and its arguments.
    Kernel,
    /// A command in a queue, with the times of its execution.
    Event,
}

/// The kinds of commands that compute a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A transfer of leaves to the device.
    ToDevice,
    /// A kernel, which hashes.
    Kernel,
    /// A transfer of nodes from the device.
    FromDevice,
}

/// What kernels do with memory of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Kernels read the memory.
    Read,
    /// Kernels write the memory, and read what they wrote.
    Write,
}

/// A program before it is built.
#[derive(Clone, Copy, Debug)]
pub enum Code<'a> {
    /// Source text and the compiler's options.
    Source(&'a str, &'a str),
    /// The result of [`Calls::binary`] for the same kind of device.
    Binary(&'a [u8]),
    /// SPIR-V.
    SpirV(&'a [u8]),
}

/// An argument of a kernel, as drivers take it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// Global memory.
    Memory(Handle),
    /// A `uint`.
    U32(u32),
    /// A `ulong`.
    U64(u64),
    /// Local memory of this many bytes, always the last argument.
    Local(usize),
}

/// The calls of a driver on one open device.
///
/// # Safety
/// Objects must be usable from any thread, but a kernel from one at a time. [`Calls::pin`] must return an address with as many bytes
/// as were asked for, which stay readable and writable until [`Calls::unpin`].
///
/// For all unsafe methods: the caller passes handles that this driver returned for the same kind of object and that were not released,
/// and places within their buffers. An event is released before its queue's last command is waited for only if nobody needs it.
pub unsafe trait Calls: Debug + Send + Sync {
    /// Creates a queue that records the times of its commands.
    fn queue(&self) -> Result<Handle, Error>;

    /// Allocates `len` bytes of the device's memory, at least 1.
    fn allocate(&self, len: usize) -> Result<Handle, Error>;

    /// Builds a program.
    fn build(&self, code: Code<'_>) -> Result<Handle, Error>;

    /// Returns a program's device binary; empty if the driver does not provide it.
    unsafe fn binary(&self, program: Handle) -> Result<Vec<u8>, Error>;

    /// Returns the kernel called `name`.
    ///
    /// # Safety
    /// As described above; the program outlives the kernel.
    unsafe fn kernel(&self, program: Handle, name: &str) -> Result<Handle, Error>;

    /// Returns the largest number of work-items in a group of this kernel.
    unsafe fn max_group(&self, kernel: Handle) -> Result<usize, Error>;

    /// Allocates `len` bytes of the host's memory that the device reads and writes directly: pinned, if the driver distinguishes it.
    /// Returns the memory's handle and its address.
    ///
    /// # Safety
    /// As described above; the queue outlives the memory.
    unsafe fn pin(&self, queue: Handle, len: usize) -> Result<(Handle, *mut u8), Error>;

    /// Releases the host's memory that [`Calls::pin`] returned for this queue.
    ///
    /// # Safety
    /// As described above; nobody uses the memory afterwards.
    unsafe fn unpin(&self, queue: Handle, memory: Handle, address: *mut u8);

    /// Makes bytes of the host the memory of an object, which kernels use where it lies; `None` if this driver cannot. What kernels write
    /// is on the host after [`Calls::show`].
    ///
    /// # Safety
    /// The bytes stay until the object is released. Until then, nobody writes them, and nobody reads them if kernels write them.
    unsafe fn wrap(&self, bytes: *mut [u8], access: Access) -> Result<Option<Handle>, Error>;

    /// Makes what kernels wrote to memory from [`Calls::wrap`] visible on the host, without waiting for it.
    ///
    /// # Safety
    /// As described above; `len` is the memory's length.
    unsafe fn show(&self, queue: Handle, memory: Handle, len: usize) -> Result<Handle, Error>;

    /// Writes `bytes` to memory at byte `at`, without waiting for it.
    ///
    /// # Safety
    /// As described above; the bytes stay, and nobody writes them, until the command has ended.
    unsafe fn write(&self, queue: Handle, memory: Handle, at: usize, bytes: *const [u8]) -> Result<Handle, Error>;

    /// Fills `bytes` from memory, starting at byte `at`, without waiting for it.
    ///
    /// # Safety
    /// As described above; the bytes stay, and nobody uses them, until the command has ended.
    unsafe fn read(&self, queue: Handle, memory: Handle, at: usize, bytes: *mut [u8]) -> Result<Handle, Error>;

    /// Launches `global` work-items, in groups of `local`, in each dimension; a multiple of a group in each.
    ///
    /// # Safety
    /// As described above; the kernel stays within its memory, which lives until the kernel has run.
    unsafe fn launch(
        &self,
        queue: Handle,
        kernel: Handle,
        args: &[Value],
        global: [usize; 2],
        local: [usize; 2],
    ) -> Result<Handle, Error>;

    /// Waits until every command of a queue has ended.
    unsafe fn wait(&self, queue: Handle) -> Result<(), Error>;

    /// Waits for two commands, of one queue or of two, and returns when the second began and ended, in nanoseconds after the first began:
    /// negative if it was before.
    unsafe fn times(&self, first: Handle, event: Handle) -> Result<Range<i64>, Error>;

    /// Releases an object. Failures are ignored, because no caller could handle them.
    ///
    /// # Safety
    /// As described above; nobody uses the handle afterwards.
    unsafe fn release(&self, object: Object, handle: Handle);
}

/// A device in use.
#[derive(Debug)]
pub struct Context {
    calls: Arc<dyn Calls>,
}

impl Context {
    /// Makes the objects of a driver available.
    pub fn new(calls: Arc<dyn Calls>) -> Arc<Self> {
        Arc::new(Context { calls })
    }

    fn own(&self, object: Object, handle: Handle) -> Owned {
        Owned { calls: self.calls.clone(), object, handle }
    }
}

/// The owner of an object.
#[derive(Debug)]
struct Owned {
    calls: Arc<dyn Calls>,
    object: Object,
    handle: Handle,
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: this is the only owner of a handle that its driver returned, and it is not used again.
        unsafe { self.calls.release(self.object, self.handle) }
    }
}

/// A queue of commands that run one after the other.
#[derive(Debug)]
pub struct Queue {
    raw: Owned,
    context: Arc<Context>,
}

impl Queue {
    /// Creates a queue that records the times of its commands.
    pub fn new(context: &Arc<Context>) -> Result<Self, Error> {
        let raw = context.own(Object::Queue, context.calls.queue()?);
        Ok(Queue { raw, context: context.clone() })
    }

    /// Whether it is a queue of this device in use.
    pub fn is_of(&self, context: &Arc<Context>) -> bool {
        Arc::ptr_eq(&self.context, context)
    }

    /// Runs the commands that `enqueue` puts into a batch, one after the other, and waits for all of them: also after an error or a
    /// panic. Returns what `enqueue` returned, and the commands.
    pub fn submit<'a, T>(&'a self, enqueue: impl FnOnce(&Batch<'a>) -> Result<T, Error>) -> Result<(T, Ran), Error> {
        let batch = Batch { queue: self, commands: RefCell::default(), borrowed: PhantomData };
        let waiting = Waiting(&self.raw);
        let enqueued = enqueue(&batch);
        let waited = waiting.end();
        let (enqueued, ()) = (enqueued?, waited?);
        Ok((enqueued, Ran(batch.commands.into_inner())))
    }
}

/// Commands that have ended, in the order in which they ran.
#[derive(Debug)]
pub struct Ran(Vec<(Step, Owned)>);

impl Ran {
    /// The time during which kernels ran.
    pub fn kernel(self) -> Result<Duration, Error> {
        let mut recorder = Recorder::default();
        recorder.add(self)?;
        Ok(recorder.timings().kernel)
    }
}

/// Collects when the commands of one tree ran.
#[derive(Debug, Default)]
pub struct Recorder {
    /// The command after whose begin the others are timed.
    first: Option<Owned>,
    spans: Vec<(Step, Range<i64>)>,
}

impl Recorder {
    /// Adds commands, which ran on a queue of the same device.
    pub fn add(&mut self, ran: Ran) -> Result<(), Error> {
        for (step, event) in ran.0 {
            let first = self.first.as_ref().unwrap_or(&event);
            // SAFETY: the handles are events' of one device.
            let time = unsafe { event.calls.times(first.handle, event.handle) }?;
            // The clocks of two queues may differ a little; no command ends before it begins.
            self.spans.push((step, time.start..time.end.max(time.start)));
            self.first.get_or_insert(event);
        }
        Ok(())
    }

    /// The time during which at least one command of each kind ran: the length of the union of their intervals.
    pub fn timings(&self) -> Timings {
        let busy = |step| {
            let spans = self.spans.iter().filter(|(own, _)| *own == step);
            let intervals = union(spans.map(|(_, time)| time.clone()).collect());
            Duration::from_nanos(intervals.iter().map(|time| time.end.abs_diff(time.start)).sum())
        };
        Timings::new(busy(Step::Kernel), busy(Step::ToDevice), busy(Step::FromDevice))
    }
}

/// The wait for a queue, also when a panic unwinds: the queue's commands use memory that is borrowed only until then.
struct Waiting<'a>(&'a Owned);

impl Waiting<'_> {
    fn end(self) -> Result<(), Error> {
        let queue = self.0;
        mem::forget(self);
        // SAFETY: the handle is a queue's.
        unsafe { queue.calls.wait(queue.handle) }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        // SAFETY: as above.
        let _ = unsafe { self.0.calls.wait(self.0.handle) };
    }
}

/// Commands that [`Queue::submit`] waits for.
///
/// They borrow what they use for `'a`, which outlives that call. It must not be shortened, so this type is invariant in it; and a
/// closure gets a shared reference, so that it cannot exchange its batch for another's.
#[derive(Debug)]
pub struct Batch<'a> {
    queue: &'a Queue,
    commands: RefCell<Vec<(Step, Owned)>>,
    borrowed: PhantomData<fn(&'a ()) -> &'a ()>,
}

impl<'a> Batch<'a> {
    fn push(&self, step: Step, event: Result<Handle, Error>) -> Result<(), Error> {
        let event = self.queue.context.own(Object::Event, event?);
        self.commands.borrow_mut().push((step, event));
        Ok(())
    }

    /// Writes `bytes` to the buffer at byte `at`; without bytes there is no command, which drivers would refuse.
    pub fn write(&self, buffer: &'a Buffer, at: usize, bytes: &'a [u8]) -> Result<(), Error> {
        buffer.check(at, bytes.len())?;
        if bytes.is_empty() {
            return Ok(());
        }
        let queue = &self.queue.raw;
        // SAFETY: the bytes are within the buffer; both are borrowed until the command has ended.
        self.push(Step::ToDevice, unsafe { queue.calls.write(queue.handle, buffer.raw.handle, at, bytes) })
    }

    /// Fills `bytes` from the buffer, starting at byte `at`; without bytes there is no command.
    pub fn read(&self, buffer: &'a Buffer, at: usize, bytes: &'a mut [u8]) -> Result<(), Error> {
        buffer.check(at, bytes.len())?;
        if bytes.is_empty() {
            return Ok(());
        }
        let queue = &self.queue.raw;
        // SAFETY: as above, and nobody else has these bytes.
        self.push(Step::FromDevice, unsafe { queue.calls.read(queue.handle, buffer.raw.handle, at, bytes) })
    }

    /// Makes what kernels wrote to bytes of the host visible there. Its time counts as a transfer's.
    pub fn show<'b>(&self, nodes: &'a HostBuffer<'b>) -> Result<(), Error> {
        let queue = &self.queue.raw;
        // SAFETY: the memory is of the host, and as long as that; it is borrowed until the command has ended.
        let shown = unsafe { queue.calls.show(queue.handle, nodes.buffer.raw.handle, nodes.buffer.len) };
        self.push(Step::FromDevice, shown)
    }

    /// Launches `global` work-items, in groups of `local`, in each dimension.
    pub fn run(
        &self,
        kernel: &'a Kernel,
        args: &[Arg<'a>],
        global: [usize; 2],
        local: [usize; 2],
    ) -> Result<(), Error> {
        let values: Vec<Value> = args.iter().map(Arg::value).collect();
        let queue = &self.queue.raw;
        // The arguments belong to the kernel until it is launched.
        let _launching = kernel.launching.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the handles are the arguments' own, and borrowed until the kernel has run; the caller checked that it stays within
        // its buffers.
        let launch = unsafe { queue.calls.launch(queue.handle, kernel.raw.handle, &values, global, local) };
        self.push(Step::Kernel, launch)
    }
}

/// An argument of a kernel.
#[derive(Clone, Copy, Debug)]
pub enum Arg<'a> {
    /// Global memory.
    Buffer(&'a Buffer),
    /// A `uint`.
    U32(u32),
    /// A `ulong`.
    U64(u64),
    /// Local memory of this many bytes, always the last argument.
    Local(usize),
}

impl Arg<'_> {
    fn value(&self) -> Value {
        match *self {
            Arg::Buffer(buffer) => Value::Memory(buffer.raw.handle),
            Arg::U32(value) => Value::U32(value),
            Arg::U64(value) => Value::U64(value),
            Arg::Local(len) => Value::Local(len),
        }
    }
}

/// Memory of a device.
#[derive(Debug)]
pub struct Buffer {
    raw: Owned,
    len: usize,
}

impl Buffer {
    /// Allocates `len` bytes.
    pub fn new(context: &Context, len: usize) -> Result<Self, Error> {
        // Drivers refuse empty buffers.
        Ok(Buffer { raw: context.own(Object::Memory, context.calls.allocate(len.max(1))?), len })
    }

    /// The length, in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    fn check(&self, at: usize, len: usize) -> Result<(), Error> {
        match at.checked_add(len).is_some_and(|end| end <= self.len) {
            true => Ok(()),
            false => Err(Error::Range { at, len, size: self.len }),
        }
    }
}

/// Bytes of the host that kernels use where they lie, because the device shares the host's memory.
#[derive(Debug)]
pub struct HostBuffer<'b> {
    buffer: Buffer,
    borrowed: PhantomData<&'b mut [u8]>,
}

impl<'b> HostBuffer<'b> {
    /// Makes bytes available to kernels that read them; `None` if the driver cannot.
    pub fn reading(context: &Context, bytes: &'b [u8]) -> Result<Option<Self>, Error> {
        Self::new(context, ptr::from_ref(bytes).cast_mut(), Access::Read)
    }

    /// Makes bytes available to kernels that write them; `None` if the driver cannot.
    pub fn writing(context: &Context, bytes: &'b mut [u8]) -> Result<Option<Self>, Error> {
        Self::new(context, bytes, Access::Write)
    }

    fn new(context: &Context, bytes: *mut [u8], access: Access) -> Result<Option<Self>, Error> {
        // SAFETY: the bytes are borrowed for longer than this owner lives, exclusively where kernels write.
        let memory = unsafe { context.calls.wrap(bytes, access)? };
        Ok(memory.map(|memory| {
            let raw = context.own(Object::Memory, memory);
            HostBuffer { buffer: Buffer { raw, len: bytes.len() }, borrowed: PhantomData }
        }))
    }
}

impl Deref for HostBuffer<'_> {
    type Target = Buffer;

    fn deref(&self) -> &Buffer {
        &self.buffer
    }
}

/// Host memory that a device reads and writes directly: pinned, if the driver distinguishes it.
#[derive(Debug)]
pub struct Pinned {
    queue: Arc<Queue>,
    memory: Handle,
    at: *mut u8,
    len: usize,
}

// SAFETY: this owner has exclusive access to the memory, as a `Vec` does; the other fields are `Send`.
unsafe impl Send for Pinned {}

impl Pinned {
    /// Allocates `len` zero bytes, at least 1.
    pub fn new(queue: &Arc<Queue>, len: usize) -> Result<Self, Error> {
        // SAFETY: the queue outlives the memory, because this owner shares it.
        let (memory, at) = unsafe { queue.raw.calls.pin(queue.raw.handle, len)? };
        // SAFETY: the address has `len` bytes for writing.
        unsafe { at.write_bytes(0, len) };
        Ok(Pinned { queue: queue.clone(), memory, at, len })
    }
}

impl Deref for Pinned {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the memory stays until the drop, and was initialised; no kernel uses it.
        unsafe { slice::from_raw_parts(self.at, self.len) }
    }
}

impl DerefMut for Pinned {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and `&mut self` makes the access exclusive.
        unsafe { slice::from_raw_parts_mut(self.at, self.len) }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // SAFETY: the memory is this owner's alone, and not used after this call.
        unsafe { self.queue.raw.calls.unpin(self.queue.raw.handle, self.memory, self.at) }
    }
}

/// A program of kernels, built for a device.
#[derive(Debug)]
pub struct Program {
    raw: Owned,
}

impl Program {
    /// Builds a program.
    pub fn new(context: &Context, code: Code<'_>) -> Result<Self, Error> {
        Ok(Program { raw: context.own(Object::Program, context.calls.build(code)?) })
    }

    /// Returns the program's device binary; empty if the driver does not provide it.
    pub fn binary(&self) -> Result<Vec<u8>, Error> {
        // SAFETY: the handle is a program's.
        unsafe { self.raw.calls.binary(self.raw.handle) }
    }
}

/// A kernel and its arguments.
#[derive(Debug)]
pub struct Kernel {
    raw: Owned,
    /// Held from the first argument's setting to the launch.
    launching: Mutex<()>,
    /// Dropped after the kernel, because fields are dropped in order.
    _program: Arc<Program>,
}

impl Kernel {
    /// Returns the kernel called `name`.
    pub fn new(program: &Arc<Program>, name: &str) -> Result<Self, Error> {
        let calls = &program.raw.calls;
        // SAFETY: the handle is a program's, which this kernel keeps.
        let handle = unsafe { calls.kernel(program.raw.handle, name)? };
        let raw = Owned { calls: calls.clone(), object: Object::Kernel, handle };
        Ok(Kernel { raw, launching: Mutex::new(()), _program: program.clone() })
    }

    /// Returns the largest work-group size of this kernel.
    pub fn max_group(&self) -> Result<usize, Error> {
        // SAFETY: the handle is a kernel's.
        unsafe { self.raw.calls.max_group(self.raw.handle) }
    }
}
