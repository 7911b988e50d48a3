#!/bin/sh
# Tests one program against the contract that all languages share (README.md, "One contract"):
#
#     contract.sh PROGRAM [HASH…]
#     contract.sh --simple PROGRAM      the simple program of a folder, called as PROGRAM SEGMENT FILE: the rows of plain with SHA-256
#
# The rows of vectors/rows and rows/ for sha256 and for each further HASH that the program has; the command line; pipes with
# short reads; and for every error a message, the right exit status, and no root.
# shellcheck disable=SC2094,SC2015,SC2059 # files are read twice; `A && B || die` is meant so; rows and letters are formats
set -eu

here=$(cd "$(dirname "$0")" && pwd)
simple=
if [ "$1" = --simple ]; then simple=yes && shift; fi
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

if [ "$simple" ]; then
    # A byte of mod251 and one of pat by its offset, and the rows whose input has no more than two mebibytes.
    LC_ALL=C awk 'BEGIN { for (i = 0; i < 2097153; i++) printf "%c", i % 251 }' >mod251
    LC_ALL=C awk 'BEGIN { for (i = 0; i < 65536; i++) printf "%c", (i * 131 + int(i / 256) * 17) % 256 }' >pattern
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17; do cat pattern; done >pat
    awk -F '\t' -v OFS='\t' '/^plain:sha256:[0-9]+(KiB)?\t/ && $3 <= 2097153 { split($1, f, ":"); print f[3] * ($1 ~ /KiB/ ? 1024 : 1), $2, $3, $4 }' \
        "$here/../vectors/rows/plain.tsv" >rows.tsv
    while read -r segment input length root; do
        head -c "$length" "$input" >file
        "$program" "$segment" file | expect "$root" "segments of $segment, $length bytes of $input"
    done <rows.tsv
    # The last row once more, by a pipe with short reads.
    tail -n 1 rows.tsv >last.tsv
    read -r segment _ _ root <last.tsv
    dd bs=4097 <file 2>dd.log | "$program" "$segment" /dev/stdin | expect "$root" "segments of $segment by a pipe"
    # fails NAME ARGUMENT…: the program fails with a message, and prints nothing.
    fails() {
        name=$1 status=0
        shift
        "$program" "$@" >out 2>err || status=$?
        { [ $status -ne 0 ] && [ ! -s out ] && [ -s err ]; } || die "$name: exit status $status, printed '$(cat out)', the message '$(cat err)'"
    }
    fails "a file that is not there" 64 no-such-file
    fails "a folder" 64 .
    for segment in '' 0 -1 64x x 18446744073709551617; do
        fails "segments of '$segment'" "$segment" file
    done
    status=0
    "$program" 64 file >/dev/full 2>err || status=$?
    { [ $status -ne 0 ] && [ -s err ]; } || die "a full disk: exit status $status, the message '$(cat err)'"
    echo "$program: $(wc -l <rows.tsv) rows hold"
    exit
fi

# refuses STATUS TEXT NAME ARGUMENT…: the program fails with this exit status and prints nothing but a message that holds
# TEXT. Standard input goes to the program.
refuses() {
    expected=$1 text=$2 name=$3 status=0
    shift 3
    timeout 60 "$program" "$@" >out 2>err || status=$?
    [ $status -eq "$expected" ] || die "$name: exit status $status, expected $expected: $(head -c 200 err)"
    [ ! -s out ] || die "$name: printed on standard output: $(head -c 200 out)"
    head -n 1 err | grep -q '^merkle: ' || die "$name: the message is '$(head -c 200 err)', expected 'merkle: …'"
    grep -qF -- "$text" err || die "$name: the message '$(head -c 200 err)' lacks '$text'"
}

