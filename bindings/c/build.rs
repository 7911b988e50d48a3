//! Sets the name by which programs find the shared library, which changes when its interface becomes incompatible.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    match std::env::var("CARGO_CFG_TARGET_OS").as_deref() {
        Ok("linux") => println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libmksum.so.0"),
        Ok("macos") => {
            println!("cargo:rerun-if-env-changed=MKSUM_INSTALL_NAME");
            let name = std::env::var("MKSUM_INSTALL_NAME").unwrap_or_else(|_| "@rpath/libmksum.0.dylib".into());
            println!("cargo:rustc-cdylib-link-arg=-Wl,-install_name,{name}");
        }
        _ => {}
    }
}
