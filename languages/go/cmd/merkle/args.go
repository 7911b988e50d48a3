package main

import (
	"fmt"
	"strconv"
	"strings"

	merkle "example.org/mksum/languages/go"
)

// command is what the command line asks for.
type command struct {
	format  merkle.Format
	segment uint64
	shaped  string // --format or --segment, if one was given
	mode    string // --rows, --prove, --verify or --hash-rate; empty for the root of a file
	hashes  uint64
	given   bool // whether there is a FILE
	named   bool // whether it is another than the standard input
	path    string
	help    bool
}

// parse reads the command line, of which ../../../contract.sh has the grammar. (Package flag has another one: it stops at the
// first FILE and takes one dash for two.)
func parse(args []string) (command, error) {
	asked := command{format: merkle.Plain, segment: 64}
	options := true
	for len(args) > 0 && !asked.help {
		arg := args[0]
		args = args[1:]
		switch {
		case options && arg == "--":
			options = false
		case options && len(arg) > 1 && arg[0] == '-':
			rest, err := asked.option(arg, args)
			if err != nil {
				return command{}, err
			}
			args = rest
		case asked.given:
			return command{}, fmt.Errorf("one FILE is expected, '%s' is one more", arg)
		default:
			asked.given, asked.named, asked.path = true, arg != "-", arg
		}
	}
	if asked.mode != "" && !asked.help && asked.given {
		return command{}, fmt.Errorf("%s takes no FILE: '%s'", asked.mode, asked.path)
	}
	if asked.mode != "" && !asked.help && asked.shaped != "" {
		return command{}, fmt.Errorf("%s takes no %s", asked.mode, asked.shaped)
	}
	return asked, nil
}

// option applies one option; it returns the arguments after its value.
func (c *command) option(arg string, rest []string) ([]string, error) {
	name, value, hasValue := strings.Cut(arg, "=")
	switch name {
	case "--format", "--segment", "--hash-rate":
		if !hasValue {
			if len(rest) == 0 {
				return nil, fmt.Errorf("%s: its value is missing", name)
			}
			value, rest = rest[0], rest[1:]
		}
		return rest, c.value(name, value)
	case "--rows", "--prove", "--verify", "--help":
		if hasValue {
			return nil, fmt.Errorf("%s takes no value", name)
		}
		if name == "--help" {
			c.help = true
			return rest, nil
		}
		return rest, c.setMode(name)
	}
	return nil, fmt.Errorf("unknown option '%s'", arg)
}

func (c *command) value(name, value string) (err error) {
	switch name {
	case "--format":
		c.shaped = name
		c.format, err = merkle.ParseFormat(value)
	case "--segment":
		c.shaped = name
		c.segment, err = number(value, 1)
	default:
		if err := c.setMode(name); err != nil {
			return err
		}
		c.hashes, err = number(value, 1)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return err
}

func (c *command) setMode(name string) error {
	if c.mode != "" && c.mode != name {
		return fmt.Errorf("%s and %s exclude each other", c.mode, name)
	}
	c.mode = name
	return nil
}

// number reads decimal digits, without a leading zero, as a number from least to 2^40.
func number(text string, least uint64) (uint64, error) {
	value, err := strconv.ParseUint(text, 10, 64)
	// ParseUint takes leading zeros.
	if err != nil || strconv.FormatUint(value, 10) != text || value < least || value > merkle.MaxSegment {
		return 0, fmt.Errorf("'%s' is not a number from %d to %d", text, least, uint64(merkle.MaxSegment))
	}
	return value, nil
}
