#!/usr/bin/env python3
"""Compiles the CUDA programs without a GPU.

cuda.py check SOURCES [--write]         compiles for three architectures, and holds registers to crates/gpu/kernels/registers.tsv;
                                        no kernel may spill registers or use a stack. --write writes the table
cuda.py cubins SOURCES FOLDER ARCH…     compiles all programs ahead of time, as HASH-KIND-sm_ARCH.cubin
cuda.py emulator FOLDER                 builds a driver and a compiler for the CPU: libcuda.so and libnvrtc.so

SOURCES is what `cargo run -p mksum-gpu --example sources SOURCES cuda` wrote. The compilers are those that scripts/need.sh cuda
installed.
"""

import argparse
import concurrent.futures
import ctypes
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = ROOT / "crates/gpu/kernels/registers.tsv"
# The oldest that NVRTC 13 has too, the H100 and H200, and the latest.
ARCHITECTURES = ("75", "90", "100")


def installed(pattern):
    """Returns the file of the installed packages that a pattern matches."""
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target")
    found = sorted(target.glob(f"cuda/lib/python*/site-packages/nvidia/{pattern}"))
    if not found:
        sys.exit(f"cuda.py: {pattern} is missing: run scripts/need.sh cuda")
    return found[0]


class Nvrtc:
    """CUDA's compiler for programs in memory."""

    def __init__(self):
        self.library = ctypes.CDLL(str(installed("cuda_nvrtc/lib/libnvrtc.so.12")))

    def call(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status:
            raise RuntimeError(f"{name} failed with {status}")

    def output(self, program, what):
        size = ctypes.c_size_t()
        self.call(f"nvrtcGet{what}Size", program, ctypes.byref(size))
        text = ctypes.create_string_buffer(size.value)
        self.call(f"nvrtcGet{what}", program, text)
        return text.raw

    def compile(self, path, architecture, what):
        """Returns the PTX or the CUBIN of a source file, whose options lie beside it."""
        options = [*path.with_suffix(".options").read_text().split(), f"--gpu-architecture={architecture}"]
        program = ctypes.c_void_p()
        self.call("nvrtcCreateProgram", ctypes.byref(program), path.read_bytes(), path.name.encode(), 0, None, None)
        given = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
        status = self.library.nvrtcCompileProgram(program, len(options), given)
        log = self.output(program, "ProgramLog").rstrip(b"\0").decode()
        if status or log.strip():
            sys.exit(f"{path} for {architecture}: NVRTC says\n{log}")
        output = self.output(program, what)
        self.call("nvrtcDestroyProgram", ctypes.byref(program))
        return output


def used(path, architecture):
    """Returns what each kernel of a program uses: registers, bytes of stack, bytes of spilled registers."""
    text = Nvrtc().compile(path, f"compute_{architecture}", "PTX").rstrip(b"\0")
    with tempfile.TemporaryDirectory() as folder:
        ptx = pathlib.Path(folder, "kernels.ptx")
        ptx.write_bytes(text)
        command = [installed("cuda_nvcc/bin/ptxas"), "-v", f"-arch=sm_{architecture}", ptx, "-o", ptx.with_suffix(".cubin")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{path} for sm_{architecture}: ptxas says\n{done.stderr}")
    for part in done.stderr.split("Compiling entry function")[1:]:
        name = re.search(r"'(\w+)'", part)[1]
        stack = re.search(r"(\d+) bytes stack frame", part)[1]
        spills = sum(map(int, re.findall(r"(\d+) bytes spill", part)))
        registers = re.search(r"Used (\d+) registers", part)[1]
        yield name, int(registers), int(stack), spills


def one(path, architecture):
    return path.stem, architecture, list(used(path, architecture))


def check(sources, write):
    paths = sorted(sources.glob("*.cu"))
    found, errors = {}, []
    with concurrent.futures.ProcessPoolExecutor() as pool:
        jobs = [pool.submit(one, path, architecture) for path in paths for architecture in ARCHITECTURES]
        for job in jobs:
            program, architecture, kernels = job.result()
            for name, registers, stack, spills in kernels:
                found[program, name, architecture] = registers
                if stack or spills:
                    what = f"{stack} bytes of stack, {spills} bytes spilled; expected none"
                    errors.append(f"{program}, {name}, sm_{architecture}: {what}")
    rows = sorted({key[:2] for key in found})
    heads = ["program", "kernel", *(f"sm_{architecture}" for architecture in ARCHITECTURES)]
    lines = ["\t".join([*row, *(str(found[(*row, architecture)]) for architecture in ARCHITECTURES)]) for row in rows]
    text = "\n".join(["\t".join(heads), *lines]) + "\n"
    if write:
        TABLE.write_text(text)
    limits = {}
    for line in TABLE.read_text().splitlines()[1:]:
        program, name, *numbers = line.split("\t")
        for architecture, number in zip(ARCHITECTURES, numbers, strict=True):
            limits[program, name, architecture] = int(number)
    for key in sorted(found.keys() | limits.keys()):
        program, name, architecture = key
        limit, registers = limits.get(key), found.get(key)
        if limit is None or registers is None:
            errors.append(f"{program}, {name}, sm_{architecture}: {'not in' if limit is None else 'only in'} {TABLE}")
        elif registers > limit:
            errors.append(f"{program}, {name}, sm_{architecture}: {registers} registers; expected at most {limit}")
    passed = f"{len(paths)} CUDA programs for {len(ARCHITECTURES)} architectures: no spills, registers within limits"
    print("\n".join(errors) or passed)
    sys.exit(bool(errors))


def cubin(path, folder, architecture):
    name = folder / f"{path.stem}-sm_{architecture}.cubin"
    draft = name.with_suffix(".new")
    draft.write_bytes(Nvrtc().compile(path, f"sm_{architecture}", "CUBIN"))
    draft.rename(name)


def cubins(sources, folder, architectures):
    folder.mkdir(parents=True, exist_ok=True)
    paths = sorted(sources.glob("*.cu"))
    with concurrent.futures.ProcessPoolExecutor() as pool:
        jobs = [pool.submit(cubin, path, folder, architecture) for path in paths for architecture in architectures]
        for job in jobs:
            job.result()
    print(f"{len(jobs)} programs in {folder}")


def emulator(folder):
    folder.mkdir(parents=True, exist_ok=True)
    own = ROOT / "crates/gpu/tests/emulator"
    headers = [f"-isystem{installed(f'{part}/include')}" for part in ("cuda_runtime", "cuda_nvrtc")]
    for source, library in (("driver.cpp", "libcuda.so"), ("compiler.cpp", "libnvrtc.so")):
        flags = ["-std=c++17", "-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", f'-DFOLDER="{own}"']
        subprocess.run(["c++", *flags, *headers, own / source, "-o", folder / library, "-ldl"], check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("check")
    command.add_argument("sources", type=pathlib.Path)
    command.add_argument("--write", action="store_true")
    command = commands.add_parser("cubins")
    command.add_argument("sources", type=pathlib.Path)
    command.add_argument("folder", type=pathlib.Path)
    command.add_argument("architectures", nargs="+")
    command = commands.add_parser("emulator")
    command.add_argument("folder", type=pathlib.Path)
    chosen = parser.parse_args()
    if chosen.command == "check":
        check(chosen.sources, chosen.write)
    elif chosen.command == "cubins":
        cubins(chosen.sources, chosen.folder, chosen.architectures)
    else:
        emulator(chosen.folder)


if __name__ == "__main__":
    main()
