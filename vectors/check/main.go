// Check reads rows of rfc6962, plain and blake3-pairs from standard input and prints them with the root that a Go
// library computes: `check tlog` uses golang.org/x/mod/sumdb/tlog, `check merkle` github.com/transparency-dev/merkle.
// With `check proofs MKSUM`, both libraries and the program mksum verify each other's proofs.
package main

import (
	"bufio"
	"crypto"
	_ "crypto/md5"
	_ "crypto/sha1"
	_ "crypto/sha256"
	_ "crypto/sha512"
	"encoding/hex"
	"fmt"
	"hash"
	"log"
	"os"
	"strconv"
	"strings"

	"github.com/emmansun/gmsm/sm3"
	"github.com/transparency-dev/merkle/compact"
	"github.com/transparency-dev/merkle/rfc6962"
	_ "golang.org/x/crypto/blake2b"
	_ "golang.org/x/crypto/blake2s"
	_ "golang.org/x/crypto/ripemd160"
	"golang.org/x/mod/sumdb/tlog"
	"lukechampine.com/blake3"
)

// The hashes that Go registers by number, which do not include blake3 and sm3.
var registered = map[string]crypto.Hash{
	"md5": crypto.MD5, "sha1": crypto.SHA1, "sha224": crypto.SHA224, "sha256": crypto.SHA256, "sha384": crypto.SHA384,
	"sha512": crypto.SHA512, "sha512-256": crypto.SHA512_256, "blake2s": crypto.BLAKE2s_256, "blake2b": crypto.BLAKE2b_512,
	"ripemd160": crypto.RIPEMD160,
}

func main() {
	log.SetFlags(0)
	if len(os.Args) == 3 && os.Args[1] == "proofs" {
		checkProofs(os.Args[2])
		return
	}
	roots := map[string]func(name, hash string, leaves [][]byte) []byte{"tlog": byTlog, "merkle": byMerkle}
	rows := bufio.NewScanner(os.Stdin)
	for rows.Scan() {
		column := strings.Split(rows.Text(), "\t")
		format := strings.Split(column[0], ":")
		length, err := strconv.Atoi(column[2])
		if err != nil {
			log.Fatal(err)
		}
		hash, leaf := "blake3", 32 // blake3-pairs
		if len(format) == 3 {
			hash, leaf = format[1], size(format[2])
		}
		column[3] = hex.EncodeToString(roots[os.Args[1]](format[0], hash, pieces(input(column[1], length), leaf)))
		fmt.Println(strings.Join(column, "\t"))
	}
}

// byTlog returns the tree hash of a log whose records are the leaves.
func byTlog(name, hash string, leaves [][]byte) []byte {
	if name != "rfc6962" || hash != "sha256" {
		log.Fatalf("tlog does not support %s:%s", name, hash)
	}
	var stored []tlog.Hash
	reader := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		var hashes []tlog.Hash
		for _, index := range indexes {
			hashes = append(hashes, stored[index])
		}
		return hashes, nil
	})
	for i, leaf := range leaves {
		hashes, err := tlog.StoredHashes(int64(i), leaf, reader)
		if err != nil {
			log.Fatal(err)
		}
		stored = append(stored, hashes...)
	}
	root, err := tlog.TreeHash(int64(len(leaves)), reader)
	if err != nil {
		log.Fatal(err)
	}
	return root[:]
}

// byMerkle returns the root of the compact range over the leaves.
func byMerkle(name, hash string, leaves [][]byte) []byte {
	leafHash, nodeHash, empty := hashing(name, hash)
	if len(leaves) == 0 {
		return empty
	}
	tree := (&compact.RangeFactory{Hash: nodeHash}).NewEmptyRange(0)
	for _, leaf := range leaves {
		if err := tree.Append(leafHash(leaf), nil); err != nil {
			log.Fatal(err)
		}
	}
	root, err := tree.GetRootHash(nil)
	if err != nil {
		log.Fatal(err)
	}
	return root
}

// hashing returns a format's leaf hash, node hash and root of empty input. For rfc6962 with a hash that
// Go registers, they are the library's own.
func hashing(name, hash string) (leaf func([]byte) []byte, node func(l, r []byte) []byte, empty []byte) {
	if number, ok := registered[hash]; ok && name == "rfc6962" {
		library := rfc6962.New(number)
		return library.HashLeaf, library.HashChildren, library.EmptyRoot()
	}
	digest := func(parts ...[]byte) []byte {
		h := newHash(hash)
		for _, part := range parts {
			h.Write(part)
		}
		return h.Sum(nil)
	}
	switch name {
	case "rfc6962":
		return func(bytes []byte) []byte { return digest([]byte{0}, bytes) },
			func(l, r []byte) []byte { return digest([]byte{1}, l, r) }, digest()
	case "plain":
		return func(bytes []byte) []byte { return digest(bytes) }, func(l, r []byte) []byte { return digest(l, r) }, digest()
	case "blake3-pairs":
		return func(bytes []byte) []byte { return bytes }, func(l, r []byte) []byte { return digest(l, r) }, nil
	}
	log.Fatalf("merkle does not support %s", name)
	return nil, nil, nil
}

func newHash(name string) hash.Hash {
	switch name {
	case "blake3":
		return blake3.New(32, nil)
	case "sm3":
		return sm3.New()
	}
	return registered[name].New()
}

func input(pattern string, length int) []byte {
	bytes := make([]byte, length)
	for i := range bytes {
		switch pattern {
		case "mod251":
			bytes[i] = byte(i % 251)
		case "pat":
			bytes[i] = byte(i*131 + (i>>8)*17)
		default:
			log.Fatalf("unknown input: %s", pattern)
		}
	}
	return bytes
}

func size(text string) int {
	for i, unit := range []string{"KiB", "MiB"} {
		if digits, ok := strings.CutSuffix(text, unit); ok {
			return size(digits) << (10 * (i + 1))
		}
	}
	bytes, err := strconv.Atoi(text)
	if err != nil {
		log.Fatal(err)
	}
	return bytes
}

func pieces(bytes []byte, size int) (cut [][]byte) {
	for ; len(bytes) > size; bytes = bytes[size:] {
		cut = append(cut, bytes[:size])
	}
	if len(bytes) > 0 {
		cut = append(cut, bytes)
	}
	return cut
}
