#!/bin/sh
# Holds one program to the contract that is the same in all languages:
#
#     contract.sh PROGRAM [HASH…]
#
# The rows of vectors/rows and of rows/, for sha256 and any other HASH that the program's standard library has; pipes with
# short reads; and for every error a message, an exit status of 1 or 2, and no root.
# shellcheck disable=SC2094,SC2015,SC2059 # files are read twice; `A && B || die` is meant so; letters are no format
set -eu

here=$(cd "$(dirname "$0")" && pwd)
program=$(realpath "$1")
shift
hashes=$(echo sha256 "$@" | tr ' ' '|')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

die() {
    echo "contract.sh: $program: $*" >&2
    exit 1
}

# expect ROOT NAME: standard input is what the program printed.
expect() {
    printed=$(cat)
    [ "$printed" = "$1" ] || die "$2: printed '$printed', expected '$1'"
}

# refuses NAME ARGUMENT…: an error of the contract. Standard input goes to the program.
refuses() {
    name=$1 status=0
    shift
    timeout 60 "$program" "$@" >out 2>err || status=$?
    case $status in
    1 | 2) ;;
    *) die "$name: exit status $status, expected 1 or 2" ;;
    esac
    [ ! -s out ] || die "$name: printed on standard output: $(head -c 200 out)"
    [ -s err ] || die "$name: no message on standard error"
}

# ---- Rows -----------------------------------------------------------------------------------------------------------
grep -hE "^(plain|rfc6962):($hashes):" "$here/../vectors/rows/plain.tsv" "$here/../vectors/rows/rfc6962.tsv" \
    "$here/rows/segments.tsv" >expected.tsv
count=$(wc -l <expected.tsv)
[ "$count" -ge 700 ] || die "only $count rows to compare"
# The root is to be computed, not copied.
awk -F '\t' -v OFS='\t' '{ $4 = "?"; print }' expected.tsv >asked.tsv
"$program" --rows <asked.tsv >printed.tsv || die "--rows failed"
diff expected.tsv printed.tsv || die "the rows above differ"
printf '# a comment\tis copied\n' >comment.tsv
"$program" --rows <comment.tsv | cmp - comment.tsv || die "a comment line is copied"

# ---- Files, pipes, segment sizes ------------------------------------------------------------------------------------
empty=e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
zeros=e9683665a90bd70aabd7705cba57c2be2a4e913a0ca1a14d765497112c178120
letters=e30f1444ac52d1ee4c9101fc5e6f8af497f0075606d2513a3af0f44cf9c11318
letters_rfc6962=1b74633241a74d51e2843cff6143f6d31c9dcf0c41f35f0a7448696d165a5f90

head -c 4194336 /dev/zero >zeros
: >empty
printf abcdefghijklmnopqr >letters
"$program" zeros | expect $zeros "2^22+32 zero bytes"
"$program" --format plain --segment 64 zeros | expect $zeros "2^22+32 zero bytes, options given"
"$program" <zeros | expect $zeros "2^22+32 zero bytes on standard input"
# shellcheck disable=SC2002 # a pipe is what is tested
cat zeros | "$program" | expect $zeros "2^22+32 zero bytes by a pipe"
(head -c 1 zeros; sleep 0.1; tail -c +2 zeros | dd bs=4097 2>dd.log) | "$program" |
    expect $zeros "2^22+32 zero bytes by a pipe with short reads"
(head -c 131000 zeros; sleep 0.1; tail -c +131001 zeros | dd bs=13 count=300 2>dd.log; sleep 0.1; tail -c +134901 zeros) |
    "$program" | expect $zeros "2^22+32 zero bytes by a pipe that stops"
for format in plain rfc6962; do
    "$program" --format $format empty | expect $empty "$format of an empty file"
    "$program" --format $format </dev/null | expect $empty "$format of no input"
done
"$program" --format plain --segment 4 letters | expect $letters "the worked example of spec/plain.md"
"$program" --format rfc6962 --segment 4 <letters | expect $letters_rfc6962 "the worked example of spec/rfc6962.md"
(for letter in a b c d e f g h i j k l m n o p q r; do printf $letter; done) |
    "$program" --format rfc6962 --segment 4 | expect $letters_rfc6962 "eighteen writes of one byte"
"$program" --segment 8388608 zeros | expect "$(sha256sum <zeros | cut -d ' ' -f 1)" "one leaf that is not full"

# ---- Errors ---------------------------------------------------------------------------------------------------------
refuses "a file that is not there" no-such-file
refuses "a directory" "$work"
refuses "a directory on standard input" <"$work"
refuses "a second file" letters zeros
refuses "an unknown option" --no-such-option letters
refuses "an unknown format" --format sha256 letters
refuses "an empty format" --format "" letters
refuses "a format that is missing" letters --format
refuses "a segment that is missing" letters --segment
for segment in 0 -1 "" x 64x 1e3 0x40 " 64" 1.5 99999999999999999999; do
    refuses "segments of '$segment'" --segment "$segment" letters
done
refuses "a hash rate of no hashes" --hash-rate 0
refuses "a hash rate of x" --hash-rate x
# A row of an unknown format, pattern or length, or with a column too few, is never skipped and never copied.
for row in 'mtsum:sha256\tmod251\t1' 'plain:sha9:64\tmod251\t1' 'plain:sha256:0\tmod251\t1' 'plain:sha256:64\tzeros\t1' \
    'plain:sha256:64\tmod251\tx' 'plain:sha256:64\tmod251\t-1' 'plain:sha256:64\tmod251' 'plain:sha256:64' 'x'; do
    # shellcheck disable=SC2059 # the row holds the tabs
    printf "$row\t?\tdefinition\n" >row.tsv
    refuses "the row '$row'" --rows <row.tsv
done
if [ "$(id -u)" -ne 0 ]; then
    : >secret
    chmod 0 secret
    refuses "a file that may not be read" secret
fi
if [ -r /proc/self/mem ]; then
    refuses "a file whose first byte cannot be read" /proc/self/mem
fi
if [ -w /dev/full ]; then
    status=0
    "$program" letters >/dev/full 2>err || status=$?
    { [ $status -eq 1 ] || [ $status -eq 2 ]; } && [ -s err ] || die "a full disk: exit status $status"
fi

# ---- Hash rate ------------------------------------------------------------------------------------------------------
"$program" --hash-rate 10000 >rate
grep -qE '^[0-9.]+ s,? [0-9.]+ MH/s$' rate || die "--hash-rate: printed '$(cat rate)', expected 'SECONDS s RATE MH/s'"

echo "$program: $count rows and the contract hold"
