#!/bin/sh
# Installs Go if it is missing, builds bin/merkle, and tests everything of this folder.
set -eu
cd "$(dirname "$0")"

../need.sh go:golang-go gcc:gcc /usr/include/stdlib.h:libc6-dev
export CGO_ENABLED=0
go version

mkdir -p bin
go build -trimpath -o bin/merkle ./cmd/merkle
go build -trimpath -o bin/simple ./simple

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
# The race detector needs a C compiler.
CGO_ENABLED=1 go test -race -run 'Concurrent|Clone|AppendFrom' .
# A worker that minimizes an interesting input tests nothing new meanwhile: it may not take long.
go test -run '^$' -fuzz FuzzPiecesAndProofs -fuzztime 5s -fuzzminimizetime 100x -parallel 1 .
echo "languages/go: built and tested"
