// Command merkle prints the Merkle root of a file; merkle --help lists its options.
package main

import (
	"crypto/sha256"
	_ "embed"
	"fmt"
	"io"
	"os"
	"time"

	merkle "example.org/mksum/languages/go"
)

//go:embed usage.txt
var usage string

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	asked, err := parse(args)
	if err != nil {
		fmt.Fprintf(stderr, "merkle: %v\nTry 'merkle --help'.\n", err)
		return 2
	}
	out := output{stdout}
	switch {
	case asked.help:
		_, err = io.WriteString(out, usage)
	case asked.mode == "--hash-rate":
		err = hashRate(out, asked.hashes)
	case asked.mode != "":
		err = completeRows(asked.mode, stdin, out)
	default:
		err = rootOf(asked, stdin, out)
	}
	if err != nil {
		fmt.Fprintf(stderr, "merkle: %v\n", err)
		return 1
	}
	return 0
}

// output names the standard output in errors.
type output struct{ io.Writer }

func (o output) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	if err != nil {
		err = fmt.Errorf("standard output: %w", err)
	}
	return n, err
}

// bufferSize is what one read asks for: a second-level cache holds it.
const bufferSize = 1 << 17

func rootOf(asked command, stdin io.Reader, stdout io.Writer) error {
	input, name := stdin, "standard input"
	if asked.named {
		file, err := os.Open(asked.path)
		if err != nil {
			return err
		}
		defer file.Close()
		input, name = file, asked.path
	}
	tree := merkle.New(asked.format, asked.segment)
	if file, ok := input.(*os.File); ok {
		if err := appendLongLeaves(tree, file, int64(asked.segment)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	size := uint64(bufferSize)
	if asked.segment < size {
		// Reads of whole leaves, so that none is put together from two reads.
		size -= size % asked.segment
	}
	// The wrapper hides ReadFrom and WriteTo, with which io.CopyBuffer would leave the buffer unused.
	if _, err := io.CopyBuffer(tree, struct{ io.Reader }{input}, make([]byte, size)); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	_, err := fmt.Fprintf(stdout, "%x\n", tree.Sum(nil))
	return err
}

// appendLongLeaves appends the pairs of long leaves of a regular file, from the file's offset on, and moves the offset
// behind them. It does nothing with short leaves and with files that have no length, such as pipes.
func appendLongLeaves(tree *merkle.Tree, file *os.File, segment int64) error {
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() || segment <= bufferSize/2 {
		return nil // what is wrong with the file, the read that follows says
	}
	offset, err := file.Seek(0, io.SeekCurrent)
	if err != nil || info.Size() <= offset {
		return nil
	}
	size := (info.Size() - offset) / segment / 2 * 2 * segment
	if err := tree.AppendFrom(file, offset, size); err != nil {
		return err
	}
	_, err = file.Seek(offset+size, io.SeekStart)
	return err
}

func hashRate(stdout io.Writer, times uint64) error {
	text := []byte("test.dat")
	begin := time.Now()
	for i := uint64(0); i < times; i++ {
		sha256.Sum256(text)
	}
	seconds := time.Since(begin).Seconds()
	_, err := fmt.Fprintf(stdout, "%.6f s %.3f MH/s\n", seconds, float64(times)/seconds/1e6)
	return err
}