# ---- Rows -----------------------------------------------------------------------------------------------------------
# rows OPTION COLUMNS LEAST: the program completes these columns of expected.tsv, which are hidden from it.
rows() {
    count=$(wc -l <expected.tsv)
    [ "$count" -ge "$3" ] || die "only $count rows for $1"
    awk -F '\t' -v OFS='\t' -v columns="$2" '{ n = split(columns, c, " "); for (i = 1; i <= n; i++) $c[i] = "?"; print }' \
        expected.tsv >asked.tsv
    "$program" "$1" <asked.tsv >printed.tsv || die "$1 failed"
    diff expected.tsv printed.tsv || die "the rows of $1 above differ"
    total=$((${total:-0} + count))
}

grep -hE "^(plain|rfc6962):($hashes):" "$here/../vectors/rows/plain.tsv" "$here/../vectors/rows/rfc6962.tsv" \
    "$here/rows/segments.tsv" >expected.tsv
rows --rows 4 700
grep -v '^#' "$here/rows/proofs.tsv" >expected.tsv
rows --prove '5 6' 300
grep -v '^#' "$here/rows/verdicts.tsv" >expected.tsv
rows --verify 7 1000

printf '# a comment\tis copied\n' >comment.tsv
for option in --rows --prove --verify; do
    "$program" $option <comment.tsv | cmp - comment.tsv || die "$option: a comment line is copied"
done
printf 'plain:sha256:4\tmod251\t0\t?\tno newline' | "$program" --rows |
    expect "$(printf 'plain:sha256:4\tmod251\t0\te3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\tno newline')" \
        "a last row without a newline"

# ---- Files, pipes, segment sizes ------------------------------------------------------------------------------------
empty=e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
zeros=e9683665a90bd70aabd7705cba57c2be2a4e913a0ca1a14d765497112c178120
letters=e30f1444ac52d1ee4c9101fc5e6f8af497f0075606d2513a3af0f44cf9c11318
letters_rfc6962=1b74633241a74d51e2843cff6143f6d31c9dcf0c41f35f0a7448696d165a5f90

head -c 4194336 /dev/zero >zeros
: >empty
printf abcdefghijklmnopqr >letters
"$program" zeros | expect $zeros "2^22+32 zero bytes"
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

# Long leaves, of which a program may read two at a time: from a file, from a pipe, and from a file whose first bytes
# another program has read. mod251 rows tell what comes out.
yes 0123456789abcde | head -c 1500000 >text
for format in plain rfc6962; do
    for segment in 65536 131072 131073 200000 262144 500000 750000 1499999 1500000; do
        "$program" --format $format --segment $segment <text >from-file
        # shellcheck disable=SC2002 # a pipe is what is tested
        cat text | "$program" --format $format --segment $segment >from-pipe
        cmp from-file from-pipe || die "$format, segments of $segment: a file and a pipe differ"
        "$program" --format $format --segment $segment text | cmp - from-pipe || die "$format, segments of $segment: a named file and a pipe differ"
        (dd bs=1 count=777 of=skipped 2>dd.log; "$program" --format $format --segment $segment) <text >from-file
        tail -c +778 text | "$program" --format $format --segment $segment >from-pipe
        cmp from-file from-pipe || die "$format, segments of $segment: a file that was read from and a pipe differ"
    done
done
# 2^29 + 1 bytes have more than 2^32 bits.
truncate -s 536870913 sparse
"$program" --segment 1099511627776 sparse |
    expect 7c40fe5ce847740d0f0d0cdde3949d6585804cdec3ae61a15b923165699c8137 "a leaf of 2^29+1 zero bytes"

# ---- The command line -----------------------------------------------------------------------------------------------
"$program" --help | cmp - "$here/usage.txt" || die "--help differs from usage.txt"
printf 'a file\n' >'a b'
cp letters ./--segment
cp letters ./-
umlaut=$(printf 'na\303\257ve \342\202\254')
cp letters "$umlaut"
invalid=$(printf 'no\377utf8')
cp letters "$invalid"
while IFS='|' read -r root arguments; do
    # shellcheck disable=SC2086 # arguments without spaces
    "$program" $arguments <zeros | expect "$root" "merkle $arguments"
