//! OpenCL calls: the only unsafe code of this crate. Objects are released when they are dropped, and each status other
//! than success becomes an [`Error`] with the call's name.
//!
//! Transfers block, so no slice is borrowed for longer than its call. The caller of a kernel has checked that the kernel
//! stays within its buffers: all kernels are this crate's own.
#![allow(unsafe_code)]

use crate::Error;
use cl3::types::{cl_context, cl_device_id, cl_event, cl_int, cl_kernel, cl_mem, cl_program, cl_uint};
use cl3::{command_queue, context, device, event, kernel, memory, platform, program};
use std::ffi::{CString, c_void};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::time::Duration;
use std::{ptr, slice};

/// Adds the call's name to its error.
fn called<T>(call: &'static str, result: Result<T, cl_int>) -> Result<T, Error> {
    result.map_err(|status| Error::Call { call, status })
}

/// A device that a runtime offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Id {
    platform: usize,
    device: usize,
}

impl Id {
    fn raw(self) -> cl_device_id {
        self.device as cl_device_id
    }

    /// Returns a text property of the device; empty if the runtime has none.
    pub fn text(self, property: cl_uint) -> String {
        text(device::get_device_data(self.raw(), property).unwrap_or_default())
    }

    /// Returns a text property of the device's platform.
    pub fn platform_text(self, property: cl_uint) -> String {
        text(platform::get_platform_data(self.platform as _, property).unwrap_or_default())
    }

    /// Returns a numeric property of the device, of 4 or 8 bytes; a Boolean is 0 or 1.
    pub fn number(self, property: cl_uint) -> Result<u64, Error> {
        let bytes = called("clGetDeviceInfo", device::get_device_data(self.raw(), property))?;
        let mut wide = [0; 8];
        let len = bytes.len().min(8);
        // The value is in host order; all supported hosts are little-endian.
        wide[..len].copy_from_slice(&bytes[..len]);
        Ok(u64::from_le_bytes(wide))
    }
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8_lossy(&bytes).trim_matches(['\0', ' ']).to_string()
}

/// Returns every device of every runtime, in the loader's order.
pub fn devices() -> Result<Vec<Id>, Error> {
    if let Err(error) = cl3::load_library() {
        return Err(Error::NoRuntime(error.to_string()));
    }
    let platforms = match platform::get_platform_ids() {
        // The loader is installed, but no runtime (cl_khr_icd, CL_PLATFORM_NOT_FOUND_KHR).
        Err(-1001) => Vec::new(),
        platforms => called("clGetPlatformIDs", platforms)?,
    };
    let mut ids = Vec::new();
    for platform in platforms {
        match device::get_device_ids(platform, device::CL_DEVICE_TYPE_ALL) {
            Err(cl3::error_codes::CL_DEVICE_NOT_FOUND) => {}
            devices => ids.extend(
                called("clGetDeviceIDs", devices)?
                    .into_iter()
                    .map(|device| Id { platform: platform as usize, device: device as usize }),
            ),
        }
    }
    Ok(ids)
}

