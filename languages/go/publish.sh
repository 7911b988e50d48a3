#!/bin/sh
# The dry run of a module proxy: packs the module with the proxy's checks, and builds a project over it. Publishes nothing.
set -eu
cd "$(dirname "$0")"
../need.sh go:golang-go
export CGO_ENABLED=0

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
echo "languages/go: ready to publish"