done <<END
$letters|--segment=4 letters
$letters|--format=plain --segment=4 letters
$letters_rfc6962|--format=rfc6962 --segment=4 letters
$letters|letters --segment 4
$letters|letters --segment=4
$letters_rfc6962|--segment 4 letters --format rfc6962
$letters|--segment 4 -- letters
$letters|--segment 4 letters --
$letters|--segment 4 -- --segment
$letters|--segment=4 ./-
$zeros|-
$zeros|--
$zeros|-- -
$letters|--segment 64 --segment 4 letters
$letters|--format rfc6962 --format plain --segment 4 letters
$(sha256sum <letters | cut -d ' ' -f 1)|--segment 1099511627776 letters
END
for locale in C C.UTF-8; do
    LC_ALL=$locale "$program" --segment 4 "$umlaut" | expect $letters "a name in UTF-8, locale $locale"
    LC_ALL=$locale "$program" --segment 4 "$invalid" | expect $letters "a name that is not UTF-8, locale $locale"
    LC_ALL=$locale refuses 1 "$umlaut-" "a name in UTF-8 that is not there, locale $locale" "$umlaut-"
    LC_ALL=$locale refuses 1 no "a name that is not UTF-8 and not there, locale $locale" "$invalid-"
    LC_ALL=$locale refuses 2 "--$umlaut" "an option in UTF-8, locale $locale" "--$umlaut"
done

refuses 2 zeros "a second file" letters zeros
refuses 2 zeros "a second file after --" letters -- zeros
refuses 2 --segment "a second file that looks like an option" letters -- --segment
for option in --no-such-option --seg --form --row --rate --h -s -h -v --Segment --; do
    [ $option = -- ] || refuses 2 $option "the option $option" $option letters
    refuses 2 $option=4 "the option $option=4" $option=4 letters
done
refuses 2 -segment "an option with one dash" -segment 4 letters
refuses 2 sha256 "an unknown format" --format sha256 letters
refuses 2 PLAIN "a format in capitals" --format PLAIN letters
refuses 2 --format "an empty format" --format "" letters
refuses 2 --format "an empty format after =" --format= letters
refuses 2 --format "a missing format" letters --format
refuses 2 --segment "a missing segment" letters --segment
refuses 2 --segment "an option in place of a segment" --segment --format letters
refuses 2 --help "a value for --help" --help=yes
refuses 2 --rows "a value for --rows" --rows=1 </dev/null
for number in 0 -1 +1 "" x 64x 1e3 0x40 " 64" "64 " 1.5 064 1_0 1099511627777 18446744073709551616 99999999999999999999; do
    refuses 2 --segment "segments of '$number'" --segment "$number" letters
    refuses 2 --segment "segments of '=$number'" "--segment=$number" letters
    refuses 2 --hash-rate "a hash rate of '$number'" --hash-rate "$number"
done
for option in --rows --prove --verify '--hash-rate 1'; do
    # shellcheck disable=SC2086 # an option and its value
    {
        refuses 2 "${option% *}" "$option and a file" $option letters </dev/null
        refuses 2 "${option% *}" "$option and a segment" $option --segment 4 </dev/null
        refuses 2 "${option% *}" "$option and a format" --format plain $option </dev/null
    }
done
refuses 2 --rows "--rows and --prove" --rows --prove </dev/null
refuses 2 --verify "--verify and --hash-rate" --hash-rate 1 --verify </dev/null

# ---- Errors ---------------------------------------------------------------------------------------------------------
refuses 1 no-such-file "a file that is not there" no-such-file
refuses 1 "" "a file without a name" ""
refuses 1 "$work" "a directory" "$work"
refuses 1 "standard input" "a directory on standard input" <"$work"
# A row that cannot be computed is never skipped and never copied.
while read -r option row; do
    printf "$row\n" >row.tsv
    refuses 1 "row 1" "$option: the row '$row'" "$option" <row.tsv
