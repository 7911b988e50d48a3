#!/usr/bin/env bash
# test.sh [STAGE…]: installs what is missing and runs every test, or the stages named, one by one. --list names them.
set -uo pipefail
cd "$(dirname "$0")/.."
export PATH="$PATH:$HOME/.cargo/bin"
target=${CARGO_TARGET_DIR:-$PWD/target}
# Each crate is compiled once here: incremental files would only cost time and disk, and no backtrace is printed.
export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=false
# Programs and libraries share the compiled kernels instead of optimizing them once more each, which takes minutes. The speed is the same.
export CARGO_PROFILE_RELEASE_LTO=off

# Formatting, lints, documentation, who depends on whom; the other workspaces' locked versions.
lint() {
    scripts/house.py
    scripts/repository.py >/dev/null
    scripts/lint.sh
    cargo fmt --check
    for lock in $(git ls-files '*Cargo.lock'); do
        cargo metadata --locked --format-version 1 --manifest-path "$(dirname "$lock")/Cargo.toml" >/dev/null
    done
    cargo clippy --all-targets --quiet -- -D warnings
    RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --quiet
    scripts/modules_test.py
    scripts/names.py --check
    scripts/layers.py
}

# Unit, integration, property and documentation tests of all crates.
rust() {
    # A backtrace is printed after the message, of which only the last lines are shown at the end.
    RUST_BACKTRACE=0 cargo test --quiet --no-fail-fast
}

# Every format has its page and its rows, and each row is what the slow definition says.
spec() {
    scripts/need.sh python
    build
    python3 vectors/generate.py --check
    python3 vectors/directories.py "$target/release/mksum"
    python3 vectors/lint.py --formats "$("$target/release/mksum" formats --json | python3 -c 'import json, sys; print(*[json.loads(line)["name"] for line in sys.stdin])')"
}

# The rows against the programs that they name, run here; and proofs, to and fro.
vectors() {
    scripts/need.sh python
    python3 vectors/check.py
    build
    target/vector-tools/venv/bin/python vectors/peers.py "$target/release/mksum"
    target/vector-tools/venv/bin/python vectors/trees.py "$target/release/mksum"
    target/vector-tools/go/check proofs "$target/release/mksum"
}

# What the kernels need beyond `rust`: other instruction sets, Miri, sanitizers.
lanes() {
    crates/lanes/test.sh
}

# The seven languages: each one's own tests, and the rows and the contract that all of them keep. The stage `publish` tests their archives.
languages() {
    make -C languages all
}

# The tool as a user meets it: limits of memory, block devices, full disks, repairs from servers, logs and sum files of other tools,
# and README's commands.
tool() {
    scripts/need.sh python dot rsvg losetup strace vfat fsverity veritysetup bao openssl shasum hashdeep rhash xxhsum bagit torrents mhl minisign signify ssh-keygen \
        gpg log-peer cargo:b3sum@1.8.2
    build
    scripts/house.py flags "$target/release/mksum"
    scripts/tool.py "$target/release/mksum"
    PATH="$PATH:/usr/sbin" scripts/kept.py "$target/release/mksum"
    scripts/repair.py "$target/release/mksum"
    scripts/log.py "$target/release/mksum" "$target/vector-tools/go/log"
    PATH="$PATH:/usr/sbin" scripts/directories.py "$target/release/mksum"
    scripts/sumfiles.py "$target/release/mksum" "$target/bagit/bin/python"
    scripts/torrent.py "$target/release/mksum" "$target/torrents/bin/python"
    scripts/mhl.py "$target/release/mksum" "$target/mhl/bin/python"
    PATH="$target/release:$PATH" scripts/readme.py README.md docs/kept-tree.md docs/directories.md docs/log.md docs/merklize.md
}

# Objects in stores: servers on this machine, good ones and faulty ones; and mounted files.
stores() {
    scripts/need.sh python versitygw moto xfs fuse docker-registry jq dvc
    build
    scripts/get.py "$target/release/mksum"
    scripts/recipes.py "$target/release/mksum" "$target/dvc/bin"
    scripts/serve.py "$target/release/mksum"
    scripts/mount.py "$target/release/mksum"
    scripts/stores.py "$target/release/mksum" --versitygw "$target/stores/versitygw" --python "$target/moto/bin/python"
}

