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
# An OpenCL runtime, for one of the runs below: the others have whatever this machine has, or none.
runtime=${MKSUM_TEST_RUNTIME:-}
unset MKSUM_TEST_RUNTIME
# The tool, whose proofs and outboards are exchanged with the library's.
tool=${MKSUM_TEST_TOOL:-}
[ -n "$tool" ] || echo "bindings/c: no proof or outboard is exchanged with the tool: MKSUM_TEST_TOOL does not name it"

# The library exports exactly the functions of the headers.
functions() { cat include/mksum.h include/hashtree.h "$@" | cc -E -P -Iinclude - | grep -v '^typedef' | grep -o '\<\(mksum\|hashtree\)_[a-z_0-9]*(' | tr -d '(' | sort; }
diff <(functions) <(nm -D --defined-only "$folder/usr/lib/libmksum.so" | awk '{print $3}' | sort) ||
    fail "the headers and libmksum.so have different functions"
# Statuses, states of entries and kinds of ranges have the same numbers.
constants() { sed -n "/^typedef enum $1 {/,/^}/ s/^ *MKSUM_$2\([A-Z_]*\) = \([0-9]*\),\{0,1\}$/\1 \2/p" include/mksum.h | tr -d _; }
variants() { sed -n 's/^ *\([A-Z][A-Za-z]*\) = \([0-9]*\),$/\1 \2/p' "$1" | tr '[:lower:]' '[:upper:]'; }
same() {
    [ "$(constants "$1" "$2" | wc -l)" -gt 5 ] || fail "mksum.h: no constants of $1"
    diff <(constants "$1" "$2") <(variants "$3") || fail "mksum.h and $3 have different constants"
}
same mksum_status "" src/failure.rs
same mksum_state ENTRY_ ../../crates/catalogue/src/finding.rs
same mksum_range RANGE_ src/outboards.rs

c=(cc -std=c11 -Wall -Wextra -Werror -pedantic -O1 -g "-DVERSION=\"$version\"")
read -ra shared <<<"$(pkg-config --cflags --libs mksum)"
shared+=("-Wl,-rpath,$folder/usr/lib")
read -ra cflags <<<"$(pkg-config --cflags mksum)"
read -ra static <<<"$(pkg-config --static --libs-only-l mksum | sed 's/-lmksum//')"
static=("$folder/usr/lib/libmksum.a" "${static[@]}")
for program in examples/{merklize,root,catalogue,digest,ssz,progress,proof} tests/{contract,catalogue,hashers,files,logs}; do
    name=$(basename "$program")
    [ "$program" != tests/catalogue ] || name=catalogues
    "${c[@]}" "$program.c" "${shared[@]}" -o "$folder/$name"
    "${c[@]}" "$program.c" "${cflags[@]}" "${static[@]}" -o "$folder/$name-static"
    "${c[@]}" -fsanitize=address,undefined "$program.c" "${cflags[@]}" "${static[@]}" -o "$folder/$name-asan"
done
cxx=(c++ -std=c++17 -Wall -Wextra -Werror -pedantic -O1 "-DVERSION=\"$version\"")
for name in contract catalogue hashers files logs; do
    "${cxx[@]}" -x c++ "tests/$name.c" -x none "${shared[@]}" -o "$folder/${name/%catalogue/catalogues}-c++"
done
for name in digest outboard; do
    "${cxx[@]}" -fsanitize=address,undefined "examples/$name.cpp" "${cflags[@]}" "${static[@]}" -o "$folder/$name-c++"
done
readelf -d "$folder/contract" | grep -q 'NEEDED.*libmksum\.so\.0' || fail "the shared library has the wrong soname"
if readelf -d "$folder/contract-static" | grep -q mksum; then fail "the static program needs the shared library"; fi
# A program may have an SQLite of its own, and be static altogether.
if nm --defined-only --extern-only "$folder/usr/lib/libmksum.a" 2>/dev/null | grep ' sqlite3'; then fail "libmksum.a has SQLite's names"; fi
read -ra all <<<"$(pkg-config --static --cflags --libs mksum)"
"${c[@]}" -static examples/catalogue.c "${all[@]}" -o "$folder/catalogues-whole" 2>"$folder/printed" || { cat "$folder/printed"; fail "no static program"; }