done <<'END'
--rows mtsum:sha256:64\tmod251\t1\t?\tdefinition
--rows plain:sha9:64\tmod251\t1\t?\tdefinition
--rows plain:sha256\tmod251\t1\t?\tdefinition
--rows plain:sha256:0\tmod251\t1\t?\tdefinition
--rows plain:sha256:64KB\tmod251\t1\t?\tdefinition
--rows plain:sha256:2TiB\tmod251\t1\t?\tdefinition
--rows plain:sha256:1099511627777\tmod251\t1\t?\tdefinition
--rows plain:sha256:99999999999999999999GiB\tmod251\t1\t?\tdefinition
--rows plain:sha256:064\tmod251\t1\t?\tdefinition
--rows plain:sha256:64:64\tmod251\t1\t?\tdefinition
--rows plain:sha256:64\tzeros\t1\t?\tdefinition
--rows plain:sha256:64\tmod251\tx\t?\tdefinition
--rows plain:sha256:64\tmod251\t-1\t?\tdefinition
--rows plain:sha256:64\tmod251\t01\t?\tdefinition
--rows plain:sha256:64\tmod251\t\t?\tdefinition
--rows plain:sha256:64\tmod251\t1099511627777\t?\tdefinition
--rows plain:sha256:64\tmod251\t1\t?
--rows plain:sha256:64\tmod251\t1\t?\tdefinition\tmore
--rows plain:sha256:64\tmod251
--rows x
--rows \040
--rows \n
--prove plain:sha256:4\tmod251\t8\t2\t?\t?\tdefinition
--prove plain:sha256:4\tmod251\t0\t0\t?\t?\tdefinition
--prove plain:sha256:4\tmod251\t8\tx\t?\t?\tdefinition
--prove plain:sha256:4\tmod251\t8\t1\t?\tdefinition
--prove plain:sha256:4\tmod251\t8\t1\t?\t?\tdefinition\tmore
--prove plain:sha9:4\tmod251\t8\t1\t?\t?\tdefinition
--verify plain:sha256:4\t1\t0\t00\t00\t-\t?
--verify plain:sha256:4\t1\t0\t00\t00\t-\t?\tdefinition\tmore
--verify plain:sha256:4\t1\t0\t0\t00\t-\t?\tdefinition
--verify plain:sha256:4\t1\t0\t0x\t00\t-\t?\tdefinition
--verify plain:sha256:4\t1\t0\t00\t0g\t-\t?\tdefinition
--verify plain:sha256:4\t1\t0\t00\t00\t00,\t?\tdefinition
--verify plain:sha256:4\t1\t0\t00\t00\t,\t?\tdefinition
--verify plain:sha256:4\t1\t0\t\t00\t-\t?\tdefinition
--verify plain:sha256:4\t01\t0\t00\t00\t-\t?\tdefinition
--verify plain:sha256:4\t1099511627777\t0\t00\t00\t-\t?\tdefinition
--verify plain:sha256:0\t1\t0\t00\t00\t-\t?\tdefinition
END
if [ "$(id -u)" -ne 0 ]; then
    : >secret
    chmod 0 secret
    refuses 1 secret "a file that may not be read" secret
fi
if [ -r /proc/self/mem ]; then
    refuses 1 /proc/self/mem "a file whose first byte cannot be read" /proc/self/mem
fi
if [ -w /dev/full ]; then
    for option in --help --segment=64; do
        status=0
        "$program" $option letters >/dev/full 2>err || status=$?
        [ $status -eq 1 ] && grep -q '^merkle: standard output' err ||
            die "$option on a full disk: exit status $status, message '$(cat err)'"
    done
fi

# ---- Hash rate ------------------------------------------------------------------------------------------------------
"$program" --hash-rate 10000 >rate
grep -qE '^[0-9]+\.[0-9]+ s [0-9]+\.[0-9]+ MH/s$' rate || die "--hash-rate: printed '$(cat rate)', expected 'SECONDS s RATE MH/s'"

echo "$program: $total rows and the contract hold"