# The Python package with stores: Google Cloud Storage and Azure, with the tool as well. Clusters on this machine, of Spark, Dask and Ray:
# workers and drivers are killed, objects are replaced, stores fail; tables of Iceberg and Delta.
cluster() {
    scripts/need.sh python python-package versitygw clouds cluster lakes hdfs
    build
    local wheel venv
    wheel=$(bindings/python/wheel.sh)
    for venv in clouds cluster lakes; do
        "$target/$venv/bin/pip" install --quiet --disable-pip-version-check --force-reinstall --no-deps "$wheel"
    done
    "$target/clouds/bin/python" scripts/clouds.py "$target/release/mksum" --fake-gcs-server "$target/stores/fake-gcs-server" \
        --azurite "$target/azurite/node_modules/.bin/azurite-blob"
    "$target/cluster/bin/python" scripts/cluster.py "$target/release/mksum" --versitygw "$target/stores/versitygw"
    "$target/lakes/bin/python" scripts/tables.py --jars "$target/lakes-jars"
    "$target/cluster/bin/python" scripts/hdfs.py "$target/release/mksum" --jars "$target/hdfs"
}

# Trees on OpenCL devices: each runtime for CPUs alone, then with a gigabyte of memory, then in the shapes of GPUs; on CUDA without a
# GPU; then no device at all.
gpu() {
    scripts/need.sh pocl intel-opencl python cuda
    cargo clippy --package mksum-gpu --all-targets --features devices --quiet -- -D warnings
    cargo clippy --package mksum-gpu --all-targets --no-default-features --features devices --quiet -- -D warnings
    # Of two hashes, at every width: whichever this CPU has.
    scripts/spirv.sh "$target/spirv-test" 'blake3-*' 'sha256-*'
    export MKSUM_TEST_SPIRV=$target/spirv-test
    local runtime
    for runtime in pocl intel; do
        echo "--- $runtime"
        OCL_ICD_VENDORS="$target/opencl/$runtime" MKSUM_TEST_DEVICE=0 \
            cargo test --package mksum-gpu --features devices --quiet
    done
    OCL_ICD_VENDORS="$target/opencl/pocl" POCL_MEMORY_LIMIT=1 MKSUM_TEST_DEVICE=0 \
        cargo test --package mksum-gpu --features devices --quiet million
    # Groups with barriers, one lane a work-item, with and without memory of the device's own.
    local shape
    for shape in 64,256,4,1,1 32,32,20,1,0; do
        echo "--- pocl as a GPU: $shape"
        OCL_ICD_VENDORS="$target/opencl/pocl" MKSUM_TEST_DEVICE=0 MKSUM_TEST_SHAPE=$shape \
            cargo test --package mksum-gpu --features devices --quiet --test nodes --test subtrees
    done
    cuda
    build
    scripts/gpu.py "$target/release/mksum" "$target/opencl" "$target/cuda-emulator"
}

# CUDA without a GPU: the programs compiled for three architectures, and run in several shapes by an emulator.
cuda() {
    local sources=$target/cuda-sources emulator=$target/cuda-emulator shape every
    cargo run --quiet --package mksum-gpu --example sources "$sources" cuda
    python3 scripts/cuda.py check "$sources"
    python3 scripts/cuda.py emulator "$emulator"
    # The emulator's programs are not a GPU's: they have a cache of their own.
    local run=(env "LD_LIBRARY_PATH=$emulator" "XDG_CACHE_HOME=$target/cuda-cache" MKSUM_TEST_DEVICE=cuda
        cargo test --package mksum-gpu --features devices --quiet)
    for shape in 64,128,4,1,1 256,256,20,1,0 1,4,2,1,0; do
        echo "--- emulated CUDA: $shape"
        MKSUM_TEST_SHAPE=$shape "${run[@]}" --test nodes --test subtrees
    done
    for every in 37 211; do
        echo "--- emulated CUDA, of which every call number $every fails"
        MKSUM_TEST_SHAPE=2,8,2,1,1 MKSUM_EMULATED_FAILURES=$every "${run[@]}" --test nodes -- --ignored failing
    done
    echo "--- emulated CUDA, newer than its compiler"
    MKSUM_TEST_SHAPE=64,128,4,1,1 MKSUM_EMULATED_ARCHITECTURE=121 "${run[@]}" --test nodes vectors
}