/// Defines an owner of an OpenCL object. Its drop calls `release` and ignores failures, because no caller could handle them.
macro_rules! owner {
    ($(#[$doc:meta])* $name:ident($raw:ty), $release:path) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name($raw);

        // SAFETY: OpenCL objects may be used from any thread (the specification, A.2), except for a kernel's arguments:
        // `Kernel` is used through `&mut` only.
        unsafe impl Send for $name {}
        // SAFETY: as above.
        unsafe impl Sync for $name {}

        impl Drop for $name {
            fn drop(&mut self) {
                // SAFETY: this owner holds exactly one counted reference, and releases it once.
                let _ = unsafe { $release(self.0) };
            }
        }
    };
}

owner!(RawContext(cl_context), context::release_context);
owner!(RawQueue(cl3::types::cl_command_queue), command_queue::release_command_queue);
owner!(RawBuffer(cl_mem), memory::release_mem_object);
owner!(RawProgram(cl_program), program::release_program);
owner!(RawKernel(cl_kernel), kernel::release_kernel);
owner!(
    /// The event of a command, with the times of its execution.
    Event(cl_event),
    event::release_event
);

/// A device in use.
#[derive(Debug)]
pub struct Context {
    raw: RawContext,
    /// The device.
    pub id: Id,
}

impl Context {
    /// Creates a context for a device.
    pub fn new(id: Id) -> Result<Arc<Self>, Error> {
        let raw = context::create_context(&[id.raw()], ptr::null(), None, ptr::null_mut());
        Ok(Arc::new(Context { raw: RawContext(called("clCreateContext", raw)?), id }))
    }
}

/// A queue of commands that run one after the other.
#[derive(Debug)]
pub struct Queue {
    raw: RawQueue,
    context: Arc<Context>,
}

impl Queue {
    /// Creates a queue that records the times of its commands.
    pub fn new(context: &Arc<Context>) -> Result<Self, Error> {
        // SAFETY: the device is the context's.
        let raw = unsafe {
            #[allow(deprecated)] // OpenCL 1.2 has no other call.
            command_queue::create_command_queue(
                context.raw.0,
                context.id.raw(),
                command_queue::CL_QUEUE_PROFILING_ENABLE,
            )
        };
        Ok(Queue { raw: RawQueue(called("clCreateCommandQueue", raw)?), context: context.clone() })
    }

    /// Writes `bytes` to the buffer at byte `at`.
    pub fn write(&self, buffer: &Buffer, at: usize, bytes: &[u8]) -> Result<Event, Error> {
        buffer.check(at, bytes.len())?;
        // SAFETY: the call blocks until it has read the slice.
        let event = unsafe {
            command_queue::enqueue_write_buffer(
                self.raw.0,
                buffer.raw.0,
                cl3::types::CL_BLOCKING,
                at,
                bytes.len(),
                bytes.as_ptr().cast(),
                0,
                ptr::null(),
            )
        };
        called("clEnqueueWriteBuffer", event).map(Event)
    }

    /// Fills `bytes` from the buffer, starting at byte `at`.
    pub fn read(&self, buffer: &Buffer, at: usize, bytes: &mut [u8]) -> Result<Event, Error> {
        buffer.check(at, bytes.len())?;
        // SAFETY: the call blocks until it has written the slice.
        let event = unsafe {
            command_queue::enqueue_read_buffer(
                self.raw.0,
                buffer.raw.0,
                cl3::types::CL_BLOCKING,
                at,
                bytes.len(),
                bytes.as_mut_ptr().cast(),
                0,
                ptr::null(),
            )
        };
        called("clEnqueueReadBuffer", event).map(Event)
    }

    /// Copies all bytes of one buffer to another of at least its length.
    pub fn copy(&self, from: &Buffer, to: &Buffer) -> Result<Event, Error> {
        to.check(0, from.len)?;
        // SAFETY: both buffers have at least `from.len` bytes; the runtime refuses overlapping buffers.
        let event = unsafe {
            command_queue::enqueue_copy_buffer(self.raw.0, from.raw.0, to.raw.0, 0, 0, from.len, 0, ptr::null())
        };
        called("clEnqueueCopyBuffer", event).map(Event)
    }

    /// Launches `global` work-items, in groups of `local`, in each dimension.
    pub fn run(
        &self,
        kernel: &mut Kernel,
        args: &[Arg<'_>],
        global: [usize; 2],
        local: [usize; 2],
    ) -> Result<Event, Error> {
        for (arg, index) in args.iter().zip(0..) {
            let (len, value): (usize, *const c_void) = match arg {
                Arg::Buffer(buffer) => (size_of::<cl_mem>(), ptr::from_ref(&buffer.raw.0).cast()),
                Arg::U32(value) => (4, ptr::from_ref(value).cast()),
                Arg::U64(value) => (8, ptr::from_ref(value).cast()),
                Arg::Local(len) => (*len, ptr::null()),
            };
            // SAFETY: the value is read during the call; the runtime compares its size with the kernel's parameter.
            called("clSetKernelArg", unsafe { kernel::set_kernel_arg(kernel.raw.0, index, len, value) })?;
        }
        // SAFETY: the runtime retains the kernel's buffers until it has run; the caller checked that it stays within them.
        let event = unsafe {
            command_queue::enqueue_nd_range_kernel(
                self.raw.0,
                kernel.raw.0,
                2,
                ptr::null(),
                global.as_ptr(),
                local.as_ptr(),
                0,
                ptr::null(),
            )
        };
        called("clEnqueueNDRangeKernel", event).map(Event)
    }

    /// Waits until every command has run.
    pub fn finish(&self) -> Result<(), Error> {
        called("clFinish", command_queue::finish(self.raw.0))
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
    /// Local memory of this many bytes.
    Local(usize),
}

impl Event {
    /// Waits for the command and returns its execution time.
    pub fn elapsed(&self) -> Result<Duration, Error> {
        called("clWaitForEvents", event::wait_for_events(&[self.0]))?;
        let at = |property| {
            let value = event::get_event_profiling_info(self.0, property);
            called("clGetEventProfilingInfo", value).map(u64::from)
        };
        let (start, end) = (at(event::CL_PROFILING_COMMAND_START)?, at(event::CL_PROFILING_COMMAND_END)?);
        Ok(Duration::from_nanos(end.saturating_sub(start)))
    }
}

/// Memory of a device.
#[derive(Debug)]
pub struct Buffer {
    raw: RawBuffer,
    len: usize,
}

impl Buffer {
    /// Allocates `len` bytes, at least 1.
    pub fn new(context: &Context, len: usize) -> Result<Self, Error> {
        Self::with(context, len, memory::CL_MEM_READ_WRITE)
    }

    fn with(context: &Context, len: usize, flags: u64) -> Result<Self, Error> {
        // SAFETY: there is no host pointer.
        let raw = unsafe { memory::create_buffer(context.raw.0, flags, len, ptr::null_mut()) };
        Ok(Buffer { raw: RawBuffer(called("clCreateBuffer", raw)?), len })
    }

    /// The length, in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    fn check(&self, at: usize, len: usize) -> Result<(), Error> {
        match at.checked_add(len).is_some_and(|end| end <= self.len) {
            true => Ok(()),
            false => Err(Error::Call { call: "a transfer", status: cl3::error_codes::CL_INVALID_VALUE }),
        }
    }
}

/// Host memory that a device reads and writes directly: pinned, if the runtime distinguishes it.
#[derive(Debug)]
pub struct Pinned {
    buffer: Buffer,
    queue: Arc<Queue>,
    at: *mut u8,
}

// SAFETY: this owner has exclusive access to the memory, as a `Vec` does; the other fields are `Send`.
unsafe impl Send for Pinned {}

impl Pinned {
    /// Allocates `len` zero bytes, at least 1.
    pub fn new(queue: &Arc<Queue>, len: usize) -> Result<Self, Error> {
        let flags = memory::CL_MEM_READ_WRITE | memory::CL_MEM_ALLOC_HOST_PTR;
        let buffer = Buffer::with(&queue.context, len, flags)?;
        let mut at = ptr::null_mut();
        let map = memory::CL_MAP_READ | memory::CL_MAP_WRITE;
        // SAFETY: the buffer has `len` bytes, and the call blocks until they are mapped.
        let event = unsafe {
            command_queue::enqueue_map_buffer(
                queue.raw.0,
                buffer.raw.0,
                cl3::types::CL_BLOCKING,
                map,
                0,
                len,
                &mut at,
                0,
                ptr::null(),
            )
        };
        called("clEnqueueMapBuffer", event).map(Event)?;
        let at: *mut u8 = at.cast();
        // SAFETY: `len` bytes are mapped for writing.
        unsafe { at.write_bytes(0, len) };
        Ok(Pinned { buffer, queue: queue.clone(), at })
    }
}

impl Deref for Pinned {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the buffer's bytes are mapped until the drop, and were initialised; no kernel uses this buffer.
        unsafe { slice::from_raw_parts(self.at, self.buffer.len) }
    }
}

impl DerefMut for Pinned {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and `&mut self` makes the access exclusive.
        unsafe { slice::from_raw_parts_mut(self.at, self.buffer.len) }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // SAFETY: the buffer is mapped once, and not used after this call.
        let event = unsafe {
            command_queue::enqueue_unmap_mem_object(self.queue.raw.0, self.buffer.raw.0, self.at.cast(), 0, ptr::null())
        };
        drop(event.map(Event));
        let _ = self.queue.finish();
    }
}

