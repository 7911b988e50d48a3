// Command simple prints the Merkle root of a file: go run ./simple SEGMENT FILE
//
// It is the whole idea of this module in one file, with the standard library's SHA-256. A leaf is the hash of one segment, a node
// the hash of its two children's digests, and neither has a prefix (the format plain).
package main

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
)

type digest = [sha256.Size]byte

// tree holds the roots of perfect subtrees, at most one of each height: the binary digits of the number of leaves.
type tree struct {
	subtrees [64]digest // [k] is the root of 2^k leaves, where bit k of leaves is set
	leaves   uint64
}

// push appends a leaf as one is added to a binary number: each carry joins two subtrees of equal height.
func (t *tree) push(leaf digest) {
	level := 0
	for ; t.leaves>>level&1 == 1; level++ {
		leaf = node(t.subtrees[level], leaf)
	}
	t.subtrees[level] = leaf
	t.leaves++
}

// root joins the subtrees along the right edge, the smallest first. A tree without leaves has the hash of no bytes.
func (t *tree) root() digest {
	root, found := sha256.Sum256(nil), false
	for level, left := range t.subtrees {
		switch {
		case t.leaves>>level&1 == 0:
		case found:
			root = node(left, root)
		default:
			root, found = left, true
		}
	}
	return root
}

func node(left, right digest) digest {
	var pair [2 * sha256.Size]byte
	copy(pair[:sha256.Size], left[:])
	copy(pair[sha256.Size:], right[:])
	return sha256.Sum256(pair[:])
}

// rootOf reads to the end, one segment at a time. Only the last one may be shorter.
func rootOf(in io.Reader, segment int) (digest, error) {
	var t tree
	buffered, leaf := bufio.NewReaderSize(in, 1<<17), make([]byte, segment)
	for {
		n, err := io.ReadFull(buffered, leaf)
		if n > 0 {
			t.push(sha256.Sum256(leaf[:n]))
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return t.root(), nil
		}
		if err != nil {
			return digest{}, err
		}
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return errors.New("usage: simple SEGMENT FILE")
	}
	segment, err := strconv.ParseInt(args[0], 10, 64)
	if err != nil || segment < 1 || segment > 1<<40 {
		return fmt.Errorf("'%s' is not a number of bytes from 1 to 2^40", args[0])
	}
	file, err := os.Open(args[1])
	if err != nil {
		return err
	}
	defer file.Close()
	root, err := rootOf(file, int(segment))
	if err != nil {
		return err
	}
	_, err = fmt.Printf("%x\n", root)
	return err
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "simple:", err)
		os.Exit(1)
	}
}