# libmksum as C and C++ programs use it: installed, found by pkg-config and CMake, static and shared, under sanitizers and Valgrind.
c() {
    scripts/need.sh python pkg-config cmake valgrind pocl
    cargo clippy --package mksum-c --no-default-features --quiet -- -D warnings
    # The tool, whose proofs and outboards are exchanged with the library's.
    build
    MKSUM_TEST_RUNTIME=$target/opencl/pocl MKSUM_TEST_TOOL=$target/release/mksum make --no-print-directory -C bindings/c test
}

# Other systems: that it builds for them, without warnings.
systems() {
    local name
    for name in x86_64-pc-windows-gnu aarch64-unknown-linux-gnu aarch64-apple-darwin; do
        scripts/need.sh "target:$name"
        # Without stores, whose cryptography needs a C compiler for each of them.
        cargo clippy --quiet --target "$name" --package mksum-cli --no-default-features --features tool -- -D warnings
    done
    scripts/need.sh target:wasm32-unknown-unknown
    cargo clippy --quiet --target wasm32-unknown-unknown --package mksum -- -D warnings
}

# The tool for Windows, under Wine: paths, names, sum files, devices, kept trees; and the DLL, from C.
windows() {
    scripts/need.sh python wine mingw target:x86_64-pc-windows-gnu
    # As the tests, which takes less time: nothing is timed.
    cargo build --quiet --package mksum-cli --target x86_64-pc-windows-gnu
    scripts/windows.py "$target/x86_64-pc-windows-gnu/debug/mksum.exe"
    bindings/c/tests/windows.sh "$target/c-windows"
}

# The npm package: its tests in Node, and as users install it in Node, Deno, Bun and Chromium.
js() {
    scripts/need.sh node chromium target:wasm32-unknown-unknown npm:bindings/js
    # The tool, whose output is that of the package's command.
    build
    (
        cd bindings/js
        npm run --silent build
        MKSUM="$target/release/mksum" npm test --silent
        npm run --silent test:package
    )
}

# The site in Chromium and Firefox: links, figures, accessibility, narrow screens, speed, use without a network; and the page that hashes.
site() {
    scripts/need.sh chromium firefox openssl rhash cargo:b3sum@1.8.2 npm:site
    build
    scripts/site.sh
    (cd site && npm test --silent && MKSUM="$target/release/mksum" npm run --silent test:app)
}

# The Python package: source distribution, wheel, types, tests and recipes, on every Python that can be had.
python() {
    bindings/python/test.sh
}

