#!/usr/bin/env bash
# test.sh: tests the Python package as users install it: the source distribution builds a wheel, which is tested on every Python
# that can be had. The stage `python` of scripts/test.sh runs it.
set -euo pipefail
cd "$(dirname "$0")"
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/../../target}
folder=$CARGO_TARGET_DIR/python
tools=$folder/venv/bin
../../scripts/need.sh python-package
export PATH="$tools:$PATH"
# Files of tests and examples are run where they lie.
export PYTHONDONTWRITEBYTECODE=1

step() { echo "--- $* (${SECONDS} s)"; }

step "Rust: format and lints"
cargo fmt --check
cargo clippy --quiet --locked -- -D warnings

step "wheel for glibc 2.17 and later, from the source distribution"
wheel=$(./wheel.sh)
# A cap, so that it does not grow unseen: README.md tells the size.
size=$(stat -c %s "$wheel")
echo "$(basename "$wheel"): $size bytes"
[ "$size" -le 10000000 ] || { echo "test.sh: the wheel has $size bytes: more than 10,000,000" >&2; exit 1; }
python3 - "$wheel" <<'P'
import sys, zipfile
names = zipfile.ZipFile(sys.argv[1]).namelist()
for wanted in ("mksum/py.typed", "mksum/_mksum.pyi", "licenses/LICENSE-MIT", "licenses/LICENSE-APACHE", ".cyclonedx.json"):
    assert any(name.endswith(wanted) for name in names), f"the wheel has no {wanted}"
P

# install NAME PYTHON OPTION…: the wheel alone in a clean environment of this Python.
install() {
    local venv=$folder/clean-$1
    rm -rf "$venv"
    uv venv --quiet --python "${@:2}" "$venv"
    uv pip install --quiet --python "$venv/bin/python" --no-deps "$wheel"
}

# What could not be had, and was not tested.
missing=()

step "types"
uv pip install --quiet --python "$tools/python" --reinstall --no-deps "$wheel"
# Modules for engines of clusters, which are not installed here: the stage `cluster` tests them.
printf 'mksum.%s\n' spark dask ray > "$folder/optional"
python -m mypy.stubtest mksum --mypy-config-file pyproject.toml --allowlist "$folder/optional"
mypy --strict python/mksum examples
pyright --pythonpath "$tools/python" python/mksum examples

step "pages of the API"
python docs.py "$folder/docs"

step "tests on $(python --version)"
python -X dev -X faulthandler -m pytest -q -p no:cacheprovider tests

step "PyTorch of the system's Python"
# A download of 150 MB with all that it needs; PyPI's package, which is for CUDA, has more than 500.
if ../../scripts/need.sh torch; then
    install torch /usr/bin/python3 --system-site-packages
    uv pip install --quiet --python "$folder/clean-torch/bin/python" pytest==9.2.0 hypothesis==6.170.15
    "$folder/clean-torch/bin/python" -c 'import torch; print("PyTorch", torch.__version__)'
    "$folder/clean-torch/bin/python" -X faulthandler -m pytest -q -p no:cacheprovider tests/test_open.py -k test_checkpoints
else
    missing+=("PyTorch (apt-get install python3-torch)")
fi

step "README"
rm -rf "$folder/readme"
mkdir "$folder/readme"
(readme=$PWD/README.md; cd "$folder/readme" && python -m doctest "$readme")

# Each version: the tests that need no other package, in a clean environment with the wheel, pytest and hypothesis alone.
for version in 3.11 3.12 3.13 3.14 3.14t; do
    # uv does not look where pyenv has its versions.
    python=$(uv python find "$version" 2>/dev/null ||
        find "$HOME/.pyenv/versions" -path "*/${version}.*/bin/python" 2>/dev/null | head -1 || true)
    if [ -z "$python" ] && uv python install --quiet "$version" >/dev/null 2>&1; then
        python=$(uv python find "$version" 2>/dev/null)
    fi
    if [ -z "$python" ]; then
        missing+=("Python $version")
        continue
    fi
    step "a clean environment of Python $version"
    if [ "$version" = 3.14t ]; then
        # A free-threaded Python before 3.15 has no stable ABI. As the wheel above, whose libraries it shares.
        (cd "$folder/source" && maturin build --quiet --release --locked --zig --compatibility manylinux2014 \
            --no-default-features --features hdfs --interpreter "$python" --out "$folder/dist-t")
        wheel=$(echo "$folder"/dist-t/mksum-*.whl)
    fi
    install "$version" "$python"
    uv pip install --quiet --python "$folder/clean-$version/bin/python" pytest==9.2.0 hypothesis==6.170.15
    "$folder/clean-$version/bin/python" -X dev -X faulthandler -m pytest -q -p no:cacheprovider \
        tests/test_trees.py tests/test_files.py tests/test_outboards.py tests/test_open.py tests/test_directories.py
done
[ ${#missing[@]} = 0 ] || printf 'NOT TESTED: no %s here, and it could not be installed\n' "${missing[@]}" >&2
step "done"