/// A program of kernels, built for a device.
#[derive(Debug)]
pub struct Program {
    raw: RawProgram,
    context: Arc<Context>,
}

impl Program {
    /// Builds a program from OpenCL C.
    pub fn from_source(context: &Arc<Context>, source: &str, options: &str) -> Result<Self, Error> {
        let raw = program::create_program_with_source(context.raw.0, &[source]);
        Self::built(context, called("clCreateProgramWithSource", raw)?, options)
    }

    /// Builds a program from the result of [`Program::binary`] for the same device and driver.
    pub fn from_binary(context: &Arc<Context>, binary: &[u8], options: &str) -> Result<Self, Error> {
        // SAFETY: the device is the context's.
        let raw = unsafe { program::create_program_with_binary(context.raw.0, &[context.id.raw()], &[binary]) };
        Self::built(context, called("clCreateProgramWithBinary", raw)?, options)
    }

    /// Builds a program from SPIR-V.
    pub fn from_il(context: &Arc<Context>, il: &[u8], options: &str) -> Result<Self, Error> {
        let raw = program::create_program_with_il(context.raw.0, il);
        Self::built(context, called("clCreateProgramWithIL", raw)?, options)
    }

    fn built(context: &Arc<Context>, raw: cl_program, options: &str) -> Result<Self, Error> {
        let program = Program { raw: RawProgram(raw), context: context.clone() };
        let device = context.id.raw();
        let flags = CString::new(options).expect("options hold no zero byte");
        program::build_program(raw, &[device], &flags, None, ptr::null_mut()).map_err(|status| {
            let log = program::get_program_build_data(raw, device, program::CL_PROGRAM_BUILD_LOG);
            Error::Build { status, options: options.into(), log: text(log.unwrap_or_default()) }
        })?;
        Ok(program)
    }

