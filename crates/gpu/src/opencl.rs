//! The calls of OpenCL, which is loaded on first use. Each status other than success becomes an [`Error`] with the call's name.
#![allow(unsafe_code)]

use crate::Error;
use crate::call::{Access, Calls, Code, Handle, Object, Value};
use cl3::types::{
    CL_BLOCKING, CL_NON_BLOCKING, cl_context, cl_device_id, cl_event, cl_int, cl_mem, cl_program, cl_uint,
};
use cl3::{command_queue, context, device, error_codes, event, kernel, memory, platform, program};
use std::ffi::{CString, c_void};
use std::ops::Range;
use std::ptr;

/// Adds the call's name to its error.
fn called<T>(call: &'static str, result: Result<T, cl_int>) -> Result<T, Error> {
    result.map_err(|status| Error::Call { call, status: name(status) })
}

/// The handle of a command's event, or an error with the call's name.
fn enqueued(call: &'static str, event: Result<cl_event, cl_int>) -> Result<Handle, Error> {
    called(call, event).map(|event| event as Handle)
}

/// A status as the specification writes it, and its number.
fn name(status: cl_int) -> String {
    format!("{} ({status})", error_codes::error_text(status))
}

/// A device that a runtime offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Id {
    platform: usize,
    device: usize,
}

impl Id {
    /// No device, for tests that never ask for its properties.
    #[cfg(test)]
    pub fn none() -> Self {
        Id { platform: 0, device: 0 }
    }

    fn raw(self) -> cl_device_id {
        self.device as cl_device_id
    }

    /// Returns a property of the device as the runtime stores it; empty if the runtime has none.
    pub fn bytes(self, property: cl_uint) -> Vec<u8> {
        device::get_device_data(self.raw(), property).unwrap_or_default()
    }

    /// Returns a text property of the device; empty if the runtime has none.
    pub fn text(self, property: cl_uint) -> String {
        text(self.bytes(property))
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
            Err(error_codes::CL_DEVICE_NOT_FOUND) => {}
            devices => ids.extend(
                called("clGetDeviceIDs", devices)?
                    .into_iter()
                    .map(|device| Id { platform: platform as usize, device: device as usize }),
            ),
        }
    }
    Ok(ids)
}

/// An OpenCL device in use. Handles are pointers to OpenCL's objects.
#[derive(Debug)]
pub struct OpenCl {
    context: cl_context,
    id: Id,
}

// SAFETY: OpenCL objects may be used from any thread (the specification, A.2).
unsafe impl Send for OpenCl {}
// SAFETY: as above.
unsafe impl Sync for OpenCl {}

impl OpenCl {
    /// Creates a context for a device.
    pub fn open(id: Id) -> Result<Self, Error> {
        let context = context::create_context(&[id.raw()], ptr::null(), None, ptr::null_mut());
        Ok(OpenCl { context: called("clCreateContext", context)?, id })
    }

    fn memory(&self, len: usize, flags: u64) -> Result<cl_mem, Error> {
        // SAFETY: there is no host pointer.
        called("clCreateBuffer", unsafe { memory::create_buffer(self.context, flags, len, ptr::null_mut()) })
    }

    /// Builds a program, or releases it.
    fn built(&self, program: cl_program, options: &str) -> Result<Handle, Error> {
        let device = self.id.raw();
        let flags = CString::new(options).expect("options hold no zero byte");
        program::build_program(program, &[device], &flags, None, ptr::null_mut()).map_err(|status| {
            let log = program::get_program_build_data(program, device, program::CL_PROGRAM_BUILD_LOG);
            // SAFETY: the program is released once, and not used again.
            let _ = unsafe { program::release_program(program) };
            let (call, status, log) = ("clBuildProgram", name(status), text(log.unwrap_or_default()));
            Error::Build { call, status, options: options.into(), log }
        })?;
        Ok(program as Handle)
    }
}

impl Drop for OpenCl {
    fn drop(&mut self) {
        // SAFETY: the context is this owner's; OpenCL keeps it while other objects use it.
        let _ = unsafe { context::release_context(self.context) };
    }
}

// SAFETY: OpenCL objects may be used from any thread, except for a kernel's arguments; mapped memory has the length that was asked for.
unsafe impl Calls for OpenCl {
    fn queue(&self) -> Result<Handle, Error> {
        // SAFETY: the device is the context's.
        let queue = unsafe {
            #[allow(deprecated)] // OpenCL 1.2 has no other call.
            command_queue::create_command_queue(self.context, self.id.raw(), command_queue::CL_QUEUE_PROFILING_ENABLE)
        };
        called("clCreateCommandQueue", queue).map(|queue| queue as Handle)
    }

