//! The calls of CUDA's driver and of NVRTC, its compiler: both are loaded on first use, and neither is needed to build. Each status
//! other than success becomes an [`Error`] with the call's name.
//!
//! The bindings panic if a library or a function is missing. So their callers here ask for the library first, and for a driver that
//! has all functions.
#![allow(unsafe_code)]

use crate::Error;
use crate::call::{Access, Calls, Code, Handle, Object, Value};
use cudarc::driver::sys::{
    self, CUcontext, CUdevice, CUdevice_attribute, CUevent, CUevent_flags, CUfunction, CUfunction_attribute, CUmodule,
    CUresult, CUstream, CUstream_flags, CUuuid,
};
use cudarc::nvrtc::sys::{self as nvrtc, nvrtcProgram, nvrtcResult};
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::ops::Range;
use std::ptr;

/// The oldest version of the driver's interface with all the functions that are called here: CUDA 11.4.
const OLDEST: c_int = 11_040;

/// Returns an error with the call's name, unless it succeeded.
fn called(call: &'static str, status: CUresult) -> Result<(), Error> {
    match status {
        CUresult::CUDA_SUCCESS => Ok(()),
        status => Err(Error::Call { call, status: format!("{status:?} ({})", status as u32) }),
    }
}

/// A CUDA device of this system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Id(CUdevice);

/// Returns every device, in the driver's order; empty if there is no driver or no device.
///
/// # Errors
/// If the driver is too old, or fails.
pub fn devices() -> Result<Vec<Id>, Error> {
    // SAFETY: the driver's library may be loaded at any time.
    if !unsafe { sys::is_culib_present() } {
        return Ok(Vec::new());
    }
    let version = version()?;
    if version < OLDEST {
        let (has, needs) = (text_of(version), text_of(OLDEST));
        return Err(Error::NoCuda(format!(
            "the driver supports CUDA {has}; expected {needs} or later: update the driver"
        )));
    }
    // SAFETY: there are no preconditions.
    match unsafe { sys::cuInit(0) } {
        CUresult::CUDA_ERROR_NO_DEVICE => return Ok(Vec::new()),
        status => called("cuInit", status)?,
    }
    let mut count = 0;
    // SAFETY: the address is a variable's.
    called("cuDeviceGetCount", unsafe { sys::cuDeviceGetCount(&mut count) })?;
    (0..count)
        .map(|index| {
            let mut device = 0;
            // SAFETY: as above.
            called("cuDeviceGet", unsafe { sys::cuDeviceGet(&mut device, index) })?;
            Ok(Id(device))
        })
        .collect()
}

/// Returns the version of CUDA that the driver supports: `12040` is 12.4.
fn version() -> Result<c_int, Error> {
    let mut version = 0;
    // SAFETY: the address is a variable's.
    called("cuDriverGetVersion", unsafe { sys::cuDriverGetVersion(&mut version) })?;
    Ok(version)
}

fn text_of(version: c_int) -> String {
    format!("{}.{}", version / 1000, version % 1000 / 10)
}

/// Whether programs can be compiled here.
pub fn has_compiler() -> bool {
    // SAFETY: the compiler's library may be loaded at any time.
    unsafe { nvrtc::is_culib_present() }
}

impl Id {
    /// Returns the version of CUDA that the driver supports.
    pub fn driver(self) -> Result<String, Error> {
        version().map(text_of)
    }

    /// Returns the device's name.
    pub fn name(self) -> Result<String, Error> {
        let mut name = [0_u8; 256];
        // SAFETY: the address and the length are an array's.
        called("cuDeviceGetName", unsafe { sys::cuDeviceGetName(name.as_mut_ptr().cast(), 256, self.0) })?;
        let name = CStr::from_bytes_until_nul(&name).unwrap_or_default();
        Ok(name.to_string_lossy().trim().into())
    }

    /// Returns the device's memory, in bytes.
    pub fn memory(self) -> Result<u64, Error> {
        let mut bytes = 0;
        // SAFETY: the address is a variable's.
        called("cuDeviceTotalMem", unsafe { sys::cuDeviceTotalMem_v2(&mut bytes, self.0) })?;
        Ok(bytes as u64)
    }

    /// Returns a property of the device.
    pub fn number(self, attribute: CUdevice_attribute) -> Result<u64, Error> {
        let mut value = 0;
        // SAFETY: the address is a variable's.
        called("cuDeviceGetAttribute", unsafe { sys::cuDeviceGetAttribute(&mut value, attribute, self.0) })?;
        Ok(u64::try_from(value).unwrap_or(0))
    }

