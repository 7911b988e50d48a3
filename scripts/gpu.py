#!/usr/bin/env python3
"""Tests the tool with devices: with each OpenCL runtime in a directory alone, on emulated CUDA, and without any.

    gpu.py MKSUM RUNTIMES EMULATOR
"""
import os
import pathlib
import random
import subprocess
import sys
import tempfile

mksum, runtimes, emulator = (pathlib.Path(path).resolve() for path in sys.argv[1:4])
failures = []


def run(*command, vendors, environment=None, **more):
    environment = os.environ | {"OCL_ICD_VENDORS": str(vendors)} | (environment or {})
    return subprocess.run([str(part) for part in command], check=False, capture_output=True, text=True, env=environment, **more)


def check(name, passed, details=""):
    print(("ok   " if passed else "FAIL ") + name)
    if not passed:
        failures.append(name)
        print(details)


def without_devices(folder):
    listed = run(mksum, "devices", vendors=folder)
    reported = "OpenCL and CUDA have no device: install" in listed.stdout and listed.stdout.startswith("cpu")
    check("no device: the list shows what to install", listed.returncode == 0 and reported, listed)
    asked = run(mksum, "--device", "0", mksum, vendors=folder)
    check("no device: --device fails and shows what to install", asked.returncode == 2 and "install" in asked.stderr, asked)


def without_loader(folder):
    """Hides the loader's library behind an empty file, for one process."""
    loaders = subprocess.run(["sh", "-c", "PATH=$PATH:/sbin ldconfig -p"], check=False, capture_output=True, text=True).stdout
    paths = [line.split("=>")[1].strip() for line in loaders.splitlines() if "libOpenCL.so.1 " in line]
    if subprocess.run(["unshare", "-m", "true"], check=False, capture_output=True).returncode:
        print("     (hiding the loader needs root: not checked)")
        return
    hide = "; ".join(f"mount --bind /dev/null {os.path.realpath(path)}" for path in paths)
    steps = f"{hide}; {mksum} devices; echo x > {folder}/x; {mksum} {folder}/x"
    listed = run("unshare", "-m", "sh", "-ec", steps, vendors=folder)
    reported = "OpenCL is not installed" in listed.stdout and "rfc6962" in listed.stdout
    check("no loader: the tool starts, hashes, and shows what to install", listed.returncode == 0 and reported, listed)


def on_runtime(vendors):
    listed = run(mksum, "devices", vendors=vendors)
    check(f"{vendors.name}: its device is listed", "\n0    " in listed.stdout and "driver" in listed.stdout, listed)
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "file")
        file.write_bytes(random.Random(6).randbytes((37 << 20) + 12345))
        for format in ("rfc6962", "plain:sha1:4KiB", "rfc6962:sha512", "rfc6962:blake3", "blake3", "btv2", "fsverity"):
            cpu = run(mksum, "-f", format, file, vendors=vendors)
            device = run(mksum, "-f", format, "--device", "0", file, vendors=vendors)
            same = device.returncode == 0 and device.stdout == cpu.stdout and not device.stderr
            check(f"{vendors.name}: {format} is the same on the device and on the CPU", same, (cpu, device))
        unknown = run(mksum, "--device", "nonesuch", file, vendors=vendors)
        reported = "no device 'nonesuch'" in unknown.stderr and not unknown.stdout
        check(f"{vendors.name}: an unknown device is an error", unknown.returncode == 2 and reported, unknown)


def on_cuda(empty):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        leaves = folder / "leaves"
        leaves.write_bytes(random.Random(7).randbytes(32 << 10))
        cuda = {"LD_LIBRARY_PATH": str(emulator), "XDG_CACHE_HOME": str(folder / "cache")}

        def merklized(nodes, *options, **more):
            return run(mksum, "merklize", leaves, *options, "-o", folder / nodes, vendors=empty, environment=cuda | more)

        listed = run(mksum, "devices", vendors=empty, environment=cuda)
        check("cuda: its device is listed", "driver 12.9; CUDA, compute capability 9.0" in listed.stdout, listed)
        both = run(mksum, "devices", vendors=runtimes / "pocl", environment=cuda)
        check("cuda: other OpenCL devices come after it", "\n0    an emulator" in both.stdout and "\n1    " in both.stdout, both)
        done = [merklized("cpu"), merklized("cuda", "--device", "cuda"), merklized("auto", "--device", "auto")]
        nodes = {(folder / each).read_bytes() for each in ("cpu", "cuda", "auto") if (folder / each).exists()}
        check("cuda: all nodes are those of the CPU", not any(each.returncode for each in done) and len(nodes) == 1, done)
        cached = list((folder / "cache/mksum/gpu").iterdir())
        check("cuda: the program and its shape are cached", len(cached) == 2, cached)
        missing = merklized("x", "--device", "cuda", MKSUM_CUBINS=name)
        reported = "make cubins ARCHITECTURES=90" in missing.stderr and not (folder / "x").exists()
        check("cuda: a missing program is an error that says what to run", missing.returncode == 1 and reported, missing)
        (folder / "driver").mkdir()
        (folder / "driver/libcuda.so").symlink_to(emulator / "libcuda.so")
        alone = {"LD_LIBRARY_PATH": str(folder / "driver"), "XDG_CACHE_HOME": str(folder / "other")}
        without = merklized("x", "--device", "cuda", **alone)
        reported = "install it (Debian: libnvrtc12" in without.stderr
        check("cuda: without its compiler it says what to install", without.returncode == 1 and reported, without)
        none = run(mksum, "merklize", leaves, "--device", "cuda", "-o", folder / "x", vendors=empty)
        check("cuda: without a driver it is an error", none.returncode == 2 and "CUDA" in none.stderr, none)


with tempfile.TemporaryDirectory() as empty:
    on_cuda(empty)
    without_devices(empty)
    without_loader(empty)
for name in ("pocl", "intel"):
    on_runtime(runtimes / name)
print(f"{len(failures)} failed")
sys.exit(bool(failures))
