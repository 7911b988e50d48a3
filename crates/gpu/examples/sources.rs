//! sources FOLDER [LANES…]: writes the source of every OpenCL program and its build options, for `make spirv`.
//! sources FOLDER cuda: the same for CUDA, for `make cubins`.

use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let mut arguments = env::args().skip(1);
    let folder = arguments.next().expect("a folder");
    let given: Vec<String> = arguments.collect();
    fs::create_dir_all(&folder)?;
    let write = |(name, source, options): (String, String, String), ending| {
        let path = Path::new(&folder).join(name);
        fs::write(path.with_extension(ending), source)?;
        fs::write(path.with_extension("options"), options + "\n")
    };
    if given == ["cuda"] {
        return mksum_gpu::cuda_programs().try_for_each(|program| write(program, "cu"));
    }
    let given: Vec<u32> = given.iter().map(|lanes| lanes.parse().expect("a number of lanes, or 'cuda'")).collect();
    let lanes = if given.is_empty() { vec![1, 8, 16] } else { given };
    lanes.into_iter().flat_map(mksum_gpu::programs).try_for_each(|program| write(program, "cl"))
}
