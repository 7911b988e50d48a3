// Log reads, checks and writes logs in the format tlog-tiles (c2sp.org/tlog-tiles) with the libraries of the Go ecosystem:
// golang.org/x/mod/sumdb (notes, tiles, proofs), filippo.io/torchwood (proof files, policies, cosignatures) and
// github.com/transparency-dev/tessera (its client and its fsck). scripts/log.py compares mksum's logs with them.
//
// SOURCE is a folder or the URL of a web server.
//
//	log verify SOURCE VKEY             every entry, tile and hash, by all three; prints size, root and the digest of the entries
//	log extends SOURCE VKEY FILE…      whether each of these checkpoints was signed for a beginning of the log
//	log write FOLDER NAME SIZE…        grows a log of its own through these sizes, with a checkpoint at each; prints its key
//	log prove SOURCE INDEX             prints a proof file of an entry
//	log check PROOF POLICY ENTRY       checks a proof file, by a policy and the file with the entry
//	log consistency SOURCE OLD NEW     prints the digests of a proof of consistency, one a line in Base64
//	log witness NAME KEYFILE           prints the key of a witness; makes it if the file is not there; of ML-DSA-44 if NAME begins with mldsa
//	log cosign NAME KEYFILE FILE       prints the checkpoint in a file with a witness's cosignature
//	log serve NAME KEYFILE VKEY        is a witness of a log on 127.0.0.1; prints its URL
package main

import (
	"fmt"
	"io"
	"log"
	"os"
	"strconv"

	"k8s.io/klog/v2"
)

// The commands, each with the least number of its arguments.
var commands = map[string]struct {
	least int
	run   func(arguments []string) error
}{
	"verify":      {2, func(a []string) error { return verify(newSource(a[0]), a[1]) }},
	"extends":     {2, func(a []string) error { return extends(newSource(a[0]), a[1], a[2:]) }},
	"write":       {3, func(a []string) error { return write(a[0], a[1], numbers(a[2:])) }},
	"prove":       {2, func(a []string) error { return prove(newSource(a[0]), number(a[1])) }},
	"check":       {3, func(a []string) error { return check(a[0], a[1], a[2]) }},
	"consistency": {3, func(a []string) error { return consistency(newSource(a[0]), number(a[1]), number(a[2])) }},
	"witness":     {2, func(a []string) error { return witness(a[0], a[1]) }},
	"cosign":      {3, func(a []string) error { return cosign(a[0], a[1], a[2]) }},
	"serve":       {3, func(a []string) error { return serveWitness(a[0], a[1], a[2]) }},
}

func main() {
	log.SetFlags(0)
	// Tessera reports its progress there.
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	if len(os.Args) < 2 {
		log.Fatal("log: no command")
	}
	command, ok := commands[os.Args[1]]
	if !ok || len(os.Args)-2 < command.least {
		log.Fatalf("log: no such command, or arguments are missing: %v", os.Args[1:])
	}
	if err := command.run(os.Args[2:]); err != nil {
		log.Fatalf("log %s: %v", os.Args[1], err)
	}
}

func number(text string) int64 {
	value, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func numbers(texts []string) (values []int64) {
	for _, text := range texts {
		values = append(values, number(text))
	}
	return values
}

// entry returns the entry at an index of the logs that this program writes.
func entry(index int64) []byte { return fmt.Appendf(nil, "entry %d of another program", index) }
