package main

import (
	"bufio"
	"crypto"
	_ "crypto/md5" // the hashes of the standard library that rows may name
	_ "crypto/sha1"
	_ "crypto/sha512"
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	merkle "example.org/mksum/languages/go"
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

// kinds are what completes a row, and how many columns it has.
var kinds = map[string]struct {
	columns  int
	complete func(column []string) error
}{
	"--rows":   {5, completeRoot},
	"--prove":  {7, completeProof},
	"--verify": {8, completeVerdict},
}

// completeRows copies rows and completes each, up to the first that cannot be completed.
func completeRows(mode string, stdin io.Reader, stdout io.Writer) error {
	kind, in, out := kinds[mode], bufio.NewReader(stdin), bufio.NewWriter(stdout)
	for number := 1; ; number++ {
		line, err := in.ReadString('\n')
		if err != nil && err != io.EOF {
			return fmt.Errorf("standard input: %w", err)
		}
		if line == "" {
			return out.Flush()
		}
		row := strings.TrimSuffix(line, "\n")
		if !strings.HasPrefix(row, "#") {
			column := strings.Split(row, "\t")
			err := fmt.Errorf("%d columns, expected %d", len(column), kind.columns)
			if len(column) == kind.columns {
				err = kind.complete(column)
			}
			if err != nil {
				out.Flush()
				return fmt.Errorf("row %d: %w", number, err)
			}
			row = strings.Join(column, "\t")
		}
		fmt.Fprintln(out, row) // out keeps an error until it is flushed
	}
}

// completeRoot completes format input length root source.
func completeRoot(column []string) error {
	hash, format, segment, err := parseFormat(column[0])
	if err != nil {
		return err
	}
	tree := merkle.NewWith(hash, format, segment)
	if err := feed(tree, column[1], column[2]); err != nil {
		return err
	}
	column[3] = hex.EncodeToString(tree.Sum(nil))
	return nil
}

// completeProof completes format input length index root path source.
func completeProof(column []string) error {
	hash, format, segment, err := parseFormat(column[0])
	if err != nil {
		return err
	}
	index, err := number(column[3], 0)
	if err != nil {
		return err
	}
	prover := merkle.NewProverWith(hash, format, segment, index)
	if err := feed(prover.Tree, column[1], column[2]); err != nil {
		return err
	}
	proof, err := prover.Proof()
	if err != nil {
		return err
	}
	column[4] = hex.EncodeToString(prover.Sum(nil))
	path := make([]string, len(proof.Path))
	for i, digest := range proof.Path {
		path[i] = hex.EncodeToString(digest)
	}
	if column[5] = strings.Join(path, ","); len(path) == 0 {
		column[5] = "-"
	}
	return nil
}

// completeVerdict completes format leaves index leaf root path verdict source.
func completeVerdict(column []string) error {
	hash, format, segment, err := parseFormat(column[0])
	if err != nil {
		return err
	}
	var proof merkle.Proof
	if proof.Leaves, err = number(column[1], 0); err != nil {
		return err
	}
	if proof.Index, err = number(column[2], 0); err != nil {
		return err
	}
	leaf, err := unhex(column[3])
	if err != nil {
		return err
	}
	root, err := unhex(column[4])
	if err != nil {
		return err
	}
	if column[5] != "-" {
		for _, text := range strings.Split(column[5], ",") {
			digest, err := unhex(text)
			if err != nil {
				return err
			}
			proof.Path = append(proof.Path, digest)
		}
	}
	column[6] = "valid"
	if merkle.VerifyWith(hash, format, segment, root, proof, leaf) != nil {
		column[6] = "invalid"
	}
	return nil
}

// unhex decodes hex; "-" is no bytes.
func unhex(text string) ([]byte, error) {
	if text == "-" {
		return nil, nil
	}
	bytes, err := hex.DecodeString(text)
	if err != nil || text == "" || strings.ToLower(text) != text {
		return nil, fmt.Errorf("'%s' is not lowercase hex", text)
	}
	return bytes, nil
}

// feed writes the first bytes of a pattern.
func feed(to io.Writer, pattern, length string) error {
	byteAt, ok := patterns[pattern]
	if !ok {
		return fmt.Errorf("unknown input '%s'", pattern)
	}
	size, err := number(length, 0)
	if err != nil {
		return err
	}
	piece := make([]byte, 0, 1<<16)
	for i := uint64(0); i < size; i++ {
		if piece = append(piece, byteAt(i)); len(piece) == cap(piece) || i == size-1 {
			if _, err := to.Write(piece); err != nil {
				return err
			}
			piece = piece[:0]
		}
	}
	return nil
}

// parseFormat reads a format string: rfc6962:sha256:64KiB.
func parseFormat(name string) (hash crypto.Hash, format merkle.Format, segment uint64, err error) {
	part := strings.Split(name, ":")
	if len(part) != 3 {
		return 0, 0, 0, fmt.Errorf("'%s': expected FORMAT:HASH:SEGMENT", name)
	}
	if format, err = merkle.ParseFormat(part[0]); err != nil {
		return 0, 0, 0, err
	}
	hash, ok := hashes[part[1]]
	if !ok {
		return 0, 0, 0, fmt.Errorf("unknown hash '%s'", part[1])
	}
	segment, err = size(part[2])
	return hash, format, segment, err
}

// size reads 64, 4KiB, 1MiB, 1GiB, 1TiB.
func size(text string) (uint64, error) {
	digits, shift := text, 0
	for i, unit := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if strings.HasSuffix(text, unit) {
			digits, shift = strings.TrimSuffix(text, unit), 10*(i+1)
		}
	}
	value, err := number(digits, 1)
	if err == nil && value > merkle.MaxSegment>>shift {
		err = fmt.Errorf("'%s' is more than 1TiB", text)
	}
	return value << shift, err
}