    fn allocate(&self, len: usize) -> Result<Handle, Error> {
        self.memory(len, memory::CL_MEM_READ_WRITE).map(|memory| memory as Handle)
    }

    fn build(&self, code: Code<'_>) -> Result<Handle, Error> {
        let (call, program, options) = match code {
            Code::Source(source, options) => {
                ("clCreateProgramWithSource", program::create_program_with_source(self.context, &[source]), options)
            }
            Code::Binary(binary) => {
                // SAFETY: the device is the context's.
                let program = unsafe { program::create_program_with_binary(self.context, &[self.id.raw()], &[binary]) };
                ("clCreateProgramWithBinary", program, "")
            }
            Code::SpirV(il) => ("clCreateProgramWithIL", program::create_program_with_il(self.context, il), ""),
        };
        self.built(called(call, program)?, options)
    }

    unsafe fn binary(&self, program: Handle) -> Result<Vec<u8>, Error> {
        let binaries = program::get_program_info(program as cl_program, program::CL_PROGRAM_BINARIES);
        Ok(Vec::<Vec<u8>>::from(called("clGetProgramInfo", binaries)?).pop().unwrap_or_default())
    }

    unsafe fn kernel(&self, program: Handle, name: &str) -> Result<Handle, Error> {
        let name = CString::new(name).expect("names hold no zero byte");
        called("clCreateKernel", kernel::create_kernel(program as _, &name)).map(|kernel| kernel as Handle)
    }

    unsafe fn max_group(&self, kernel: Handle) -> Result<usize, Error> {
        let property = kernel::CL_KERNEL_WORK_GROUP_SIZE;
        let most = kernel::get_kernel_work_group_info(kernel as _, self.id.raw(), property);
        called("clGetKernelWorkGroupInfo", most).map(usize::from)
    }

    unsafe fn pin(&self, queue: Handle, len: usize) -> Result<(Handle, *mut u8), Error> {
        let memory = self.memory(len, memory::CL_MEM_READ_WRITE | memory::CL_MEM_ALLOC_HOST_PTR)?;
        let mut at = ptr::null_mut();
        let map = memory::CL_MAP_READ | memory::CL_MAP_WRITE;
        // SAFETY: the buffer has `len` bytes, and the call blocks until they are mapped.
        let event = unsafe {
            command_queue::enqueue_map_buffer(queue as _, memory, CL_BLOCKING, map, 0, len, &mut at, 0, ptr::null())
        };
        match called("clEnqueueMapBuffer", event) {
            Ok(event) => {
                // SAFETY: the event is released once.
                let _ = unsafe { event::release_event(event) };
                Ok((memory as Handle, at.cast()))
            }
            Err(error) => {
                // SAFETY: the memory is released once, and not used again.
                let _ = unsafe { memory::release_mem_object(memory) };
                Err(error)
            }
        }
    }

    unsafe fn unpin(&self, queue: Handle, memory: Handle, address: *mut u8) {
        // SAFETY: the memory is mapped once, and neither it nor the event is used after this call.
        unsafe {
            let unmapped =
                command_queue::enqueue_unmap_mem_object(queue as _, memory as _, address.cast(), 0, ptr::null());
            if let Ok(event) = unmapped {
                let _ = event::release_event(event);
            }
            let _ = command_queue::finish(queue as _);
            let _ = memory::release_mem_object(memory as _);
        }
    }

    unsafe fn wrap(&self, bytes: *mut [u8], access: Access) -> Result<Option<Handle>, Error> {
        let access = match access {
            Access::Read => memory::CL_MEM_READ_ONLY,
            Access::Write => memory::CL_MEM_READ_WRITE,
        };
        let (flags, at) = (access | memory::CL_MEM_USE_HOST_PTR, bytes.cast::<c_void>());
        // SAFETY: the caller keeps the bytes until the memory is released; they are only read where that is asked for.
        let memory = unsafe { memory::create_buffer(self.context, flags, bytes.len(), at) };
        called("clCreateBuffer", memory).map(|memory| Some(memory as Handle))
    }

