//! The allocator and the panic handler, which the standard library would provide.

use core::panic::PanicInfo;
use dlmalloc::GlobalDlmalloc;

#[global_allocator]
static MEMORY: GlobalDlmalloc = GlobalDlmalloc;

/// Traps, which TypeScript reports as an error. There is no message, so that none is compiled in.
#[panic_handler]
fn panic(_: &PanicInfo) -> ! {
    core::arch::wasm32::unreachable()
}
