#!/bin/sh
# Installs Go if it is missing, builds bin/merkle, and tests everything of this folder.
set -eu
cd "$(dirname "$0")"
[ "$(id -u)" -eq 0 ] && sudo= || sudo=sudo

if ! command -v go >/dev/null; then
    echo "test.sh: installing golang-go" >&2
    $sudo apt-get update -qq
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends golang-go
fi
export CGO_ENABLED=0
go version

mkdir -p bin
go build -trimpath -o bin/merkle ./cmd/merkle

unformatted=$(gofmt -l .)
if [ -n "$unformatted" ]; then
    echo "test.sh: gofmt would change: $unformatted" >&2
    exit 1
fi
go vet ./...
GOARCH=arm64 go vet ./...
case $(go env GOVERSION) in
go1.1? | go1.1?.* | go1.2[0-4] | go1.2[0-4].*) echo "test.sh: staticcheck needs a newer Go: left out" >&2 ;;
*) go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./... ;;
esac

go test ./...
go test -tags purego ./...
# A worker that shrinks what it found interesting tests nothing new meanwhile: it may not take long.
go test -run '^$' -fuzz FuzzPiecesAndProofs -fuzztime 10s -fuzzminimizetime 100x -parallel 1 .
echo "languages/go: built and tested"