mkdir -p "$folder/directory/empty"
echo hello > "$folder/directory/index.html"
ln -s index.html "$folder/directory/home"
for name in contract contract-static contract-asan contract-c++; do
    # OpenCL runtimes leak memory when they are loaded.
    OCL_ICD_VENDORS=$([[ $name = *-asan ]] && echo /nonexistent) "$folder/$name" "$folder/directory" || fail "$name"
done
for test in catalogues files logs; do
    for name in $test{,-static,-asan,-c++}; do
        rm -rf "$folder/work" && mkdir "$folder/work"
        "$folder/$name" "$folder/work" || fail "$name"
    done
done
# On a device too, where a runtime of OpenCL is named: the stage `c` of scripts/test.sh does.
if [ -n "$runtime" ]; then
    OCL_ICD_VENDORS=$runtime MKSUM_TEST_RUNTIME=$runtime "$folder/contract" "$folder/directory" || fail "contract, with $runtime"
else
    echo "bindings/c: no buffer on a device was tested: MKSUM_TEST_RUNTIME names no OpenCL runtime"
fi
# All that is published of every format, in every build: the rows with the roots that it computes are the rows.
cat ../../vectors/rows/*.tsv | grep -v '^#' > "$folder/rows"
[ "$(wc -l < "$folder/rows")" -gt 5000 ] || fail "rows are missing"
for name in hashers hashers-static hashers-asan hashers-c++; do
    "$folder/$name" || fail "$name"
    "$folder/$name" ROOTS < "$folder/rows" > "$folder/roots" || fail "$name"
    cmp "$folder/rows" "$folder/roots" || fail "$name: roots differ from vectors/rows"
done
# The pairs of nodes by every kernel that this machine has.
for cpu in portable sse41 avx2 shani avx512 neon; do
    MKSUM_CPU=$cpu "$folder/hashers" || fail "hashers, MKSUM_CPU=$cpu"
done
memcheck=(valgrind --quiet --error-exitcode=9 --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite)
# Valgrind does not support AVX-512. OpenCL runtimes leak memory when they are loaded, so none is.
OCL_ICD_VENDORS=/nonexistent MKSUM_CPU=avx2 "${memcheck[@]}" "$folder/contract" "$folder/directory"
MKSUM_CPU=avx2 "${memcheck[@]}" "$folder/hashers"
awk -F '\t' '$3 < 70000 && NR % 10 == 0' "$folder/rows" > "$folder/some"
MKSUM_CPU=avx2 "${memcheck[@]}" "$folder/hashers" ROOTS \
    < "$folder/some" > "$folder/roots" || fail "hashers under Valgrind"
cmp "$folder/some" "$folder/roots" || fail "hashers under Valgrind: roots differ from vectors/rows"
for name in catalogues files logs; do
    rm -rf "$folder/work" && mkdir "$folder/work"
    OCL_ICD_VENDORS=/nonexistent MKSUM_CPU=avx2 "${memcheck[@]}" "$folder/$name" "$folder/work"
done

# README.md: each example compiles, with the names that the text around it stands for.
python3 - README.md > "$folder/readme.c" <<'PYTHON'
import re
import sys

print("""#include <mksum_get.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
extern unsigned char leaves[], nodes[], bytes[], buffer[65536], *proof;
extern char root[MKSUM_TEXT_MAX];
extern size_t len, room;
extern uint64_t length;
extern int file;
extern volatile sig_atomic_t interrupted;
extern mksum_device *device;
extern mksum_each_range print_range;""")
blocks = re.findall(r"^```c\n(.*?)^```$", open(sys.argv[1]).read(), re.M | re.S)
assert len(blocks) > 5
for number, block in enumerate(blocks):
    block = re.sub(r"^#include .*\n", "", block, flags=re.M)
    functions = re.findall(r"^static .*?^}\n", block, re.M | re.S)
    for function in functions:
        print(function)
        block = block.replace(function, "")
    print(f"void example{number}(void);\nvoid example{number}(void)\n{{\n{block}}}")
PYTHON
"${c[@]}" -D_POSIX_C_SOURCE=200809L -Wno-pointer-sign -Wno-unused -fsyntax-only "${cflags[@]}" "$folder/readme.c" || fail "README.md: an example does not compile"

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
for name in digest digest-static digest-asan; do
    [ "$("$folder/$name" sha256 < "$folder/leaves")" = "$(sha256sum < "$folder/leaves" | cut -d ' ' -f 1)" ] || fail "$name"
done
if "$folder/digest" mtsum < "$folder/leaves" 2> "$folder/message"; then fail "mtsum was hashed as a stream"; fi
grep -q '^digest: mtsum:' "$folder/message"
# An SSZ tree of whole levels is the node tree of SHA-256; one that is filled up has the same root as with the zeros written out.
"$folder/merklize" sha256 < "$folder/leaves" > "$folder/nodes" 2> "$folder/printed"
head -c 999968 "$folder/leaves" > "$folder/short"
cp "$folder/short" "$folder/filled" && truncate -s $((32 << 15)) "$folder/filled"
"$folder/merklize" sha256 < "$folder/filled" > "$folder/nodes" 2> "$folder/printed-short"
for name in ssz ssz-static ssz-asan; do
    [ "$("$folder/$name" < "$folder/leaves")" = "$(cat "$folder/printed")" ] || fail "$name"
    [ "$("$folder/$name" < "$folder/short")" = "$(cat "$folder/printed-short")" ] || fail "$name: a level of odd length"
done
[ "$("$folder/digest-c++" sha256 blake3 < "$folder/leaves")" = "sha256: $(sha256sum < "$folder/leaves" | cut -d ' ' -f 1)
blake3: $("$folder/digest" blake3 < "$folder/leaves")" ] || fail "digest.cpp"
for name in progress progress-static progress-asan; do
    [ "$("$folder/$name" sha256 "$folder/leaves" 2> "$folder/message")" = "$(sha256sum < "$folder/leaves" | cut -d ' ' -f 1)" ] || fail "$name"
    tr '\r' '\n' < "$folder/message" | tail -n 1 | grep -q ': 100 %$' || fail "$name: the progress did not end"
done
# Ctrl-C while a pipe has no more bytes: what has been read has no root.
mkfifo "$folder/pipe"
"$folder/progress-asan" sha256 "$folder/pipe" > "$folder/printed" 2> "$folder/message" &
progress=$!
{ head -c 1000 "$folder/leaves" && sleep 0.2 && kill -INT $progress && sleep 0.2; } > "$folder/pipe"
status=0 && wait $progress || status=$?
[ $status = 130 ] || fail "progress: Ctrl-C: status $status"
[ ! -s "$folder/printed" ] || fail "progress: a root of what had been read"
grep -q '^progress: .* cancelled' "$folder/message" || fail "progress: no reason"

# Proofs and outboards: those of the examples and of the tool are the same bytes, and each takes the other's.
head -c 1000000 "$folder/leaves" > "$folder/input"
format=rfc6962:sha256:4KiB
root=$("$folder/root" $format "$folder/input" | sed 's/.* = //')
head -c 70000 "$folder/input" | tail -c 7000 > "$folder/part"
for name in proof proof-static proof-asan; do
    "$folder/$name" make $format "$folder/input" 63000 70000 "$folder/proof-whole" || fail "$name make"
    [ "$("$folder/$name" check $format "$root" 1000000 "$folder/proof-whole" < "$folder/part")" = "OK: bytes 63000..70000 of 1000000" ] ||
        fail "$name check"
    if "$folder/$name" check $format "$root" 1000000 "$folder/proof-whole" < "$folder/short" 2> "$folder/message"; then
        fail "$name: other bytes were accepted"
    fi
    grep -q '^proof: ' "$folder/message" || fail "$name: no reason"
done
if [ -n "$tool" ]; then
    "$tool" prove -f $format --range 63000..70000 "$folder/input" > "$folder/proof-tool"
    cmp "$folder/proof-whole" "$folder/proof-tool" || fail "the tool's proof differs"
    "$tool" check-proof -f $format --length 1000000 "$root" "$folder/proof-whole" "$folder/part" > /dev/null || fail "the tool refuses the proof"
    "$tool" keep "$folder/input" > /dev/null
    "$tool" prove --range 63000..70000 "$folder/input" > "$folder/proof-tool"
    mv "$folder/input.mkt" "$folder/kept"
fi
"$folder/outboard-c++" "$folder/input" || fail "outboard.cpp: keep"
"$folder/outboard-c++" "$folder/input" > "$folder/printed" || fail "outboard.cpp: verify"
[ ! -s "$folder/printed" ] || fail "outboard.cpp: found damage"
"$folder/proof" make rfc6962:sha256:64KiB "$folder/input" 63000 70000 "$folder/proof-kept" || fail "proof make, from an outboard"
if [ -n "$tool" ]; then
    cmp "$folder/kept" "$folder/input.mkt" || fail "the tool's outboard differs"
    cmp "$folder/proof-kept" "$folder/proof-tool" || fail "the tool's proof from an outboard differs"
    "$tool" verify "$folder/input" > /dev/null || fail "the tool refuses the outboard"
fi
cp "$folder/input" "$folder/copy" && touch -r "$folder/input" "$folder/time"
printf X | dd of="$folder/input" bs=1 seek=500000 conv=notrunc status=none && touch -r "$folder/time" "$folder/input"
if "$folder/outboard-c++" "$folder/input" > "$folder/printed" 2> "$folder/message"; then fail "outboard.cpp: damage was not found"; fi
[ "$(cat "$folder/printed")" = "damaged: 458752..524288" ] || fail "outboard.cpp: $(cat "$folder/printed")"
"$folder/outboard-c++" "$folder/input" "$folder/copy" | grep -qx 'repaired: 458752..524288' || fail "outboard.cpp: repair"
cmp "$folder/input" "$folder/copy"
[ -z "$tool" ] || "$tool" verify "$folder/input" > /dev/null || fail "the tool finds damage after the repair"

[ "$("$folder/root" blake3 "$folder/leaves" | sed 's/.* = //')" = "$("$folder/root-static" blake3 "$folder/leaves" | sed 's/.* = //')" ]

# As CMake finds it, where Debian has libraries.
libdir=$folder/other/lib/$(cc -print-multiarch)
make --no-print-directory install PREFIX="$folder/other" LIBDIR="$libdir" >/dev/null
cmake -S tests/cmake -B "$folder/cmake" -DCMAKE_PREFIX_PATH="$folder/other" >/dev/null
cmake --build "$folder/cmake" >/dev/null
for name in root-mksum root-static; do
    cmp <("$folder/cmake/$name" blake3 "$folder/leaves") <("$folder/root" blake3 "$folder/leaves") || fail "CMake: $name"
done
[ "$(PKG_CONFIG_PATH=$libdir/pkgconfig pkg-config --libs-only-L mksum)" = "-L$libdir " ] || fail "pkg-config: another libdir"

# A log that is written in C: the tool finds it good, and checks its proof.
if [ -n "$tool" ]; then
    rm -rf "$folder/work" && mkdir "$folder/work"
    "$folder/logs" "$folder/work" || fail "logs"
    "$tool" log fsck "$folder/work/log" --key "$folder/work/key" > /dev/null || fail "the tool refuses the log"
    "$tool" log check "$folder/work/proof" --key "$folder/work/key" --entry "$folder/work/entry" > /dev/null || fail "the tool refuses the proof"
fi

# A catalogue: what changed and what is damaged is printed.
rm -rf "$folder/work" && mkdir "$folder/work" && seq 3000000 > "$folder/work/big" && echo 1 > "$folder/work/small"
"$folder/catalogue-asan" "$folder/work" > "$folder/printed" || fail "catalogue"
[ ! -s "$folder/printed" ] || fail "catalogue: nothing has changed"
echo 2 > "$folder/work/small" && touch -r "$folder/work/big" "$folder/time"
printf X | dd of="$folder/work/big" bs=1 seek=9000000 conv=notrunc status=none && touch -r "$folder/time" "$folder/work/big"
if "$folder/catalogue" "$folder/work" 60 > "$folder/printed"; then fail "catalogue: damage was not found"; fi
diff - <(cut -c1-40 "$folder/printed") <<'PRINTED'
small: changed
big: its size, mtime and inode show no c
big: damaged 8978432..9043968
PRINTED

# Downloads: a library that has them too, and two mirrors of which one has wrong leaves.
if [ -n "$tool" ]; then
    make --no-print-directory install PREFIX="$folder/get" PROFILE=dev FEATURES="--features get" >/dev/null
    [ -z "$(comm -23 <(functions include/mksum_get.h) <(nm -D --defined-only "$folder/get/lib/libmksum.so" | awk '{print $3}' | sort))" ] ||
        fail "a libmksum.so with downloads does not have all functions"
    read -ra shared <<<"$(PKG_CONFIG_PATH=$folder/get/lib/pkgconfig pkg-config --cflags --libs mksum)"
    "${c[@]}" tests/get.c "${shared[@]}" "-Wl,-rpath,$folder/get/lib" -o "$folder/get-c"
    "${cxx[@]}" -x c++ tests/get.c -x none "${shared[@]}" "-Wl,-rpath,$folder/get/lib" -o "$folder/get-c++"
    "${c[@]}" -fsanitize=address,undefined tests/get.c -Iinclude "$folder/get/lib/libmksum.a" "${static[@]:1}" -o "$folder/get-asan"
    rm -rf "$folder/mirrors" && mkdir -p "$folder/mirrors/good" "$folder/mirrors/bad"
    head -c 10000000 /dev/urandom > "$folder/mirrors/good/file"
    root=$("$tool" keep "$folder/mirrors/good/file" | sed 's/^\([^ ]*\) .* = /\1:/')
    cp "$folder/mirrors/good/"* "$folder/mirrors/bad"
    for at in 100000 3000000 9999999; do
        printf '\377\000\377' | dd of="$folder/mirrors/bad/file" bs=1 seek=$((at - 2)) conv=notrunc status=none
    done
    "$tool" serve "$folder/mirrors/good" "$folder/mirrors/bad" --listen 127.0.0.1:0 > "$folder/printed" 2> "$folder/message" &
    served=$!
    until grep -q 'http://' "$folder/printed" "$folder/message"; do kill -0 $served && sleep 0.1; done
    url=$(grep -ho 'http://[0-9.:]*' "$folder/printed" "$folder/message" | head -1)
    for name in get-c get-c++ get-asan; do
        rm -rf "$folder/work" && mkdir "$folder/work"
        "$folder/$name" "$folder/work" "$url/good/file" "$url/bad/file" "$root" "$folder/mirrors/good/file" || fail "$name"
    done
    kill $served
else
    echo "bindings/c: no download was tested: MKSUM_TEST_TOOL names no tool that serves"
fi

# The smallest build: in a folder of its own, so that the other is still there for who looks for it.
CARGO_TARGET_DIR=$folder-small make --no-print-directory install PREFIX="$folder/small" FEATURES=--no-default-features >/dev/null
"${c[@]}" -static -s -Wl,--gc-sections examples/digest.c -Iinclude "$folder/small/lib/libmksum.a" -lgcc_eh -lpthread -o "$folder/digest-small" ||
    fail "digest with the smallest library"
for format in sha256 blake3 rfc6962:sha256:4KiB; do
    [ "$("$folder/digest-small" $format < "$folder/leaves")" = "$("$folder/digest" $format < "$folder/leaves")" ] || fail "digest-small $format"
done
for format in md5 sha3-256 blake2b rfc6962:sha1 crc32; do
    if "$folder/digest-small" $format < "$folder/leaves" 2> "$folder/message"; then fail "digest-small: $format is there"; fi
    grep -q "^digest: $format: " "$folder/message" || fail "digest-small: $format: $(cat "$folder/message")"
done
small() { nm -D --defined-only "$folder/small/lib/libmksum.so" | awk '{print $3}' | sort; }
[ -z "$(comm -13 <(functions) <(small))" ] || fail "the smallest library has functions that are not in the headers"
if small | grep -q '_file\|_stream\|_directory\|_outboard\|_catalogue\|_log_'; then fail "the smallest library reads files"; fi
[ "$(stat -c %s "$folder/small/lib/libmksum.so")" -lt "$(stat -c %s "$folder/usr/lib/libmksum.so.0")" ] || fail "the smallest library is not smaller"
echo "bindings/c: libmksum $version, static and shared, as C and as C++; the smallest static program has $(stat -c %s "$folder/digest-small") bytes"