# A dry run of what every registry checks: addresses, crates.io, npm, PyPI, and those of the languages. Nothing is published.
publish() {
    scripts/need.sh python twine npm:bindings/js target:wasm32-unknown-unknown
    scripts/repository.py
    scripts/package.sh
    # As the stage `js` has built it, if it has. npm itself says what its registry would correct in the manifest, which is no error to it.
    # Provenance is signed in CI alone, so the dry run checks the option and the access that it needs, and repository.py the address.
    (
        cd bindings/js
        [ -e dist/index.js ] || npm run --silent build
        npm publish --dry-run --provenance --access public --loglevel warn 2>&1 | tee "$target/npm-dry-run"
        if grep -n "npm pkg fix" "$target/npm-dry-run"; then exit 1; fi
    )
    bindings/python/wheel.sh
    "$target/twine/bin/twine" --no-color check --strict "$target"/python/dist/*
    make -C languages publish
}

# The lab without its clocks, but for a look at what became slower. Results are in their format, and tables keep runs apart. Every library
# of the study in JavaScript gives the right digests, each in a process of its own.
lab() {
    scripts/need.sh python
    python3 lab/results.py --check
    # Warnings alone: a test must not depend on speed.
    build
    lab/watch.py "$target/release/mksum"
    lab/js/prepare.sh
    # One file after the other: they build the same folder, and some watch the processors.
    node --test --test-concurrency=1 lab/js/test/*.test.mjs
}

# Each fuzz target for a while, one on each processor: FUZZ_SECONDS, 10 if not told. Without a sanitizer, which doubles the time of the
# build: what has `unsafe` are the kernels, which the stage `lanes` runs under one.
fuzz() {
    rustup toolchain list | grep -q nightly || rustup toolchain install nightly --profile minimal
    scripts/need.sh cargo:cargo-fuzz
    cargo +nightly fuzz build --dev --sanitizer none --target-dir "$target/fuzz"
    cargo +nightly fuzz list | xargs -P "$(nproc)" -n 1 scripts/fuzz.sh "$target/fuzz" "${FUZZ_SECONDS:-10}"
}

# The tool, in target/release, with all that it can have.
build() {
    cargo build --release --quiet --package mksum-cli --features hdfs
}

# All stages. Three at a time run side by side, in this order: while one downloads, links or waits, others have the processors.
stages=(lint spec python languages rust js tool cluster gpu lanes stores c windows fuzz vectors site systems publish lab)
# The most that a stage may take, in seconds: one that hangs fails by itself, and the others run. The whole ends in 87 minutes,
# also if several hang, so that it says which.
limit=3600
: "${test_end:=$((EPOCHSECONDS + 5220))}"
export test_end

# cpu: leaves in `used` the seconds that processors have worked for the stages of this shell: `times` says "1m2.3s 0m4.5s".
cpu() {
    times >"$results/times.$$"
    used=$(awk -F '[ms ]+' 'NR == 2 { print int(60 * ($1 + $3) + $2 + $4) }' "$results/times.$$")
}

# run STAGE: in a shell of its own, so that the first failure ends the stage and nothing else. Notes the time and the exit status.
run() {
    local used begin=$SECONDS status=0 left=$((test_end - EPOCHSECONDS))
    cpu
    local before=$used
    left=$((left < 1 ? 1 : left < limit ? left : limit))
    timeout --foreground --kill-after=1m "$left" scripts/test.sh --stage "$1" || status=$?
    cpu
    printf '%s %s %s %s\n' $((SECONDS - begin)) $status "$1" $((used - before)) >>"$results/list"
    case $status in
        0) echo "=== $1 passed in $((SECONDS - begin)) s" ;;
        124 | 137) echo "=== $1 FAILED: it had not ended after $left s" ;;
        *) echo "=== $1 FAILED after $((SECONDS - begin)) s" ;;
    esac
}

case ${1:-} in
    --list)
        printf '%s\n' "${stages[@]}"
        exit
        ;;
    --stage)
        set -e
        "$2"
        exit
        ;;
    --beside) # Of this script itself: what a stage has written is printed when it has ended.
        case $2 in
            js | site | publish | lab) lock=npm ;; # They build in bindings/js.
            *) lock=$2 ;;
        esac
        exec {alone}>"$results/$lock.lock"
        flock "$alone"
        echo "=== $2 begins"
        run "$2" >"$results/$2" 2>&1 {alone}>&-
        flock "$results" cat "$results/$2"
        exit
        ;;
esac
for stage in "$@"; do
    [[ " ${stages[*]} " = *" $stage "* ]] || { echo "test.sh: no stage $stage: ${stages[*]}" >&2; exit 2; }
done
scripts/need.sh rust cc || exit 1
results=$(mktemp -d) || exit 1
export results
trap 'rm -rf "$results"' EXIT
if [ $# -gt 0 ]; then
    for stage in "$@"; do
        echo "=== $stage"
        run "$stage"
    done
else
    # A session of its own has no terminal, for which a background program would wait. env: the shell ignores Ctrl-C in its
    # background commands, and the tests send it.
    printf '%s\n' "${stages[@]}" |
        env --default-signal=INT,QUIT setsid xargs -P 3 -n 1 scripts/test.sh --beside &
    trap 'pkill --session $!; exit 130' INT TERM
    wait
fi
sort -n "$results/list" | awk '{ printf "%6d s  %6d s of processors  %s%s\n", $1, $4, $3, $2 ? "  FAILED" : "" }'
printf '%6d s  in all, %d s of processors\n' $SECONDS "$(awk '{ sum += $4 } END { print sum }' "$results/list")"
failed=$(awk '$2 { print $3 }' "$results/list" | xargs)
# Again at the end, where they are found.
for stage in $failed; do
    [ ! -e "$results/$stage" ] || { echo "--- the last lines of $stage:"; tail -n 40 "$results/$stage"; }
done
[ -z "$failed" ] || echo "failed: $failed"
wanted=$#
[ $# -gt 0 ] || wanted=${#stages[@]}
passed=$(awk '!$2' "$results/list" | wc -l)
echo "$passed of $wanted passed"
[ "$passed" = "$wanted" ]
