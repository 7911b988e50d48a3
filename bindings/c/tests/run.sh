#!/usr/bin/env bash
# run.sh FOLDER VERSION: installs the library under FOLDER, and builds and runs programs that use it from there.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$1 version=$2
rm -rf "$folder"
make --no-print-directory install PREFIX="$folder/usr" >/dev/null
export PKG_CONFIG_PATH="$folder/usr/lib/pkgconfig"
[ "$(pkg-config --modversion mksum)" = "$version" ]
fail() { echo "bindings/c: $*" >&2; exit 1; }

# The library exports exactly the functions of the header.
functions() { grep -o 'mksum_[a-z_]*(' include/mksum.h | tr -d '(' | sort -u | grep -v '^mksum_error$\|^mksum_status$\|^mksum_each$'; echo mksum_error; }
diff <(functions | sort) <(nm -D --defined-only "$folder/usr/lib/libmksum.so" | awk '{print $3}' | sort) ||
    fail "mksum.h and libmksum.so have different functions"
# The statuses have the same numbers.
diff <(sed -n 's/^ *MKSUM_\([A-Z_]*\) = \([0-9]*\),\{0,1\}$/\1 \2/p' include/mksum.h | tr -d _ ) \
    <(sed -n 's/^ *\([A-Z][A-Za-z]*\) = \([0-9]*\),$/\1 \2/p' src/failure.rs | tr '[:lower:]' '[:upper:]') ||
    fail "mksum.h and failure.rs have different statuses"

c=(cc -std=c11 -Wall -Wextra -Werror -pedantic -O1 -g "-DVERSION=\"$version\"")
read -ra shared <<<"$(pkg-config --cflags --libs mksum)"
shared+=("-Wl,-rpath,$folder/usr/lib")
read -ra cflags <<<"$(pkg-config --cflags mksum)"
read -ra static <<<"$(pkg-config --static --libs-only-l mksum | sed 's/-lmksum//')"
static=("$folder/usr/lib/libmksum.a" "${static[@]}")
for program in examples/merklize examples/root tests/contract; do
    name=$(basename "$program")
    "${c[@]}" "$program.c" "${shared[@]}" -o "$folder/$name"
    "${c[@]}" "$program.c" "${cflags[@]}" "${static[@]}" -o "$folder/$name-static"
    "${c[@]}" -fsanitize=address,undefined "$program.c" "${cflags[@]}" "${static[@]}" -o "$folder/$name-asan"
done
c++ -std=c++17 -Wall -Wextra -Werror -pedantic -O1 "-DVERSION=\"$version\"" -x c++ tests/contract.c -x none "${shared[@]}" \
    -o "$folder/contract-c++"
readelf -d "$folder/contract" | grep -q 'NEEDED.*libmksum\.so\.0' || fail "the shared library has the wrong soname"
if readelf -d "$folder/contract-static" | grep -q mksum; then fail "the static program needs the shared library"; fi

mkdir -p "$folder/directory/empty"
echo hello > "$folder/directory/index.html"
ln -s index.html "$folder/directory/home"
for name in contract contract-static contract-asan contract-c++; do
    "$folder/$name" "$folder/directory" || fail "$name"
done
# Valgrind does not support AVX-512. OpenCL runtimes leak memory when they are loaded, so none is.
OCL_ICD_VENDORS=/nonexistent MKSUM_CPU=avx2 valgrind --quiet --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite "$folder/contract" "$folder/directory"

# The examples: every build computes the published nodes.
python3 - > "$folder/leaves" <<'PYTHON'
import sys
sys.stdout.buffer.write(bytes((i * 131 + (i >> 8) * 17) & 255 for i in range(32 << 16)))
PYTHON
for name in merklize merklize-static merklize-asan; do
    "$folder/$name" < "$folder/leaves" > "$folder/nodes" 2> "$folder/printed"
    grep -q "blake3	pat	16	.*	$(cat "$folder/printed")	$(tail -c +33 "$folder/nodes" | sha256sum | cut -d ' ' -f 1)$" \
        ../../vectors/nodes.tsv || fail "$name: the nodes differ from vectors/nodes.tsv"
done
head -c 100 "$folder/leaves" > "$folder/short"
if "$folder/merklize" < "$folder/short" > "$folder/nodes" 2> "$folder/message"; then fail "100 bytes were accepted as leaves"; fi
grep -q '^merklize: 100 bytes of leaves: ' "$folder/message"
[ "$("$folder/root" blake3 "$folder/leaves" | sed 's/.* = //')" = "$("$folder/root-static" blake3 "$folder/leaves" | sed 's/.* = //')" ]
echo "bindings/c: libmksum $version, static and shared, as C and as C++"
