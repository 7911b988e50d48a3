//! sources FOLDER [LANES…]: writes the source of every program and its build options, for `make spirv`.

use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let mut arguments = env::args().skip(1);
    let folder = arguments.next().expect("a folder");
    let given: Vec<u32> = arguments.map(|lanes| lanes.parse().expect("a number of lanes")).collect();
    let lanes = if given.is_empty() { vec![1, 8, 16] } else { given };
    fs::create_dir_all(&folder)?;
    for (name, source, options) in lanes.into_iter().flat_map(mksum_gpu::programs) {
        let path = Path::new(&folder).join(name);
        fs::write(path.with_extension("cl"), source)?;
        fs::write(path.with_extension("options"), options + "\n")?;
    }
    Ok(())
}
