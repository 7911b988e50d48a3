package main

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestReadErrorIsNoRoot(t *testing.T) {
	input := io.MultiReader(strings.NewReader("some bytes"), iotest.ErrReader(errors.New("disk on fire")))
	var stdout, stderr strings.Builder
	status := run(nil, input, &stdout, &stderr)
	if status != 1 || stdout.Len() > 0 || !strings.Contains(stderr.String(), "disk on fire") {
		t.Errorf("status %d, printed %q, said %q", status, stdout.String(), stderr.String())
	}
}

func TestShortReads(t *testing.T) {
	var stdout, stderr strings.Builder
	input := iotest.OneByteReader(strings.NewReader("abcdefghijklmnopqr"))
	status := run([]string{"--segment", "4"}, input, &stdout, &stderr)
	if status != 0 || stdout.String() != "e30f1444ac52d1ee4c9101fc5e6f8af497f0075606d2513a3af0f44cf9c11318\n" {
		t.Errorf("status %d, printed %q, said %q", status, stdout.String(), stderr.String())
	}
}

func TestHelp(t *testing.T) {
	var stdout, stderr strings.Builder
	if status := run([]string{"--help"}, nil, &stdout, &stderr); status != 0 || stdout.String() != usage || stderr.Len() > 0 {
		t.Errorf("status %d, printed %q, said %q", status, stdout.String(), stderr.String())
	}
}
