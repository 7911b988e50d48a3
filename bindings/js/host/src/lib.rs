//! What the WebAssembly modules of `bindings/js` share: exported functions, values that outlive a call, and what the standard library
//! would provide.
#![cfg_attr(target_family = "wasm", no_std)]
#![warn(missing_docs)]

extern crate alloc;

mod pool;
#[cfg(all(target_family = "wasm", not(feature = "std")))]
mod runtime;

pub use pool::Pool;

/// State that outlives a call. An instance has one thread, and no code of a module starts another.
pub struct OneThread<T>(pub T);

// SAFETY: there is only one thread: each worker has its own instance, with its own memory.
unsafe impl<T> Sync for OneThread<T> {}

/// Exports functions. They have unmangled names only in WebAssembly, where no other symbols can clash.
#[macro_export]
macro_rules! exports {
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)? $body:block)*) => {
        $(
            $(#[$doc])*
            #[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
            pub extern "C" fn $name($($argument: $type),*) $(-> $result)? $body
        )*
    };
}
