package main

import (
	"crypto"
	_ "crypto/md5" // the hashes of the standard library that rows may name
	_ "crypto/sha1"
	_ "crypto/sha512"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"example.org/mksum/merkle"
)

var hashes = map[string]crypto.Hash{
	"md5":        crypto.MD5,
	"sha1":       crypto.SHA1,
	"sha224":     crypto.SHA224,
	"sha256":     crypto.SHA256,
	"sha384":     crypto.SHA384,
	"sha512":     crypto.SHA512,
	"sha512-256": crypto.SHA512_256,
}

// patterns are the inputs that vectors/README.md names: the byte at an offset.
var patterns = map[string]func(uint64) byte{
	"mod251": func(i uint64) byte { return byte(i % 251) },
	"pat":    func(i uint64) byte { return byte(i*131 + i>>8*17) },
}

// computed returns a row of vectors with the root that is computed here; comments it returns as they are.
func computed(row string) (string, error) {
	if strings.HasPrefix(row, "#") {
		return row, nil
	}
	column := strings.Split(row, "\t")
	if len(column) != 5 {
		return "", fmt.Errorf("%d columns, expected 5", len(column))
	}
	tree, err := treeNamed(column[0])
	if err != nil {
		return "", err
	}
	byteAt, ok := patterns[column[1]]
	if !ok {
		return "", fmt.Errorf("unknown input %q", column[1])
	}
	length, err := strconv.ParseUint(column[2], 10, 64)
	if err != nil {
		return "", err
	}
	piece := make([]byte, 0, 1<<16)
	for i := uint64(0); i < length; i++ {
		if piece = append(piece, byteAt(i)); len(piece) == cap(piece) {
			tree.Write(piece)
			piece = piece[:0]
		}
	}
	tree.Write(piece)
	column[3] = fmt.Sprintf("%x", tree.Sum(nil))
	return strings.Join(column, "\t"), nil
}

// treeNamed returns the empty tree of a format string, as in "rfc6962:sha256:64KiB".
func treeNamed(name string) (*merkle.Tree, error) {
	part := strings.Split(name, ":")
	if len(part) != 3 {
		return nil, fmt.Errorf("%q: expected FORMAT:HASH:SEGMENT", name)
	}
	format, err := merkle.ParseFormat(part[0])
	if err != nil {
		return nil, err
	}
	hash, ok := hashes[part[1]]
	if !ok {
		return nil, fmt.Errorf("unknown hash %q", part[1])
	}
	segment, err := size(part[2])
	if err != nil {
		return nil, err
	}
	return merkle.NewWith(hash, format, segment), nil
}

// size reads 64, 4KiB, 1MiB.
func size(text string) (uint64, error) {
	digits, factor := text, uint64(1)
	for unit, bytes := range map[string]uint64{"KiB": 1 << 10, "MiB": 1 << 20} {
		if strings.HasSuffix(text, unit) {
			digits, factor = strings.TrimSuffix(text, unit), bytes
		}
	}
	number, err := strconv.ParseUint(digits, 10, 32)
	if err == nil && number == 0 {
		err = errors.New("segments of no bytes")
	}
	return number * factor, err
}
