//! What the kernels with the SHA extensions of x86 share.

/// Evaluates intrinsics that touch no memory.
macro_rules! op {
    ($($body:tt)*) => {
        // SAFETY: the SHA extensions, SSSE3 and SSE4.1 are there: a state is at hand, which proves it, or the function that makes the
        // first one has its caller promise it. Nothing else is asked of these intrinsics.
        unsafe { $($body)* }
    };
}
pub(crate) use op;
