#!/usr/bin/env bash
# spirv.sh FOLDER [PATTERN…]: compiles all device programs, or those whose names match, to SPIR-V in FOLDER, for MKSUM_SPIRV.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$1
shift
scripts/need.sh rust clang llvm-spirv
cargo run --quiet --package mksum-gpu --example sources "$folder/sources"

compile() {
    local name=$folder/sources/$1
    read -ra options < "$name.options"
    clang -c -target spir64 -O2 -Xclang -finclude-default-header -x cl "${options[@]}" -emit-llvm "$name.cl" -o "$name.bc"
    # The translator must have the compiler's version.
    "llvm-spirv-$(clang -dumpversion | cut -d. -f1)" "$name.bc" -o "$folder/$1.spv.new"
    mv "$folder/$1.spv.new" "$folder/$1.spv"
}
export folder
export -f compile

[ $# -gt 0 ] || set -- '*'
for pattern in "$@"; do
    # shellcheck disable=SC2086 # The shell expands the pattern.
    (cd "$folder/sources" && printf '%s\n' $pattern.cl)
done | sed 's/\.cl$//' | sort -u | xargs -P "$(nproc)" -I{} bash -ec 'compile {}'
