#!/usr/bin/env bash
# run.sh [--pack FOLDER | --packed FOLDER]: tests and measures node trees on this machine's NVIDIA GPU: every hash over 2^1 to 2^22
# leaves against the CPU, the tests of devices by CUDA and by the card's OpenCL, the kernels under compute-sanitizer if that is
# installed, then the bench, whose figures go to lab/results. It fails if there is no CUDA device.
#
# For a machine with a GPU and without cargo: --pack builds the programs into FOLDER and runs nothing; there, --packed runs those. The
# checkout has the same path on both. LIMIT is the most seconds that a step may take (300 if not told).
set -uo pipefail
cd "$(dirname "$0")/../.." || exit
export PATH="$PATH:$HOME/.cargo/bin"
target=${CARGO_TARGET_DIR:-$PWD/target}
how=${1:-} programs=${2:-$target/lab-gpu}

# build: the tool, the tests, the bench and SPIR-V programs, in $programs.
build() {
    local name spirv=$programs/spirv
    mkdir -p "$programs"
    scripts/need.sh rust cc python && cargo build --release --locked --quiet --package mksum-cli &&
        cargo build --release --locked --quiet --package mksum-gpu --example bench && scripts/spirv.sh "$spirv" 'blake3-*' 'sha256-*' &&
        cp "$target/release/mksum" "$target/release/examples/bench" "$programs" || return
    for name in nodes subtrees; do
        cp "$(cargo test --release --locked --quiet --no-run --message-format json --package mksum-gpu --features devices --test $name |
            sed -n 's/.*"executable":"\([^"]*\)".*/\1/p')" "$programs/$name" || return
    done
}

# step TITLE COMMAND…: runs it, and goes on after a failure.
failed=()
step() {
    local title=$1 begin=$SECONDS
    shift
    echo "=== $title"
    if timeout --kill-after=5 "${LIMIT:-300}" "$@"; then
        echo "--- passed in $((SECONDS - begin)) s"
    else
        echo "--- FAILED after $((SECONDS - begin)) s"
        failed+=("$title")
    fi
}

case $how in
    --pack) build; exit ;;
    --packed) ;;
    *)
        build && scripts/need.sh cuda || exit
        # NVRTC of the Python package, if the system has none.
        nvrtc=$(cd "$target"/cuda/lib/python*/site-packages/nvidia/cuda_nvrtc/lib && pwd)
        export LD_LIBRARY_PATH="${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$nvrtc"
        ;;
esac
mksum=$programs/mksum
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export MKSUM_TEST_DEVICE=cuda MKSUM_TEST_SPIRV=$programs/spirv
# The tests have their caches where cargo would.
mkdir -p "$target/tmp"

if ! head -c 1048576 /dev/zero | "$mksum" merklize --device cuda -o "$work/nodes" >/dev/null; then
    echo "lab/gpu/run.sh: NOTHING WAS TESTED OR MEASURED: CUDA does not run on this machine (above is why)" >&2
    exit 1
fi
"$mksum" devices
step "every hash, 2^1 to 2^22 leaves, against the CPU" "$programs/nodes" --ignored --exact every_hash_up_to_2_22
step "the tests of devices: nodes" "$programs/nodes"
step "the tests of devices: subtrees" "$programs/subtrees"
if head -c 1048576 /dev/zero | "$mksum" merklize --device opencl:nvidia -o "$work/nodes" >/dev/null; then
    step "OpenCL of the card: nodes" env MKSUM_TEST_DEVICE=opencl:nvidia "$programs/nodes"
    step "OpenCL of the card: subtrees" env MKSUM_TEST_DEVICE=opencl:nvidia "$programs/subtrees"
else
    echo "NOT RUN: the card's OpenCL (above is why)" >&2
fi

step "the bench" lab/gpu/run.py --bench "$programs/bench" --device cpu cuda --hash blake3 sha1 sha256 sha512 sha3-256 --write

if command -v compute-sanitizer >/dev/null; then
    head -c 4194304 /dev/zero >"$work/zeros"
    for tool in memcheck racecheck initcheck synccheck; do
        check=(compute-sanitizer --tool "$tool" --error-exitcode 3 "$mksum")
        for hash in blake3 sha256 sha512 sha3-256; do
            step "compute-sanitizer, $tool, $hash" "${check[@]}" merklize --random 2^14 --hash "$hash" --device cuda -o "$work/nodes"
        done
        step "compute-sanitizer, $tool, leaves of a file" "${check[@]}" -f rfc6962:sha256:1KiB --device cuda "$work/zeros"
    done
else
    echo "NOT RUN: compute-sanitizer is not installed (it comes with the CUDA toolkit)" >&2
fi
for title in "${failed[@]}"; do
    echo "FAILED: $title"
done
[ ${#failed[@]} = 0 ]