    /// Returns the device's compute capability, ten times: 90 is 9.0.
    pub fn architecture(self) -> Result<u32, Error> {
        let major = self.number(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
        let minor = self.number(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
        Ok((10 * major + minor) as u32)
    }

    /// Returns the card's identity, which its OpenCL device has too.
    pub fn uuid(self) -> Option<[u8; 16]> {
        let mut uuid = CUuuid { bytes: [0; 16] };
        // SAFETY: the address is a variable's.
        called("cuDeviceGetUuid", unsafe { sys::cuDeviceGetUuid_v2(&mut uuid, self.0) }).ok()?;
        Some(uuid.bytes.map(|byte| byte as u8))
    }
}

/// A CUDA device in use, by its primary context.
#[derive(Debug)]
pub struct Cuda {
    id: Id,
    context: CUcontext,
    architecture: u32,
}

// SAFETY: the driver's objects may be used from any thread whose current context is theirs; each call sets it.
unsafe impl Send for Cuda {}
// SAFETY: as above.
unsafe impl Sync for Cuda {}

/// A loaded program and the image that it was loaded from. Its handle is its address.
struct Program {
    module: CUmodule,
    image: Vec<u8>,
}

/// The events around a command. Its handle is its address.
struct Command {
    start: CUevent,
    end: CUevent,
}

impl Cuda {
    /// Opens a device.
    pub fn open(id: Id) -> Result<Self, Error> {
        let architecture = id.architecture()?;
        let mut context = ptr::null_mut();
        // SAFETY: the address is a variable's; the context is released once, by the drop.
        called("cuDevicePrimaryCtxRetain", unsafe { sys::cuDevicePrimaryCtxRetain(&mut context, id.0) })?;
        Ok(Cuda { id, context, architecture })
    }

    /// Makes the context this thread's current one, which all other calls need.
    fn enter(&self) -> Result<(), Error> {
        // SAFETY: the context is retained.
        called("cuCtxSetCurrent", unsafe { sys::cuCtxSetCurrent(self.context) })
    }

    /// Creates the events of a command, and runs `enqueue` between them.
    fn timed(
        &self,
        queue: Handle,
        call: &'static str,
        enqueue: impl FnOnce(CUstream) -> CUresult,
    ) -> Result<Handle, Error> {
        self.enter()?;
        let queue = queue as CUstream;
        let event = || {
            let mut event = ptr::null_mut();
            // SAFETY: the address is a variable's.
            called("cuEventCreate", unsafe {
                sys::cuEventCreate(&mut event, CUevent_flags::CU_EVENT_DEFAULT as c_uint)
            })?;
            Ok(event)
        };
        let mut command = Box::new(Command { start: event()?, end: ptr::null_mut() });
        let result = (|| {
            command.end = event()?;
            // SAFETY: the events and the queue are of this context.
            called("cuEventRecord", unsafe { sys::cuEventRecord(command.start, queue) })?;
            called(call, enqueue(queue))?;
            // SAFETY: as above.
            called("cuEventRecord", unsafe { sys::cuEventRecord(command.end, queue) })
        })();
        let handle = Box::into_raw(command) as Handle;
        if let Err(error) = result {
            // SAFETY: the handle is not used again.
            unsafe { self.release(Object::Event, handle) };
            return Err(error);
        }
        Ok(handle)
    }
}

impl Drop for Cuda {
    fn drop(&mut self) {
        // SAFETY: the context was retained once, and no object of it is left.
        let _ = unsafe { sys::cuDevicePrimaryCtxRelease_v2(self.id.0) };
    }
}

// SAFETY: all objects may be used from any thread, after `enter`; pinned memory has the length that was asked for.
unsafe impl Calls for Cuda {
    fn queue(&self) -> Result<Handle, Error> {
        self.enter()?;
        let mut queue = ptr::null_mut();
        let flags = CUstream_flags::CU_STREAM_NON_BLOCKING as c_uint;
        // SAFETY: the address is a variable's.
        called("cuStreamCreate", unsafe { sys::cuStreamCreate(&mut queue, flags) })?;
        Ok(queue as Handle)
    }

    fn allocate(&self, len: usize) -> Result<Handle, Error> {
        self.enter()?;
        let mut address = 0;
        // SAFETY: the address is a variable's.
        called("cuMemAlloc", unsafe { sys::cuMemAlloc_v2(&mut address, len) })?;
        Ok(address)
    }

    fn build(&self, code: Code<'_>) -> Result<Handle, Error> {
        let mut image = match code {
            Code::Source(source, options) => compile(source, options, self.architecture)?,
            Code::Binary(binary) => binary.to_vec(),
            Code::SpirV(_) => return Err(Error::Call { call: "cuModuleLoadData", status: "SPIR-V".into() }),
        };
        // The driver reads text up to a zero byte.
        if image.last() != Some(&0) {
            image.push(0);
        }
        self.enter()?;
        let mut module = ptr::null_mut();
        // SAFETY: the image is a cubin or ends with a zero byte; its author is this program's user.
        called("cuModuleLoadData", unsafe { sys::cuModuleLoadData(&mut module, image.as_ptr().cast()) })?;
        Ok(Box::into_raw(Box::new(Program { module, image })) as Handle)
    }

    unsafe fn binary(&self, program: Handle) -> Result<Vec<u8>, Error> {
        // SAFETY: the handle is a program's, which is alive.
        Ok(unsafe { &*(program as *const Program) }.image.clone())
    }

    unsafe fn kernel(&self, program: Handle, name: &str) -> Result<Handle, Error> {
        self.enter()?;
        let name = CString::new(name).expect("names hold no zero byte");
        // SAFETY: the handle is a program's, which is alive.
        let module = unsafe { &*(program as *const Program) }.module;
        let mut function = ptr::null_mut();
        // SAFETY: the address is a variable's, and the name ends with a zero byte.
        called("cuModuleGetFunction", unsafe { sys::cuModuleGetFunction(&mut function, module, name.as_ptr()) })?;
        Ok(function as Handle)
    }

    unsafe fn max_group(&self, kernel: Handle) -> Result<usize, Error> {
        self.enter()?;
        let mut most = 0;
        let attribute = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK;
        // SAFETY: the address is a variable's.
        called("cuFuncGetAttribute", unsafe { sys::cuFuncGetAttribute(&mut most, attribute, kernel as CUfunction) })?;
        Ok(usize::try_from(most).unwrap_or(0))
    }

    unsafe fn pin(&self, _: Handle, len: usize) -> Result<(Handle, *mut u8), Error> {
        self.enter()?;
        let mut address: *mut c_void = ptr::null_mut();
        // SAFETY: the address is a variable's.
        called("cuMemHostAlloc", unsafe { sys::cuMemHostAlloc(&mut address, len, 0) })?;
        Ok((address as Handle, address.cast()))
    }

    unsafe fn unpin(&self, _: Handle, _: Handle, address: *mut u8) {
        if self.enter().is_ok() {
            // SAFETY: the memory is released once; transfers that used it have ended.
            let _ = unsafe { sys::cuMemFreeHost(address.cast()) };
        }
    }

    unsafe fn wrap(&self, _: *mut [u8], _: Access) -> Result<Option<Handle>, Error> {
        // To register memory takes longer than to copy it to pinned memory.
        Ok(None)
    }

    unsafe fn show(&self, _: Handle, _: Handle, _: usize) -> Result<Handle, Error> {
        unreachable!("no memory of the host is wrapped")
    }

    unsafe fn write(&self, queue: Handle, memory: Handle, at: usize, bytes: *const [u8]) -> Result<Handle, Error> {
        self.timed(queue, "cuMemcpyHtoDAsync", |queue| {
            // SAFETY: the caller checked the place, and keeps the bytes until the command has ended.
            unsafe { sys::cuMemcpyHtoDAsync_v2(memory + at as u64, bytes.cast(), bytes.len(), queue) }
        })
    }

    unsafe fn read(&self, queue: Handle, memory: Handle, at: usize, bytes: *mut [u8]) -> Result<Handle, Error> {
        self.timed(queue, "cuMemcpyDtoHAsync", |queue| {
            // SAFETY: as above.
            unsafe { sys::cuMemcpyDtoHAsync_v2(bytes.cast(), memory + at as u64, bytes.len(), queue) }
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
        let blocks = [0, 1].map(|at| c_uint::try_from(global[at] / local[at]).unwrap_or(c_uint::MAX));
        let [groups, rows] = blocks;
        // cuda.cuh takes the row of a group for the row of its work-items.
        assert!(global[0].is_multiple_of(local[0]) && local[1] == 1, "whole groups");
        let mut shared = 0;
        let mut parameters: Vec<*mut c_void> = Vec::new();
        for arg in args {
            match arg {
                Value::Memory(value) | Value::U64(value) => parameters.push(ptr::from_ref(value).cast_mut().cast()),
                Value::U32(value) => parameters.push(ptr::from_ref(value).cast_mut().cast()),
                Value::Local(len) => shared = *len as c_uint,
            }
        }
        let (kernel, items) = (kernel as CUfunction, local[0] as c_uint);
        self.timed(queue, "cuLaunchKernel", |queue| {
            let (parameters, extra) = (parameters.as_mut_ptr(), ptr::null_mut());
            // SAFETY: the driver copies as many arguments as the kernel has, during the call. Their types are those of the kernel; the
            // caller checked that it stays within its buffers.
            unsafe { sys::cuLaunchKernel(kernel, groups, rows, 1, items, 1, 1, shared, queue, parameters, extra) }
        })
    }

    unsafe fn wait(&self, queue: Handle) -> Result<(), Error> {
        self.enter()?;
        // SAFETY: the queue is of this context.
        called("cuStreamSynchronize", unsafe { sys::cuStreamSynchronize(queue as CUstream) })
    }

    unsafe fn times(&self, first: Handle, event: Handle) -> Result<Range<i64>, Error> {
        self.enter()?;
        // SAFETY: the handles are commands', which are alive.
        let (first, command) = unsafe { (&*(first as *const Command), &*(event as *const Command)) };
        for event in [first.end, command.end] {
            // SAFETY: the event is of this context.
            called("cuEventSynchronize", unsafe { sys::cuEventSynchronize(event) })?;
        }
        let between = |from, to| {
            let mut milliseconds: f32 = 0.0;
            // SAFETY: as above; the address is a variable's.
            called("cuEventElapsedTime", unsafe { sys::cuEventElapsedTime(&mut milliseconds, from, to) })?;
            Ok::<_, Error>((f64::from(milliseconds) * 1e6) as i64)
        };
        let start = between(first.start, command.start)?;
        // Not from the first command on: the longer a time is, the less exact it is.
        Ok(start..start + between(command.start, command.end)?)
    }

    unsafe fn release(&self, object: Object, handle: Handle) {
        let entered = self.enter().is_ok();
        // SAFETY: the caller holds the only handle of this object, and releases it once. Without its context, which a lost device no
        // longer has, the driver has released its own part.
        unsafe {
            match object {
                Object::Queue if entered => drop(sys::cuStreamDestroy_v2(handle as CUstream)),
                Object::Memory if entered => drop(sys::cuMemFree_v2(handle)),
                // A function belongs to its module.
                Object::Queue | Object::Memory | Object::Kernel => {}
                Object::Program => {
                    let program = Box::from_raw(handle as *mut Program);
                    if entered {
                        let _ = sys::cuModuleUnload(program.module);
                    }
                }
                Object::Event => {
                    let command = Box::from_raw(handle as *mut Command);
                    for event in [command.start, command.end] {
                        if entered && !event.is_null() {
                            let _ = sys::cuEventDestroy_v2(event);
                        }
                    }
                }
            }
        }
    }
}

/// A program of the compiler, which is destroyed with it.
struct Compilation(nvrtcProgram);

impl Drop for Compilation {
    fn drop(&mut self) {
        // SAFETY: the program is destroyed once.
        let _ = unsafe { nvrtc::nvrtcDestroyProgram(&mut self.0) };
    }
}

/// The output of the compiler: a call for its length, and a call for its bytes.
type Output = (
    &'static str,
    unsafe fn(nvrtcProgram, *mut usize) -> nvrtcResult,
    unsafe fn(nvrtcProgram, *mut c_char) -> nvrtcResult,
);

impl Compilation {
    fn output(&self, (call, len_of, bytes_of): Output) -> Result<Vec<u8>, Error> {
        let mut len = 0;
        // SAFETY: the address is a variable's.
        compiled(call, unsafe { len_of(self.0, &mut len) })?;
        let mut bytes = vec![0; len];
        // SAFETY: the vector has as many bytes as the compiler writes.
        compiled(call, unsafe { bytes_of(self.0, bytes.as_mut_ptr().cast()) })?;
        Ok(bytes)
    }
}

/// Returns an error with the compiler's call, unless it succeeded.
fn compiled(call: &'static str, status: nvrtcResult) -> Result<(), Error> {
    match status {
        nvrtcResult::NVRTC_SUCCESS => Ok(()),
        status => Err(Error::Call { call, status: format!("{status:?} ({})", status as u32) }),
    }
}

/// What the compiler makes for an architecture.
#[derive(Debug, PartialEq, Eq)]
enum Target {
    /// Code for this architecture: a cubin.
    Code(u32),
    /// Text for this earlier one, which the driver compiles: PTX.
    Text(u32),
}

/// Returns what a compiler that knows these architectures makes for one: a newer card than the compiler gets text.
fn target(known: &[u32], architecture: u32) -> Option<Target> {
    match known.contains(&architecture) {
        true => Some(Target::Code(architecture)),
        false => known.iter().copied().filter(|&known| known < architecture).max().map(Target::Text),
    }
}

/// Compiles a program for an architecture.
fn compile(source: &str, options: &str, architecture: u32) -> Result<Vec<u8>, Error> {
    if !has_compiler() {
        return Err(Error::NoCompiler);
    }
    let mut count = 0;
    // SAFETY: the address is a variable's.
    compiled("nvrtcGetNumSupportedArchs", unsafe { nvrtc::nvrtcGetNumSupportedArchs(&mut count) })?;
    let mut known = vec![0; usize::try_from(count).unwrap_or(0)];
    // SAFETY: the vector has room for as many as the compiler knows.
    compiled("nvrtcGetSupportedArchs", unsafe { nvrtc::nvrtcGetSupportedArchs(known.as_mut_ptr()) })?;
    let known: Vec<u32> = known.into_iter().map(|known: c_int| known as u32).collect();
    let target = target(&known, architecture).ok_or_else(|| {
        Error::NoCuda(format!(
            "NVRTC does not compile for compute capability {}: expected one of {known:?}",
            architecture
        ))
    })?;
    let option = match target {
        Target::Code(architecture) => format!("--gpu-architecture=sm_{architecture}"),
        Target::Text(architecture) => format!("--gpu-architecture=compute_{architecture}"),
    };
    let source = CString::new(source).expect("sources hold no zero byte");
    let texts: Vec<CString> = options
        .split_whitespace()
        .chain([option.as_str()])
        .map(|option| CString::new(option).expect("options hold no zero byte"))
        .collect();
    let pointers: Vec<*const c_char> = texts.iter().map(|text| text.as_ptr()).collect();
    let mut program = Compilation(ptr::null_mut());
    // SAFETY: the source ends with a zero byte, and there are no headers.
    let status = unsafe {
        nvrtc::nvrtcCreateProgram(&mut program.0, source.as_ptr(), c"kernels.cu".as_ptr(), 0, ptr::null(), ptr::null())
    };
    compiled("nvrtcCreateProgram", status)?;
    // SAFETY: each option ends with a zero byte.
    let status = unsafe { nvrtc::nvrtcCompileProgram(program.0, pointers.len() as c_int, pointers.as_ptr()) };
    if let Err(error) = compiled("nvrtcCompileProgram", status) {
        let Error::Call { call, status } = error else { return Err(error) };
        let log = program.output(("nvrtcGetProgramLog", nvrtc::nvrtcGetProgramLogSize, nvrtc::nvrtcGetProgramLog))?;
        let log = String::from_utf8_lossy(&log).trim_matches(['\0', '\n', ' ']).to_string();
        return Err(Error::Build { call, status, options: format!("{options} {option}"), log });
    }
    program.output(match target {
        Target::Code(_) => ("nvrtcGetCUBIN", nvrtc::nvrtcGetCUBINSize, nvrtc::nvrtcGetCUBIN),
        Target::Text(_) => ("nvrtcGetPTX", nvrtc::nvrtcGetPTXSize, nvrtc::nvrtcGetPTX),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newer_card_than_the_compiler_gets_text_for_the_latest_that_it_knows() {
        let known = [75, 80, 86, 90, 100];
        assert_eq!(target(&known, 90), Some(Target::Code(90)));
        assert_eq!(target(&known, 89), Some(Target::Text(86)));
        assert_eq!(target(&known, 120), Some(Target::Text(100)));
        assert_eq!(target(&known, 70), None);
    }

    #[test]
    fn without_a_driver_there_is_no_device_and_no_error() {
        // SAFETY: the driver's library may be loaded at any time.
        if !unsafe { sys::is_culib_present() } {
            assert_eq!(devices(), Ok(Vec::new()));
        }
    }
}
