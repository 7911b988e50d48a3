// Command plain is the baseline of the table: a straightforward Merkle root, one digest at a time with the standard library,
// which uses the processor's SHA instructions. The fastest programs known before this collection did the same.
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

func main() {
	segment, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	file, err := os.Open(os.Args[2])
	if err != nil {
		panic(err)
	}
	var stack [64][32]byte // [k]: the root of 2^k leaves, where bit k of leaves is set
	var leaves uint64
	in, leaf := bufio.NewReaderSize(file, 1<<17), make([]byte, segment)
	for {
		n, err := io.ReadFull(in, leaf)
		if n > 0 {
			digest, level := sha256.Sum256(leaf[:n]), 0
			for ; leaves>>level&1 == 1; level++ {
				digest = node(stack[level], digest)
			}
			stack[level] = digest
			leaves++
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break
		} else if err != nil {
			panic(err)
		}
	}
	root, begun := sha256.Sum256(nil), false
	for level := range stack {
		if leaves>>level&1 == 1 && begun {
			root = node(stack[level], root)
		} else if leaves>>level&1 == 1 {
			root, begun = stack[level], true
		}
	}
	fmt.Printf("%x\n", root)
}

func node(left, right [32]byte) [32]byte {
	var pair [64]byte
	copy(pair[:32], left[:])
	copy(pair[32:], right[:])
	return sha256.Sum256(pair[:])
}
