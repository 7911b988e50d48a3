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

# What `go get` gives: the packed module, checked as the module proxy checks it, in a project of its own.
rm -rf bin/packed
mkdir -p bin/packed/user
(cd release && go vet . && go build -o ../bin/release .)
rm -rf bin/copy && mkdir bin/copy && cp -r -- *.go *.s go.mod README.md LICENSE-* cmd simple bin/copy/
bin/release bin/copy v0.1.0 "$PWD/bin/packed/proxy"
module=$(go list -m)
cat >bin/packed/user/main.go <<END
package main

import (
	"fmt"

	merkle "$module"
)

func main() {
	tree := merkle.New(merkle.RFC6962, 4)
	tree.Write([]byte("abcdefghijklmnopqr"))
	fmt.Printf("%x\n", tree.Sum(nil))
}
END
(
    cd bin/packed/user
    export GOPROXY="file://$PWD/../proxy" GONOSUMDB='*' GOFLAGS=-modcacherw GOMODCACHE="$PWD/../modules" GOBIN="$PWD/bin" GOWORK=off
    go mod init user.example/user 2>/dev/null
    go get "$module@v0.1.0"
    [ "$(go run .)" = 1b74633241a74d51e2843cff6143f6d31c9dcf0c41f35f0a7448696d165a5f90 ]
    go install "$module/cmd/merkle@v0.1.0"
    bin/merkle --help | cmp - ../../../../usage.txt
)
echo "languages/go: built and tested"
