//! What the standard library would bring: memory, and the end by a panic.

use core::panic::PanicInfo;
use dlmalloc::GlobalDlmalloc;

#[global_allocator]
static MEMORY: GlobalDlmalloc = GlobalDlmalloc;

/// A trap, which the face tells as an error. It says nothing, so that no message is compiled in.
#[panic_handler]
fn panic(_: &PanicInfo) -> ! {
    core::arch::wasm32::unreachable()
}