    /// Returns the program's device binary; empty if the runtime does not provide it.
    pub fn binary(&self) -> Result<Vec<u8>, Error> {
        let binaries = program::get_program_info(self.raw.0, program::CL_PROGRAM_BINARIES);
        Ok(Vec::<Vec<u8>>::from(called("clGetProgramInfo", binaries)?).pop().unwrap_or_default())
    }
}

/// A kernel and its arguments.
#[derive(Debug)]
pub struct Kernel {
    raw: RawKernel,
    program: Arc<Program>,
}

impl Kernel {
    /// Returns the kernel called `name`.
    pub fn new(program: &Arc<Program>, name: &str) -> Result<Self, Error> {
        let name = CString::new(name).expect("names hold no zero byte");
        let raw = called("clCreateKernel", kernel::create_kernel(program.raw.0, &name))?;
        Ok(Kernel { raw: RawKernel(raw), program: program.clone() })
    }

    /// Returns the largest work-group size of this kernel.
    pub fn max_group(&self) -> Result<usize, Error> {
        let property = kernel::CL_KERNEL_WORK_GROUP_SIZE;
        let max = kernel::get_kernel_work_group_info(self.raw.0, self.program.context.id.raw(), property);
        called("clGetKernelWorkGroupInfo", max).map(usize::from)
    }
}
