#!/usr/bin/env bash
# windows.sh FOLDER: installs the library for Windows under FOLDER, and builds and runs programs that use the DLL, under Wine.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$1
fail() { echo "bindings/c, Windows: $*" >&2; exit 1; }
rm -rf "$folder"
make --no-print-directory install PROFILE=dev TARGET=x86_64-pc-windows-gnu PREFIX="$folder/usr" >/dev/null
cp "$folder/usr/bin/mksum.dll" "$folder/"
# The DLL exports exactly the functions of the headers.
functions() { cat include/mksum.h include/hashtree.h | x86_64-w64-mingw32-gcc -E -P -Iinclude - | grep -v '^typedef' | grep -o '\<\(mksum\|hashtree\)_[a-z_0-9]*(' | tr -d '(' | sort; }
exports() { x86_64-w64-mingw32-objdump -p "$folder/mksum.dll" | sed -n '/Ordinal\/Name Pointer/,$ s/^\s*\[.*\] \(+base\[.*\] [0-9a-f]* \)\?\([a-z_0-9]*\)$/\2/p' | sort; }
diff <(functions) <(exports) || fail "the headers and mksum.dll have different functions"

export PKG_CONFIG_PATH="$folder/usr/lib/pkgconfig"
read -ra dll <<<"$(pkg-config --cflags --libs mksum)"
read -ra static <<<"$(pkg-config --cflags mksum) $folder/usr/lib/libmksum.a $(pkg-config --static --libs-only-l mksum | sed 's/-lmksum//')"
c=(x86_64-w64-mingw32-gcc -std=c11 -Wall -Wextra -D__USE_MINGW_ANSI_STDIO=1 '-DVERSION="0"')
for program in tests/hashers examples/{digest,progress,proof,ssz}; do
    "${c[@]}" "$program.c" "${dll[@]}" -o "$folder/$(basename "$program").exe"
done
"${c[@]}" examples/proof.c "${static[@]}" -o "$folder/proof-static.exe"

# Wine before version 9 lacks a DLL.
x86_64-w64-mingw32-gcc ../../scripts/bcryptprimitives.c -shared -o "$folder/bcryptprimitives.dll" -ladvapi32
wine() { WINEDEBUG=-all WINEPREFIX="$folder/wine" /usr/lib/wine/wine64 "$@"; }
wine wineboot --init >/dev/null 2>&1
cd "$folder"
wine hashers.exe || fail "hashers"
seq 100000 > input
wine progress.exe sha256 input > printed 2> message || fail "progress"
[ "$(tr -d '\r' < printed)" = "$(sha256sum < input | cut -d ' ' -f 1)" ] || fail "progress: $(cat printed)"
wine progress.exe rfc6962:sha256:4KiB input > root 2> message || fail "progress"
for name in proof proof-static; do
    wine $name.exe make rfc6962:sha256:4KiB input 1000 20000 proof || fail "$name make"
    head -c 20000 input | tail -c 19000 | wine $name.exe check rfc6962:sha256:4KiB "$(tr -d '\r\n' < root)" 588895 proof > printed || fail "$name check"
    grep -q '^OK: bytes 1000..20000 of 588895' printed || fail "$name: $(cat printed)"
done
echo "bindings/c: the DLL and its import library, under Wine"
