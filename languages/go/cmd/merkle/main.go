// Command merkle prints the Merkle root of a file.
//
//	merkle [--format plain|rfc6962] [--segment N] [FILE]
//	merkle --rows < ROWS
//	merkle --hash-rate N
package main

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"example.org/mksum/merkle"
)

const usage = `Usage: merkle [--format plain|rfc6962] [--segment N] [FILE]
       merkle --rows < ROWS
       merkle --hash-rate N

Prints the Merkle root of FILE, or of the standard input, over SHA-256.

  --format NAME   plain (the default): leaf H(bytes), node H(left || right);
                  rfc6962: leaf H(00 || bytes), node H(01 || left || right)
  --segment N     the length of a leaf in bytes, at least 1 (64)
  --rows          read test vectors, write them with the root computed here
  --hash-rate N   hash the string "test.dat" N times: seconds and MH/s
  --help          print this

Exits with 1 when something cannot be read or written, with 2 on a bad option.
`

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// options is what the command line asks for.
type options struct {
	format  merkle.Format
	segment uint64
	rows    bool
	hashes  uint64
	file    string // empty for the standard input
}

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	asked, err := parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		_, err = io.WriteString(stdout, usage)
	case err != nil:
		fmt.Fprintf(stderr, "merkle: %v\n%s", err, usage)
		return 2
	case asked.rows:
		err = rows(stdin, stdout)
	case asked.hashes > 0:
		err = hashRate(stdout, asked.hashes)
	default:
		err = rootOf(asked, stdin, stdout)
	}
	if err != nil {
		fmt.Fprintf(stderr, "merkle: %v\n", err)
		return 1
	}
	return 0
}

func parse(args []string) (options, error) {
	asked := options{format: merkle.Plain, segment: 64}
	flags := flag.NewFlagSet("merkle", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Usage = func() {}
	flags.Func("format", "", func(name string) (err error) {
		asked.format, err = merkle.ParseFormat(name)
		return err
	})
	positive := func(value *uint64) func(string) error {
		return func(text string) error {
			number, err := strconv.ParseUint(text, 10, 64)
			if err == nil && number == 0 {
				err = errors.New("expected at least 1")
			}
			*value = number
			return err
		}
	}
	flags.Func("segment", "", positive(&asked.segment))
	flags.Func("hash-rate", "", positive(&asked.hashes))
	flags.BoolVar(&asked.rows, "rows", false, "")
	if err := flags.Parse(args); err != nil {
		return options{}, err
	}
	most := 1
	if asked.rows || asked.hashes > 0 {
		most = 0
	}
	if flags.NArg() > most || asked.rows && asked.hashes > 0 {
		return options{}, errors.New("too many arguments")
	}
	if flags.NArg() == 1 && flags.Arg(0) == "" {
		return options{}, errors.New("a file without a name")
	}
	asked.file = flags.Arg(0)
	return asked, nil
}

// bufferSize is what one read asks for: a second-level cache holds it.
const bufferSize = 1 << 17

func rootOf(asked options, stdin io.Reader, stdout io.Writer) error {
	input := stdin
	if asked.file != "" {
		file, err := os.Open(asked.file)
		if err != nil {
			return err
		}
		defer file.Close()
		input = file
	}
	tree := merkle.New(asked.format, asked.segment)
	size := uint64(bufferSize)
	if asked.segment < size {
		// Reads of whole leaves leave none of them to be put together from two.
		size -= size % asked.segment
	}
	// The wrapper hides ReadFrom and WriteTo, with which io.CopyBuffer would leave the buffer unused.
	if _, err := io.CopyBuffer(tree, struct{ io.Reader }{input}, make([]byte, size)); err != nil {
		return err
	}
	_, err := fmt.Fprintf(stdout, "%x\n", tree.Sum(nil))
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

// rows reads rows of vectors and writes each with its root; the first that cannot be computed ends it.
func rows(stdin io.Reader, stdout io.Writer) error {
	in, out := bufio.NewScanner(stdin), bufio.NewWriter(stdout)
	for number := 1; in.Scan(); number++ {
		row, err := computed(in.Text())
		if err != nil {
			out.Flush()
			return fmt.Errorf("row %d: %w", number, err)
		}
		fmt.Fprintln(out, row) // an error stays with out until it is flushed
	}
	if err := in.Err(); err != nil {
		return err
	}
	return out.Flush()
}
