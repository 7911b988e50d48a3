//! Mounts a disk with bad sectors: `bad_disk FILE FOLDER A..B [A..B]...`, until its standard input ends.
//!
//! FOLDER then has one file of FILE's name and content, but for the sectors of 512 bytes that have a byte of a range: reading
//! one fails with EIO, writing one makes it good.

#[cfg(target_os = "linux")]
#[path = "../tests/disk/mod.rs"]
mod disk;

#[cfg(target_os = "linux")]
fn main() {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [file, folder, ranges @ ..] = &arguments[..] else { panic!("bad_disk FILE FOLDER A..B [A..B]...") };
    let bad: Vec<_> = ranges
        .iter()
        .map(|text| {
            let range: mksum_cli::range::ByteRange = text.parse().expect("a range");
            range.start..range.end.expect("an end")
        })
        .collect();
    let disk =
        disk::mount(file.as_ref(), folder.as_ref(), &bad).expect("FUSE: it needs root or fusermount3, and /dev/fuse");
    println!("mounted");
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).expect("standard input");
    drop(disk);
}

#[cfg(not(target_os = "linux"))]
fn main() {
    panic!("FUSE is there only on Linux");
}