    unsafe fn show(&self, queue: Handle, memory: Handle, len: usize) -> Result<Handle, Error> {
        let (queue, memory, none) = (queue as _, memory as cl_mem, ptr::null());
        let mut at = ptr::null_mut();
        let read = memory::CL_MAP_READ;
        // SAFETY: the buffer has `len` bytes, which are those of the host.
        let event = unsafe {
            command_queue::enqueue_map_buffer(queue, memory, CL_NON_BLOCKING, read, 0, len, &mut at, 0, none)
        };
        let event = enqueued("clEnqueueMapBuffer", event)?;
        // SAFETY: the memory was mapped at this address by the command before.
        let unmapped = unsafe { command_queue::enqueue_unmap_mem_object(queue, memory, at, 0, none) };
        match called("clEnqueueUnmapMemObject", unmapped) {
            Ok(unmapped) => {
                // SAFETY: the event is released once.
                let _ = unsafe { event::release_event(unmapped) };
                Ok(event)
            }
            Err(error) => {
                // SAFETY: as above.
                let _ = unsafe { event::release_event(event as _) };
                Err(error)
            }
        }
    }

    unsafe fn write(&self, queue: Handle, memory: Handle, at: usize, bytes: *const [u8]) -> Result<Handle, Error> {
        let (queue, memory, from, none) = (queue as _, memory as _, bytes.cast(), ptr::null());
        // SAFETY: the caller checked the place, and keeps the bytes until the command has ended.
        enqueued("clEnqueueWriteBuffer", unsafe {
            command_queue::enqueue_write_buffer(queue, memory, CL_NON_BLOCKING, at, bytes.len(), from, 0, none)
        })
    }

    unsafe fn read(&self, queue: Handle, memory: Handle, at: usize, bytes: *mut [u8]) -> Result<Handle, Error> {
        let (queue, memory, to, none) = (queue as _, memory as _, bytes.cast(), ptr::null());
        // SAFETY: as above.
        enqueued("clEnqueueReadBuffer", unsafe {
            command_queue::enqueue_read_buffer(queue, memory, CL_NON_BLOCKING, at, bytes.len(), to, 0, none)
        })
    }

    unsafe fn launch(
        &self,
        queue: Handle,
        kernel: Handle,
        args: &[Value],
        global: [usize; 2],
        local: [usize; 2],
    ) -> Result<Handle, Error> {
        for (arg, index) in args.iter().zip(0..) {
            let memory;
            let (len, value): (usize, *const c_void) = match arg {
                Value::Memory(handle) => {
                    memory = *handle as cl_mem;
                    (size_of::<cl_mem>(), ptr::from_ref(&memory).cast())
                }
                Value::U32(value) => (4, ptr::from_ref(value).cast()),
                Value::U64(value) => (8, ptr::from_ref(value).cast()),
                Value::Local(len) => (*len, ptr::null()),
            };
            // SAFETY: the value is read during the call; the runtime compares its size with the kernel's parameter.
            called("clSetKernelArg", unsafe { kernel::set_kernel_arg(kernel as _, index, len, value) })?;
        }
        let (from, global, local, none) = (ptr::null(), global.as_ptr(), local.as_ptr(), ptr::null());
        // SAFETY: the runtime retains the kernel's buffers until it has run; the caller checked that it stays within them.
        enqueued("clEnqueueNDRangeKernel", unsafe {
            command_queue::enqueue_nd_range_kernel(queue as _, kernel as _, 2, from, global, local, 0, none)
        })
    }

    unsafe fn wait(&self, queue: Handle) -> Result<(), Error> {
        called("clFinish", command_queue::finish(queue as _))
    }

    unsafe fn times(&self, first: Handle, event: Handle) -> Result<Range<i64>, Error> {
        called("clWaitForEvents", event::wait_for_events(&[first as _, event as _]))?;
        let at = |event: Handle, property| {
            let value = event::get_event_profiling_info(event as _, property);
            called("clGetEventProfilingInfo", value).map(u64::from)
        };
        // All queues of a device have its clock, in nanoseconds.
        let zero = at(first, event::CL_PROFILING_COMMAND_START)?;
        let after = |at: u64| at.wrapping_sub(zero) as i64;
        let (start, end) = (at(event, event::CL_PROFILING_COMMAND_START)?, at(event, event::CL_PROFILING_COMMAND_END)?);
        Ok(after(start)..after(end))
    }

    unsafe fn release(&self, object: Object, handle: Handle) {
        // SAFETY: the caller holds exactly one counted reference, and releases it once.
        let _ = unsafe {
            match object {
                Object::Queue => command_queue::release_command_queue(handle as _),
                Object::Memory => memory::release_mem_object(handle as _),
                Object::Program => program::release_program(handle as _),
                Object::Kernel => kernel::release_kernel(handle as _),
                Object::Event => event::release_event(handle as _),
            }
        };
    }
}
