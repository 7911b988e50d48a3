#!/usr/bin/env bash
# run.sh: tests and measures node trees on this machine's NVIDIA GPU: every hash over 2^1 to 2^22 leaves against the CPU, the kernels
# under compute-sanitizer if that is installed, then the bench, whose figures go to lab/results. It fails if there is no CUDA device.
set -euo pipefail
cd "$(dirname "$0")/../.."
export PATH="$PATH:$HOME/.cargo/bin"
target=${CARGO_TARGET_DIR:-$PWD/target}
scripts/need.sh rust cc python cuda
# NVRTC of the Python package, if the system has none.
nvrtc=$(cd "$target"/cuda/lib/python*/site-packages/nvidia/cuda_nvrtc/lib && pwd)
export LD_LIBRARY_PATH="${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$nvrtc"
export MKSUM_TEST_DEVICE=cuda

cargo build --release --quiet --package mksum-cli
mksum=$target/release/mksum
probe=$target/lab-gpu.nodes
if ! head -c 1048576 /dev/zero | "$mksum" merklize --device cuda -o "$probe" >/dev/null; then
    echo "lab/gpu/run.sh: NOTHING WAS TESTED OR MEASURED: CUDA does not run on this machine (above is why)" >&2
    exit 1
fi
"$mksum" devices

echo "=== every hash, 2^1 to 2^22 leaves, against the CPU"
cargo test --release --package mksum-gpu --features devices --test nodes -- --ignored --exact every_hash_up_to_2_22
echo "=== the tests of devices"
scripts/spirv.sh "$target/spirv-test" 'blake3-*' 'sha256-*'
MKSUM_TEST_SPIRV=$target/spirv-test cargo test --release --package mksum-gpu --features devices

if command -v compute-sanitizer >/dev/null; then
    for tool in memcheck racecheck initcheck synccheck; do
        echo "=== compute-sanitizer, $tool"
        for hash in blake3 sha256 sha512 sha3-256; do
            compute-sanitizer --tool "$tool" --error-exitcode 3 \
                "$mksum" merklize --random 2^14 --hash "$hash" --device cuda -o "$probe" >/dev/null
        done
        head -c 4194304 /dev/zero > "$target/sanitized"
        compute-sanitizer --tool "$tool" --error-exitcode 3 "$mksum" -f rfc6962:sha256:1KiB --device cuda "$target/sanitized"
    done
else
    echo "NOT RUN: compute-sanitizer is not installed (it comes with the CUDA toolkit)" >&2
fi

echo "=== the bench"
lab/gpu/run.py --device cpu cuda --hash blake3 sha1 sha256 sha512 sha3-256 --write
