#!/usr/bin/env python3
"""Changes one thing in a program and runs its tests, which must fail: make mutants [ONLY="c go"].

Works on a copy of languages/, vectors/ and spec/ in a temporary folder. A mutant is a line of MUTANTS below: the file, the text that
is there once, and what replaces it. Prints each mutant that survives, and fails if there is one, or if a text is no longer there.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
ZIG = HERE / "zig" / ".toolchain" / "bin" / "python-zig"
CABAL = {"CABAL_CONFIG": "/dev/null", "LANG": "C.UTF-8"}

# The tests of a language: a shell command in its folder.
TESTS = {
    "c": "make -s bin/merkle && ../contract.sh bin/merkle && make -s test collision portable",
    "go": "go build -o bin/merkle ./cmd/merkle && ../contract.sh bin/merkle && CGO_ENABLED=1 go test -race -run 'Concurrent|Clone' . && go test ./...",
    "zig": "{zig} build test && {zig} build --prefix . -Doptimize=ReleaseSafe && ../contract.sh bin/merkle",
    "d": "dub test -q --skip-registry=all --compiler=ldc2 && dub build -q --skip-registry=all --compiler=ldc2 --build=release --config=application && ../contract.sh bin/merkle",
    "haskell": "export CABAL_DIR=$PWD/dist-newstyle/cabal; flags='--offline -v0 --enable-tests'; cabal test $flags sha256:vectors merkle:properties merkle:interrupts"
               " && mkdir -p bin && cabal build $flags merkle:exe:merkle && cp $(cabal list-bin $flags merkle:exe:merkle) bin/merkle && ../contract.sh bin/merkle",
    "perl": "mkdir -p bin && printf '#!/bin/sh\\nexec perl -I%s/lib %s/script/merkle \"$@\"\\n' $PWD $PWD >bin/merkle && chmod +x bin/merkle && ../contract.sh bin/merkle && prove -Q -l t",
}

MUTANTS = [
    # Lengths of more than 2^32 bits.
    ("c/merkle_sha256.c", "(uint32_t)(hash->length >> 29)", "0"),
    ("c/merkle_sha256.c", "store32(length, (uint32_t)(bits >> 32));", "store32(length, 0);"),
    ("d/source/merkle/sha256.d", "cast(ubyte)((length * 8) >> (8 * i))", "cast(ubyte)(cast(ulong)(cast(uint) length * 8) >> (8 * i))"),
    ("d/source/merkle/sha256.d", "cast(ubyte)(length * 8 >> 8 * i)", "cast(ubyte)(ulong(cast(uint)(length * 8)) >> 8 * i)"),
    ("zig/src/sha256.zig", "length * 8, .big", "(length * 8) & 0xffffffff, .big"),
    ("go/pairs_amd64.go", "PutUint64(end[len(end)-8:], size*8)", "PutUint64(end[len(end)-8:], uint64(uint32(size*8)))"),
    ("haskell/sha256/src/Crypto/SHA256/Block.hs", "(bigEndian64 (total `shiftL` 3))", "(bigEndian64 (fromIntegral (fromIntegral (total `shiftL` 3) :: Word32)))"),
    # Borders of the padding.
    ("c/merkle_sha256.c", "size_t blocks = waiting + 1 + 8 <= MERKLE_SHA256_BLOCK ? 1 : 2;", "size_t blocks = waiting + 1 + 7 < MERKLE_SHA256_BLOCK - 1 ? 1 : 2;"),
    ("c/merkle_sha256.c", "lay.last = end + 1 + 8 <= MERKLE_SHA256_BLOCK ? 1 : 2;", "lay.last = end + 1 + 8 < MERKLE_SHA256_BLOCK ? 1 : 2;"),
    ("go/pairs_amd64.go", "if before+rest+9 > blockSize {", "if before+rest+9 > blockSize+1 {"),
    ("d/source/merkle/sha256.d", "inLast + rest + 9 <= 64 ? 64 : 128", "inLast + rest + 8 <= 64 ? 64 : 128"),
    ("zig/src/sha256.zig", "if (at + 9 <= 64) 64 else 128", "if (at + 8 <= 64) 64 else 128"),
    ("haskell/sha256/src/Crypto/SHA256/Block.hs", "blocks = if len < 56 then 1 else 2", "blocks = if len < 57 then 1 else 2"),
    # Portable code.
    ("c/merkle_sha256.c", "rotate(w[t - 15], 18)", "rotate(w[t - 15], 19)"),
    ("d/source/merkle/sha256.d", "ror(w[t - 15], 18)", "ror(w[t - 15], 19)"),
    # Names that other libraries have.
    ("c/merkle_sha256.c", "static const uint32_t INITIAL[8]", "const uint32_t INITIAL[8]"),
    # State that several goroutines share; a clone that shares.
    ("go/merkle.go", "many, first, count := newMany(t.hash), t.joined, t.waiting", "many, first, count := t.many, t.joined, t.waiting"),
    ("go/merkle.go", "clone.batch = append([]byte(nil), t.batch...)", "clone.batch = t.batch"),
    ("go/merkle.go", "clone.many, clone.leaf = newMany(t.hash), t.hash.New()", "clone.many, clone.leaf = newMany(t.hash), t.leaf"),
    ("perl/lib/Digest/Merkle.pm", "$copy->{subtrees} = [ @{ $self->{subtrees} } ];", ""),
    ("perl/lib/Digest/Merkle.pm", "$copy->{leaf}     = $self->{leaf}->clone if $self->{leaf};", ""),
    # Sizes of leaves and digests in proofs.
    ("c/merkle.c", "size == 0 || size > segment || (size < segment && !last_leaf)", "size == 0 || size > segment"),
    ("c/merkle.c", "size == 0 || size > segment || (size < segment && !last_leaf)", "size == 0 || (size < segment && !last_leaf)"),
    ("go/proof.go", "size == 0 || size > segment || size < segment && !isLast", "size > segment || size < segment && !isLast"),
    ("go/proof.go", "len(path) == 0 || len(path[0]) != h.Size()", "len(path) == 0"),
    ("zig/src/merkle.zig", "bytes.len > segment or (bytes.len < segment and !is_last)", "bytes.len > segment"),
    ("d/source/merkle/proof.d", "if (bytes.length < segment && index + 1 < leaves)", "if (false)"),
    ("perl/lib/Digest/Merkle/Proof.pm", "return 0 if length $bytes > $leaf->segment || $bytes eq q{};", "return 0 if $bytes eq q{};"),
    ("perl/lib/Digest/Merkle/Proof.pm", "return 0 if length $bytes < $leaf->segment && $index + 1 < $leaves;", ""),
    ("perl/lib/Digest/Merkle/Proof.pm", "return 0 if $index >= $leaves || grep { length != $size } $root, @{$path};", "return 0 if $index >= $leaves;"),
    ("haskell/merkle/src/Merkle/Proof.hs", "&& sizeFits", ""),
    ("haskell/merkle/src/Merkle/Proof.hs", "&& all ((== 32) . B.length) path", ""),
    # Interruptions.
    ("haskell/sha256/src/Crypto/SHA256/Block.hs", "{-# OPTIONS_GHC -fno-omit-yields #-}", ""),
    # Bad segments.
    ("d/source/merkle/tree.d", "if (segment < 1 || segment > maxSegment)", "if (segment > maxSegment)"),
    ("perl/lib/Digest/Merkle.pm", "|| $segment > $MAX_SEGMENT;", ";"),
    ("haskell/merkle/src/Merkle.hs", "size >= 1 && size <= maxSegment", "size >= 1"),
    # Two leaves side by side.
    ("c/merkle.c", "error = read(context, offset + tree->segment + at, buffer + half, size);", "error = read(context, offset + tree->segment, buffer + half, size);"),
    ("go/readerat.go", "offset, size = offset+2*segment, size-2*segment", "offset, size = offset+segment, size-2*segment"),
    ("zig/src/merkle.zig", "at += 2 * segment;", "at += segment;"),
    ("d/source/merkle/tree.d", "offset += 2 * segment_;", "offset += segment_;"),
    # The command line.
    ("c/main.c", "length > 13 || (text[0] == '0' && length > 1)", "length > 13"),
    ("go/cmd/merkle/args.go", "value > merkle.MaxSegment", "value > 2*merkle.MaxSegment"),
    ("d/app/args.d", 'if (options && argument == "--")', 'if (argument == "--")'),
    ("perl/script/merkle", 'die "$name takes no value\\n" if defined $value;', ""),
]


def passes(test, folder):
    environment = os.environ | CABAL | {"DIGEST_MERKLE_LIBMKSUM": "none"}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.run(["sh", "-c", test], check=False, cwd=folder, env=environment, timeout=1800, **quiet).returncode == 0


def survivors(copy, only):
    for language, command in TESTS.items():
        mutants = [mutant for mutant in MUTANTS if mutant[0].startswith(language + "/")]
        if only and language not in only:
            continue
        folder = copy / "languages" / language
        test = command.replace("{zig}", str(ZIG) if ZIG.exists() else "zig")
        if not passes(test, folder):
            sys.exit(f"mutants.py: the tests of {language} fail without a mutant: cd {folder} && {test}")
        for name, old, new in mutants:
            file = copy / "languages" / name
            text = file.read_text()
            if text.count(old) != 1:
                sys.exit(f"mutants.py: {name}: not there once: {old}")
            file.write_text(text.replace(old, new))
            survived = passes(test, folder)
            file.write_text(text)
            print(f"{'SURVIVED' if survived else 'noticed'}: {name}: {old}  ->  {new or 'nothing'}", flush=True)
            if survived:
                yield name


def main():
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder)
        for name in subprocess.run(["git", "ls-files", "languages", "vectors", "spec"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy / name)
        lived = list(survivors(copy, sys.argv[1:]))
        if lived:
            sys.exit(f"mutants.py: {len(lived)} survived")
        print("no mutant survived")


if __name__ == "__main__":
    main()
