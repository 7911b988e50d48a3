"""Installs the independent programs: Debian packages with apt-get, everything else under one directory."""
import os
import pathlib
import re
import shutil
import subprocess
import venv

HERE = pathlib.Path(__file__).resolve().parent
ENVIRONMENT = {**os.environ, "LC_ALL": "C", "PATH": os.environ.get("PATH", "") + ":/usr/local/go/bin:/usr/sbin:/sbin"}


def run(*command, **options):
    """Returns a command's output. Raises RuntimeError with its last line if it fails or does not exist."""
    options = {"env": ENVIRONMENT, **options}
    try:
        done = subprocess.run(list(map(str, command)), check=False, capture_output=True, text=True, **options)
    except OSError as error:
        raise RuntimeError(f"{command[0]}: {error.strerror}") from error
    if done.returncode:
        lines = (done.stderr + done.stdout).strip().splitlines() or ["no message"]
        raise RuntimeError(f"{command[0]}: exit status {done.returncode}: {lines[-1]}")
    return done.stdout


def debian(command, package):
    """Installs a Debian package if its command is missing."""
    if not shutil.which(command, path=ENVIRONMENT["PATH"]):
        run("apt-get", "update")
        quiet = {**ENVIRONMENT, "DEBIAN_FRONTEND": "noninteractive"}
        run("apt-get", "install", "--yes", "--no-install-recommends", package, env=quiet)


def python(tools):
    """Returns the interpreter of a virtual environment with the packages of requirements.txt."""
    interpreter, installed = tools / "venv/bin/python", tools / "venv/installed.txt"
    wanted = (HERE / "requirements.txt").read_text()
    if not installed.exists() or installed.read_text() != wanted:
        venv.create(tools / "venv", clear=True, with_pip=True)
        run(interpreter, "-m", "pip", "install", "--quiet", "--requirement", HERE / "requirements.txt")
        installed.write_text(wanted)
    return interpreter


def go(tools):
    """Builds main.go and returns the program."""
    own = {"GOPATH": str(tools / "go"), "GOCACHE": str(tools / "go/cache")}
    own["GOFLAGS"] = "-mod=readonly -modcacherw -buildvcs=false"
    run("go", "build", "-o", tools / "go/check", ".", cwd=HERE, env={**ENVIRONMENT, **own})
    return tools / "go/check"


def go_version(module):
    """Returns the version of a module in go.mod."""
    return re.search(rf"^\s+{re.escape(module)} (\S+)", (HERE / "go.mod").read_text(), re.MULTILINE)[1]


def cargo(tools, package, version):
    """Installs a version of a Rust package and returns its program."""
    program = tools / "cargo/bin" / package
    if not program.exists() or version not in run(program, "--version"):
        own = {"CARGO_TARGET_DIR": str(tools / "cargo/target"), **rustup_home()}
        version = ["--version", version, "--locked", "--root", tools / "cargo"]
        run("cargo", "install", "--quiet", package, *version, env={**ENVIRONMENT, **own})
    return program


def rustup_home():
    """Returns RUSTUP_HOME for a cargo that was installed under another HOME."""
    beside = pathlib.Path(shutil.which("cargo") or "/usr/bin/cargo").parent.parent.with_name(".rustup")
    return {"RUSTUP_HOME": str(beside)} if beside.is_dir() and "RUSTUP_HOME" not in os.environ else {}
